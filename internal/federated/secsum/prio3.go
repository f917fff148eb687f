// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"

	"github.com/cloudflare/circl/vdaf/prio3/sumvec"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// prio3 shares vectors among aggregators, all of whom it takes to open a sum,
// with a proof that every coordinate is in range (Prio3SumVec of the VDAF draft,
// version 14). Holder 0 is the draft's leader: its shares are long, the others'
// are seeds.
type prio3 struct {
	task Task
	vdaf *sumvec.SumVec
}

// Prio3 shares among 2 to 16 holders, none of whom may drop out. The range that
// owners prove is the next power of two at or above the task's.
func Prio3(t Task) (*Protocol, error) {
	const op = "prio3"
	if err := t.check(op, 2, 16); err != nil {
		return nil, err
	}
	width := bits.Len64(t.Range - 1)
	// What a proven range admits must fit the sum as well: 2^width - 1 ≤ 2·(Range-1).
	if hi, lo := bits.Mul64(uint64(t.Owners), 1<<width-1); hi != 0 || lo >= 1<<63 {
		t.Range = 1 << width
		return nil, t.check(op, 2, 16)
	}
	tag := t.tag(op)
	chunk := max(1, uint(math.Sqrt(float64(t.Length*width)))) // the draft's advice: shortest proofs
	vdaf, err := sumvec.New(uint8(t.Holders), uint(t.Length), uint(width), chunk, tag[:])
	if err != nil {
		return nil, fmt.Errorf("secsum: prio3: %w", err)
	}
	return &Protocol{t, tag, &prio3{t, vdaf}}, nil
}

func (s *prio3) quorum() int { return s.task.Holders }

// A share is a nonce, the public share, and the holder's input share.
func (s *prio3) split(src rng.Source, _ int, values []uint64) ([][]byte, error) {
	var nonce sumvec.Nonce
	params := s.vdaf.Params()
	random := make([]byte, params.RandSize())
	for _, b := range [][]byte{nonce[:], random} {
		if _, err := (reader{src}).Read(b); err != nil {
			return nil, err
		}
	}
	public, shares, err := s.vdaf.Shard(values, &nonce, random)
	if err != nil {
		return nil, fmt.Errorf("secsum: prio3: %w", err)
	}
	out := make([][]byte, len(shares))
	for i := range shares {
		share, err := shares[i].MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("secsum: prio3: %w", err)
		}
		out[i] = append(append(append(out[i], nonce[:]...), public...), share...)
	}
	return out, nil
}

func (s *prio3) keeper(holder int, key Key) keeper {
	k := sumvec.VerifyKey(key)
	return &prio3Keeper{s, uint8(holder), &k, map[int]*sumvec.PrepState{}}
}

type prio3Keeper struct {
	s      *prio3
	holder uint8
	key    *sumvec.VerifyKey
	states map[int]*sumvec.PrepState
}

func (k *prio3Keeper) take(owner int, body []byte) ([]byte, error) {
	params := k.s.vdaf.Params()
	var nonce sumvec.Nonce
	public := *new(sumvec.PublicShare).New(&params)
	share := new(sumvec.InputShare).New(&params, uint(k.holder))
	if len(body) < len(nonce)+len(public) {
		return nil, refused("a share has %d bytes only", len(body))
	}
	copy(nonce[:], body)
	copy(public, body[len(nonce):])
	if err := share.UnmarshalBinary(body[len(nonce)+len(public):]); err != nil {
		return nil, refused("a share is not one of this task")
	}
	state, evidence, err := k.s.vdaf.PrepInit(k.key, &nonce, k.holder, public, *share)
	if err != nil {
		return nil, refused("a share contradicts its public part")
	}
	out, err := evidence.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("secsum: prio3: %w", err)
	}
	k.states[owner] = state
	return append(out, public...), nil
}

func (k *prio3Keeper) sum(owners []int, verdicts [][]byte) ([]byte, error) {
	params := k.s.vdaf.Params()
	total := k.s.vdaf.AggregateInit()
	for i, o := range owners {
		message := new(sumvec.PrepMessage).New(&params)
		if err := message.UnmarshalBinary(verdicts[i]); err != nil {
			return nil, fmt.Errorf("secsum: prio3: %w", err)
		}
		out, err := k.s.vdaf.PrepNext(k.states[o], message)
		if err != nil {
			return nil, refused("the share of owner %d is not valid", o)
		}
		k.s.vdaf.AggregateUpdate(&total, out)
	}
	return total.MarshalBinary()
}

// evidence is a prep share and the public share, which an owner could have sent
// differently to each holder.
func (s *prio3) evidence() int {
	params := s.vdaf.Params()
	return elementBytes*int(params.VerifierLength()) + seedBytes + s.publicBytes()
}

// together: a proof is checked by all holders' evidence.
func (s *prio3) together() bool { return true }

// alike is the public share.
func (s *prio3) alike(evidence []byte) []byte {
	return evidence[len(evidence)-s.publicBytes():]
}

func (s *prio3) publicBytes() int { return seedBytes * s.task.Holders }

const (
	elementBytes = 16 // of the draft's Field128
	seedBytes    = 32
)

func (s *prio3) judge(evidence [][]byte) ([]byte, bool) {
	params := s.vdaf.Params()
	shares := make([]sumvec.PrepShare, len(evidence))
	for i, e := range evidence {
		at := len(e) - s.publicBytes()
		if at < 0 || !bytes.Equal(e[at:], evidence[0][len(evidence[0])-s.publicBytes():]) {
			return nil, false
		}
		if shares[i].New(&params).UnmarshalBinary(e[:at]) != nil {
			return nil, false
		}
	}
	message, err := s.vdaf.PrepSharesToPrep(shares)
	if err != nil {
		return nil, false
	}
	verdict, err := message.MarshalBinary()
	return verdict, err == nil
}

func (s *prio3) parses(sum []byte) error {
	_, err := s.read(sum)
	return err
}

func (s *prio3) read(sum []byte) (share sumvec.AggShare, err error) {
	params := s.vdaf.Params()
	if share.New(&params).UnmarshalBinary(sum) != nil {
		return share, refused("it is not the sum of shares")
	}
	return share, nil
}

func (s *prio3) open(sums map[int][]byte, owners int) ([]uint64, error) {
	shares := make([]sumvec.AggShare, s.task.Holders)
	for i := range shares {
		var err error
		if shares[i], err = s.read(sums[i]); err != nil {
			return nil, err
		}
	}
	total, err := s.vdaf.Unshard(shares, uint(owners))
	if err != nil {
		return nil, fmt.Errorf("secsum: prio3: %w", err)
	}
	return *total, nil
}
