// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Task contains the public facts about a secret sum.
type Task struct {
	Round   string // identifies this sum among all others, 1 to 255 bytes
	Owners  int    // maximum number of owners, numbered from 0; 2 to 2^24
	AtLeast int    // minimum number of owners in an opened sum; 2 to Owners
	Holders int    // number of holders, numbered from 0; see Shamir
	Length  int    // number of coordinates of a vector; 1 to 2^20
	Range   uint64 // a coordinate of an owner is in 0..Range-1; at least 2, and Owners·(Range-1) < 2^63
	Proven  bool   // owners prove that their coordinates are in range; see ProvenBytes
}

// Limits of a task, which bound the memory that an untrusted peer can make us allocate.
const (
	maxRound  = 255 // bytes
	maxOwners = 1 << 24
	maxLength = 1 << 20
	maxSum    = 1<<63 - 1
)

func (t Task) checkTask(op string, minHolders, maxHolders int) error {
	bad := dp.RefuseFor(op)
	switch {
	case len(t.Round) < 1 || len(t.Round) > maxRound:
		return bad("round", "must have 1 to 255 bytes", len(t.Round))
	case t.Owners < 2 || t.Owners > maxOwners:
		return bad("owners", fmt.Sprintf("must be at least 2 and at most %d", maxOwners), t.Owners)
	case t.AtLeast < 2 || t.AtLeast > t.Owners:
		return bad("at least", "must be at least 2 and at most the number of owners: the sum of one is that one", t.AtLeast)
	case t.Holders < minHolders || t.Holders > maxHolders:
		return bad("holders", fmt.Sprintf("must be at least %d and at most %d", minHolders, maxHolders), t.Holders)
	case t.Length < 1 || t.Length > maxLength:
		return bad("length", fmt.Sprintf("must be at least 1 and at most %d", maxLength), t.Length)
	case t.Range < 2:
		return bad("range", "must be at least 2", t.Range)
	}
	// Not a warning: a sum that could overflow is no sum.
	if hi, lo := bits.Mul64(uint64(t.Owners), t.Range-1); hi != 0 || lo > maxSum {
		return bad("range", fmt.Sprintf("must leave room for the sum of %d owners below 2^63", t.Owners), t.Range)
	}
	return nil
}

// Tag identifies a task and its scheme: messages with another tag are refused.
type Tag [sha256.Size]byte

func (t Task) makeTag(scheme string) Tag {
	b := append([]byte("discreet secsum 2\x00"), byte(len(scheme)))
	b = append(append(b, scheme...), byte(len(t.Round)))
	b = append(b, t.Round...)
	proven := uint64(0)
	if t.Proven {
		proven = 1
	}
	for _, x := range []uint64{uint64(t.Owners), uint64(t.AtLeast), uint64(t.Holders), uint64(t.Length), t.Range,
		proven} {
		b = binary.BigEndian.AppendUint64(b, x)
	}
	return sha256.Sum256(b)
}

// checkVector checks an owner's vector. Its errors contain no value.
func (t Task) checkVector(op string, values []uint64) error {
	if len(values) != t.Length {
		return dp.Refuse(op, "values", fmt.Sprintf("must have %d coordinates", t.Length), len(values))
	}
	for _, v := range values {
		if v >= t.Range {
			return dp.Refuse(op, "values", fmt.Sprintf("must lie below %d, the range of the task", t.Range), nil)
		}
	}
	return nil
}
