// SPDX-License-Identifier: Apache-2.0

package secretsum

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/edkey"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// Key is a participant's Ed25519 public key.
type Key [ed25519.PublicKeySize]byte

// Memory is the name of a helper's store. A helper that has lost its store gets a new one, and answers
// no sum that names the old one, because it does not know what it has answered. The zero Memory
// belongs to a helper that could not be asked and does not take part.
type Memory [16]byte

// Helper is one holder of shares.
type Helper struct {
	Name   string // of its certificate, helper/NAME
	Memory Memory
}

// ID identifies a sum: the SHA-256 of its bytes.
type ID [sha256.Size]byte

func (id ID) String() string { return hex.EncodeToString(id[:]) }

// Sum describes one secret sum, with all information that its participants and helpers need.
type Sum struct {
	Round     string          // the purpose, in its collector's words; 1 to 255 bytes
	Topic     [32]byte        // SHA-256 of the question to participants
	Collector identity.Caller // the only caller that may open it
	Helpers   []Helper        // in order, 3 to 255
	Length    int             // see secsum.Task
	Range     uint64          // see secsum.Task
	AtLeast   int             // see secsum.Task
	Proofs    bool            // participants prove their numbers' range even if that takes more than FreeProof
	Ends      time.Time       // when helpers may delete it, by their clocks; whole seconds
	Roster    []Key           // the participants, in order, without repetition
}

// The limits of a sum, which bound what a collector can make others store.
const (
	// MaxRoster is the largest number of participants.
	MaxRoster = 100_000
	// MaxNumbers bounds participants times coordinates: at most 256 MiB of shares per helper.
	MaxNumbers = 1 << 25
	// MaxBytes is the size of the largest sum.
	MaxBytes = 4 << 20
	// FreeProof is the number of bytes up to which participants always prove that their numbers are in
	// range. A longer proof is given only in a sum with Proofs.
	FreeProof = 1 << 20
	// MaxProof is the largest size of a proof in any sum; it fits into a message.
	MaxProof = 7 << 19
)

const (
	// Keep is how long helpers keep a task's sum after its last use.
	Keep = 24 * time.Hour
	// Skew is the largest tolerated difference between clocks.
	Skew = 2 * time.Hour
)

// Latest returns the latest end of a sum that is begun now, for a task with the given slot time: up to
// one slot may be left to join, one is for shares and one for opening.
func Latest(now time.Time, slot time.Duration) time.Time { return now.Add(3*slot + Keep + Skew) }

// The first bytes of a sum, which state whether it has Proofs.
const (
	magic       = "DSS2"
	magicProofs = "DSS3"
)

// Check refuses an invalid sum.
func (s *Sum) Check() error {
	fault := dp.RefuseFor("sum")
	switch {
	case len(s.Round) < 1 || len(s.Round) > 255:
		return fault("round", "must have 1 to 255 bytes", len(s.Round))
	case len(s.Helpers) < 3 || len(s.Helpers) > 255:
		return fault("helpers", "must number 3 to 255", len(s.Helpers))
	case s.Ends.Nanosecond() != 0 || s.Ends.Unix() <= 0:
		return fault("ends", "must be a time in whole seconds", s.Ends)
	case len(s.Roster) > MaxRoster:
		return fault("roster", fmt.Sprintf("must name at most %d participants", MaxRoster), len(s.Roster))
	case s.Length > 0 && len(s.Roster) > MaxNumbers/s.Length:
		return fault("length", fmt.Sprintf("must be at most %d over the number of participants", MaxNumbers), s.Length)
	}
	if err := s.Collector.Check(); err != nil {
		return err
	}
	names := map[string]bool{}
	for _, h := range s.Helpers {
		if err := (identity.Caller{Role: identity.Helper, Name: h.Name}).Check(); err != nil {
			return err
		}
		if names[h.Name] {
			return fault("helpers", "must each be named once", h.Name)
		}
		names[h.Name] = true
	}
	keys := make(map[Key]bool, len(s.Roster))
	for _, k := range s.Roster {
		if err := edkey.Check(k[:]); err != nil {
			return fault("roster", "must contain valid public keys: "+err.Error(), fmt.Sprintf("%x", k))
		}
		if keys[k] {
			return fault("roster", "must name each key once", fmt.Sprintf("%x", k))
		}
		keys[k] = true
	}
	_, err := s.protocolFor(ID{})
	return err
}

// Ordered reports whether the participants ascend by the bytes of their keys, so that no one can
// choose their numbers. Sums of owners are ordered; parties are listed by their combiner.
func (s *Sum) Ordered() bool {
	return slices.IsSortedFunc(s.Roster, func(a, b Key) int { return bytes.Compare(a[:], b[:]) })
}

// Protocol returns the protocol that splits vectors: Shamir's, so that a third of the helpers may be
// lost.
func (s *Sum) Protocol() (*secsum.Protocol, error) {
	id, err := s.ID()
	if err != nil {
		return nil, err
	}
	return s.protocolFor(id)
}

