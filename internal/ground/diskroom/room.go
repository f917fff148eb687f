// SPDX-License-Identifier: Apache-2.0

// Package diskroom keeps part of a disk free. Data from other machines are refused if they would leave
// less, so that senders cannot fill the disk.
package diskroom

import (
	"errors"
	"fmt"
)

const (
	// mostFloor is the largest number of bytes to keep free, and leastPart the divisor for the part of
	// a small disk.
	mostFloor = 256 << 20
	leastPart = 20
)

// ErrFull is wrapped by every refusal of Check.
var ErrFull = errors.New("the disk is full but for what is kept free")

// measure returns how many bytes of the disk at path are free for this process, and its size; total is
// 0 if the system does not report it. Tests replace it.
var measure = measureDisk

// Check refuses to write more bytes to the disk of path, an existing file or folder, if less than a
// twentieth of the disk, at most 256 MiB, would stay free. It accepts everything on a system that does
// not report free space.
func Check(path string, more int64) error {
	free, total, err := measure(path)
	if err != nil || total == 0 {
		return err
	}
	floor := min(mostFloor, total/leastPart)
	if more < 0 || free < floor || free-floor < uint64(more) {
		return fmt.Errorf("%w: %s: %d bytes must stay free", ErrFull, path, floor)
	}
	return nil
}
