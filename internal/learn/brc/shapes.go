// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// shapes are one random step function of one column a round. A row is asked for its side of
// every cut of every column, and for its label; how a shape answers follows from that.
type shapes struct {
	pl     *Plan
	voters []feature.Threshold // the stumps of all columns and, last, what answers positive always
	drawn  []shape
	member []int // by voter: where it stands in the model, from 1; 0 where it does not
}

// shape is a vote of a column's stumps that adds up to −2 or 2: its answer, twice.
type shape struct {
	first int   // the column's first stump
	votes []int // of the column's stumps
	bias  int
}

func newShapes(pl *Plan) *shapes {
	voters := append(allStumps(pl.private, pl.s, pl.Candidates), positiveAlways(pl.private))
	return &shapes{pl: pl, voters: voters, member: make([]int, len(voters))}
}

// listAll draws a column and the signs of its bins for each round (1.1).
func (s *shapes) listAll(src rng.Source) []feature.Threshold {
	first := []int{0}
	for k := range s.pl.private.Columns {
		first = append(first, first[k]+len(stumpsOf(s.pl.private, s.pl.s, k, s.pl.Candidates)))
	}
	for range s.pl.Rounds {
		k := int(rng.Below(src, uint64(len(s.pl.private.Columns))))
		s.drawn = append(s.drawn, drawShape(src, first[k], first[k+1]-first[k], s.pl.hasCodes(k)))
	}
	return s.voters
}

// hasCodes reports whether column k of the private space has a stump for each code; else
// its stumps are cuts of a line.
func (pl *Plan) hasCodes(k int) bool {
	return pl.Encoding == feature.OneHot && pl.s.Columns[pl.private.Columns[k]].Kind == schema.Category
}

// drawShape draws a sign for each bin: of a stump for each code its own, of n cuts those of the
// n+1 bins between.
func drawShape(src rng.Source, first, n int, codes bool) shape {
	out := shape{first: first, votes: make([]int, n)}
	sign := func() int { return 2*int(rng.Below(src, 2)) - 1 }
	if codes {
		for c := range out.votes {
			out.votes[c] = sign() // all stumps but one answer −1
			out.bias += out.votes[c]
		}
		return out
	}
	last := sign()
	out.bias = last
	for c := range out.votes {
		next := sign()
		out.votes[c], last = next-last, next
	}
	out.bias += last
	return out
}

func (s *shapes) rangeOf(t int) (from, to int) { return t, t + 1 }

// answerPatterns turns mistakes of stumps into mistakes of the rounds' shapes, with the label last.
// A row's mistakes are a function of its own cells and of coins, as those of any list.
func (s *shapes) answerPatterns(p *engine.Patterns) *engine.Patterns {
	out := &engine.Patterns{Words: len(s.drawn)/64 + 1, Count: p.Count}
	out.Bits = make([]uint64, out.Words*len(p.Count))
	label := len(s.voters) - 1
	for i := range p.Count {
		has := func(k int) bool { return p.Bits[i*p.Words+k/64]>>(k%64)&1 == 1 }
		negative := has(label)
		set := func(k int, wrong bool) {
			if wrong {
				out.Bits[i*out.Words+k/64] |= 1 << (k % 64)
			}
		}
		for t := range s.drawn {
			h := &s.drawn[t]
			twice := h.bias
			for c, v := range h.votes {
				if has(h.first+c) == negative { // the stump answers positive
					twice += v
				} else {
					twice -= v
				}
			}
			set(t, (twice > 0) == negative)
		}
		set(len(s.drawn), negative)
	}
	return out
}

// castVote adds the vote of round t's shape to those of its stumps. A stump enters the model once;
// what answers positive always enters even if its votes are 0, since no votes are no model.
func (s *shapes) castVote(r *release, t int, vote float64) {
	h := &s.drawn[t]
	s.addVote(r, len(s.voters)-1, vote*float64(h.bias)/2)
	for c, v := range h.votes {
		s.addVote(r, h.first+c, vote*float64(v)/2)
	}
}

func (s *shapes) addVote(r *release, k int, vote float64) {
	if vote == 0 && k < len(s.voters)-1 {
		return
	}
	if s.member[k] == 0 {
		r.appendVoter(s.pl.private, s.voters[k], 0)
		s.member[k] = len(r.members)
	}
	r.members[s.member[k]-1].Vote += vote
}
