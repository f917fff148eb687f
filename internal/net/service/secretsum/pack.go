// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"encoding/binary"
	"errors"
)

// Pack joins messages for storage: each follows its length in four bytes.
func Pack(messages [][]byte) (b []byte) {
	for _, m := range messages {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(m))), m...)
	}
	return b
}

// Unpack splits what Pack joined. The messages share b's memory.
func Unpack(b []byte) (messages [][]byte, err error) {
	for len(b) > 0 {
		if len(b) < 4 || uint64(binary.LittleEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errors.New("sum: stored messages are damaged")
		}
		n := 4 + int(binary.LittleEndian.Uint32(b))
		messages, b = append(messages, b[4:n]), b[n:]
	}
	return messages, nil
}
