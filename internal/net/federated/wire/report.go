// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Report is the only answer of an owner.
//
// Its bytes: "DLR1", the digest (32), slot and ask (2 each), the length of the owner's name (1) and
// the name, the number of words (4), the words (4 each). Integers are little-endian.
type Report struct {
	Task  Digest
	Owner string // 1 to MaxOwner bytes of valid UTF-8
	Slot  int
	Ask   int // index into the round's Asks; 0 in an error slot
	Words response.Report
}

// MaxOwner is the length of the longest name of an owner.
const MaxOwner = 128

const (
	reportMagic = "DLR1"
	reportFixed = len(reportMagic) + len(Digest{}) + 2 + 2 + 1 + 4
	// MaxReport is the size of the largest report.
	MaxReport = reportFixed + MaxOwner + 8*maxCells
)

// CheckOwner refuses an invalid owner's name.
func CheckOwner(name string) error {
	if len(name) < 1 || len(name) > MaxOwner || !utf8.ValidString(name) {
		return fmt.Errorf("report: an owner's name must have 1 to %d bytes of valid UTF-8", MaxOwner)
	}
	return nil
}

// Append appends the report's bytes to b. The name must pass CheckOwner.
func (r *Report) Append(b []byte) []byte {
	b = append(b, reportMagic...)
	b = append(b, r.Task[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(r.Slot))
	b = binary.LittleEndian.AppendUint16(b, uint16(r.Ask))
	b = append(append(b, byte(len(r.Owner))), r.Owner...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(r.Words)))
	for _, w := range r.Words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// ParseReport accepts exactly what Append writes. It allocates at most in proportion to len(b). The
// law must check whether the words are a valid answer.
func ParseReport(b []byte) (*Report, error) {
	if len(b) < reportFixed || len(b) > MaxReport || string(b[:len(reportMagic)]) != reportMagic {
		return nil, fmt.Errorf("report: must begin with %q and have %d to %d bytes", reportMagic, reportFixed, MaxReport)
	}
	r := &Report{Task: Digest(b[4:36]), Slot: int(binary.LittleEndian.Uint16(b[36:])),
		Ask: int(binary.LittleEndian.Uint16(b[38:]))}
	name := int(b[40])
	b = b[41:]
	if len(b) < name+4 {
		return nil, fmt.Errorf("report: must not end within the owner's name")
	}
	r.Owner, b = string(b[:name]), b[name:]
	if err := CheckOwner(r.Owner); err != nil {
		return nil, err
	}
	words := uint64(binary.LittleEndian.Uint32(b))
	if b = b[4:]; uint64(len(b)) != 4*words {
		return nil, fmt.Errorf("report: must end after its %d words", words)
	}
	r.Words = make(response.Report, words)
	for i := range r.Words {
		r.Words[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return r, nil
}