func (s *Sum) protocolFor(id ID) (*secsum.Protocol, error) {
	task := secsum.Task{
		Round: string(id[:]), Owners: len(s.Roster), AtLeast: s.AtLeast, Holders: len(s.Helpers), Length: s.Length,
		Range: s.Range,
	}
	task.Proven = true
	p, err := secsum.Shamir(task)
	if err != nil {
		return nil, err
	}
	switch size := s.ProofBytes(); {
	case s.Proofs && size > MaxProof:
		return nil, dp.Refuse("sum", "proofs",
			fmt.Sprintf("must take at most %d bytes a share: the numbers are too many, or their range too large", MaxProof),
			size)
	case s.Proofs, size <= FreeProof:
		return p, nil
	}
	task.Proven = false
	return secsum.Shamir(task)
}

// ProofBytes returns the number of bytes after a share that prove that its numbers are in range. It
// depends on helpers, length and range only.
func (s *Sum) ProofBytes() int {
	return secsum.ProvenBytes(secsum.Task{Holders: len(s.Helpers), Length: s.Length, Range: s.Range})
}

// ID is the sum's name.
func (s *Sum) ID() (ID, error) {
	b, err := s.Bytes()
	return sha256.Sum256(b), err
}

// Bytes returns the canonical form of a sum. It fails for a sum that Check refuses.
//
// The form is: "DSS2", or "DSS3" for a sum with Proofs; the round and the collector (one byte of
// length each, then the text); the topic (32 bytes); coordinates (4), range (8), the minimum number of
// participants (4), and the end in seconds (8); the number of helpers (1) and for each its name
// (length and text) and memory (16); the number of participants (4) and their keys (32 each). Integers
// are little-endian.
func (s *Sum) Bytes() ([]byte, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	text := func(b []byte, t string) []byte { return append(append(b, byte(len(t))), t...) }
	begins := magic
	if s.Proofs {
		begins = magicProofs
	}
	b := text(text([]byte(begins), s.Round), s.Collector.String())
	b = append(b, s.Topic[:]...)
	b = le.AppendUint32(b, uint32(s.Length))
	b = le.AppendUint64(b, s.Range)
	b = le.AppendUint32(b, uint32(s.AtLeast))
	b = le.AppendUint64(b, uint64(s.Ends.Unix()))
	b = append(b, byte(len(s.Helpers)))
	for _, h := range s.Helpers {
		b = append(text(b, h.Name), h.Memory[:]...)
	}
	b = le.AppendUint32(b, uint32(len(s.Roster)))
	for _, k := range s.Roster {
		b = append(b, k[:]...)
	}
	return b, nil
}

// Parse accepts exactly what Bytes writes.
func Parse(b []byte) (*Sum, error) {
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("sum: must have at most %d bytes (got %d)", MaxBytes, len(b))
	}
	r := &cursor{rest: b}
	begins := string(r.takeBytes(len(magic)))
	if begins != magic && begins != magicProofs {
		return nil, fmt.Errorf("sum: must begin with %q or %q", magic, magicProofs)
	}
	le := binary.LittleEndian
	s := &Sum{Round: r.takeText(), Proofs: begins == magicProofs}
	role, name, _ := strings.Cut(r.takeText(), "/")
	s.Collector = identity.Caller{Role: identity.Role(role), Name: name}
	copy(s.Topic[:], r.takeBytes(len(s.Topic)))
	s.Length = int(le.Uint32(r.takeBytes(4)))
	s.Range = le.Uint64(r.takeBytes(8))
	s.AtLeast = int(le.Uint32(r.takeBytes(4)))
	s.Ends = time.Unix(int64(le.Uint64(r.takeBytes(8))), 0)
	for range r.takeBytes(1)[0] {
		h := Helper{Name: r.takeText()}
		copy(h.Memory[:], r.takeBytes(len(h.Memory)))
		s.Helpers = append(s.Helpers, h)
	}
	n := int(le.Uint32(r.takeBytes(4)))
	if r.short || n*len(Key{}) != len(r.rest) {
		return nil, errors.New("sum: must end after its roster")
	}
	s.Roster = make([]Key, n)
	for i := range s.Roster {
		copy(s.Roster[i][:], r.takeBytes(len(Key{})))
	}
	return s, s.Check()
}

// cursor reads bytes from the front. After the end it reads zeros and records the fault.
type cursor struct {
	rest  []byte
	short bool
}

func (c *cursor) takeBytes(n int) []byte {
	if n > len(c.rest) {
		c.rest, c.short = nil, true
		return make([]byte, n)
	}
	out := c.rest[:n]
	c.rest = c.rest[n:]
	return out
}

func (c *cursor) takeText() string { return string(c.takeBytes(int(c.takeBytes(1)[0]))) }
