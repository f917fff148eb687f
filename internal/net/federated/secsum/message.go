// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Kind is the step of the protocol that a message belongs to.
type Kind uint8

const (
	Share Kind = 1 + iota // owner to holder: the owner's share
	Held                  // holder to collector: the owners whose shares it has, and the evidence
	Open                  // collector to holder: the owners whose shares to add up
	Sum                   // holder to collector: the sum of these shares
	Show                  // collector to a holder, before Open: the owners whose proofs to show
	Shown                 // holder to collector: these proofs
)

// ToCollector is the address of the collector.
const ToCollector = -1

// Message is a message between owners, holders and the collector. From and To are numbers of owners or
// holders, depending on Kind.
type Message struct {
	Task     Tag
	Kind     Kind
	From, To int
	Body     []byte
}

const (
	messageVersion = 1
	headerBytes    = 1 + 1 + len(Tag{}) + 4 + 4 + 4
)

// MarshalBinary writes the canonical form of a message.
func (m Message) MarshalBinary() ([]byte, error) {
	if uint64(len(m.Body)) > math.MaxUint32 {
		return nil, fmt.Errorf("secsum: a body of %d bytes exceeds %d", len(m.Body), uint32(math.MaxUint32))
	}
	b := make([]byte, 0, headerBytes+len(m.Body))
	b = append(append(b, messageVersion, byte(m.Kind)), m.Task[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(int32(m.From)))
	b = binary.BigEndian.AppendUint32(b, uint32(int32(m.To)))
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.Body)))
	return append(b, m.Body...), nil
}

// UnmarshalBinary reads the canonical form only. It retains no part of b.
func (m *Message) UnmarshalBinary(b []byte) error {
	switch {
	case len(b) < headerBytes:
		return errors.New("secsum: a message is shorter than its header")
	case b[0] != messageVersion:
		return fmt.Errorf("secsum: a message has version %d, not %d", b[0], messageVersion)
	case Kind(b[1]) < Share || Kind(b[1]) > Shown:
		return fmt.Errorf("secsum: a message has kind %d", b[1])
	}
	n := binary.BigEndian.Uint32(b[headerBytes-4:])
	if uint64(n) != uint64(len(b)-headerBytes) {
		return fmt.Errorf("secsum: a message has %d bytes of body, its header says %d", len(b)-headerBytes, n)
	}
	m.Kind = Kind(b[1])
	copy(m.Task[:], b[2:])
	m.From = int(int32(binary.BigEndian.Uint32(b[2+len(m.Task):])))
	m.To = int(int32(binary.BigEndian.Uint32(b[6+len(m.Task):])))
	m.Body = append([]byte(nil), b[headerBytes:]...)
	return nil
}

// ErrRefused is wrapped by every error for a refused message. The message has no effect, and the state
// machine continues as if it had not arrived.
var ErrRefused = errors.New("message refused")

func refuseMessage(format string, args ...any) error {
	return fmt.Errorf("secsum: %w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// Abort ends a sum that cannot be opened. Nothing about any vector has been revealed.
type Abort struct {
	Waiting    Kind // the step that too few parties have completed
	Have, Need int  // number of these parties
}

func (a *Abort) Error() string {
	who := "holders"
	if a.Waiting == Share {
		who = "owners"
	}
	return fmt.Sprintf("secsum: too few %s to open the sum: %d of the %d that it takes", who, a.Have, a.Need)
}

// set is a set of owners with one bit each; owner 0 is the lowest bit of the first byte.
type set []byte

func newSet(owners int) set { return make(set, (owners+7)/8) }

func (s set) hasMember(i int) bool { return s[i/8]>>(i%8)&1 == 1 }
func (s set) addMember(i int)      { s[i/8] |= 1 << (i % 8) }

// listMembers lists the set in ascending order.
func (s set) listMembers() (list []int) {
	for i := range 8 * len(s) {
		if s.hasMember(i) {
			list = append(list, i)
		}
	}
	return list
}

// readSet reads a set from the beginning of a body, and refuses bits of owners that do not exist.
func readSet(owners int, body []byte) (s set, rest []byte, err error) {
	n := (owners + 7) / 8
	if len(body) < n {
		return nil, nil, refuseMessage("a set of owners has %d bytes, not %d", len(body), n)
	}
	s = append(set(nil), body[:n]...)
	if used := owners % 8; used != 0 && s[n-1]>>used != 0 {
		return nil, nil, refuseMessage("a set names an owner beyond the %d there are", owners)
	}
	return s, body[n:], nil
}
