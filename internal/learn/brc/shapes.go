// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// shapes makes one random step function of one column per round. A row's sides of all cuts of every
// column, and its label, are determined once; the answers of shapes follow from them.
type shapes struct {
	pl     *Plan
	voters []feature.Threshold // the stumps of all columns and, last, a classifier that always answers positive
	drawn  []mistakes.Shape    // votes of a column's stumps that add up to −2 or 2: twice its answer
	member []int               // by voter: its position in the model, from 1; 0 if it is not in it
}

func newShapes(pl *Plan) *shapes {
	always := feature.Threshold{Coef: make([]float64, pl.private.Width()), Bias: 1}
	voters := append(allStumps(pl.private, pl.s, pl.Candidates), always)
	return &shapes{pl: pl, voters: voters, member: make([]int, len(voters))}
}

// listAll draws a column and the signs of its bins for each round (1.1).
func (s *shapes) listAll(src guard.Coins) []feature.Threshold {
	first := []int{0}
	for k := range s.pl.private.Columns {
		first = append(first, first[k]+len(stumpsOf(s.pl.private, s.pl.s, k, s.pl.Candidates)))
	}
	for range s.pl.Rounds {
		k := int(guard.Below(src, uint64(len(s.pl.private.Columns))))
		s.drawn = append(s.drawn, drawShape(src, first[k], first[k+1]-first[k], s.pl.hasCodes(k)))
	}
	return s.voters[:len(s.voters)-1]
}

// hasCodes reports whether column k of the private space has a stump for each code; otherwise its
// stumps are cuts of a line.
func (pl *Plan) hasCodes(k int) bool {
	return pl.Encoding == feature.OneHot && pl.s.Columns[pl.private.Columns[k]].Kind == schema.Category
}

// drawShape draws a sign for each bin: for stumps of codes one per stump, for n cuts one for each of
// the n+1 bins between them.
func drawShape(src guard.Coins, first, n int, codes bool) mistakes.Shape {
	out := mistakes.Shape{First: first, Votes: make([]int, n)}
	sign := func() int { return 2*int(guard.Below(src, 2)) - 1 }
	if codes {
		for c := range out.Votes {
			out.Votes[c] = sign() // all stumps but one answer −1
			out.Bias += out.Votes[c]
		}
		return out
	}
	last := sign()
	out.Bias = last
	for c := range out.Votes {
		next := sign()
		out.Votes[c], last = next-last, next
	}
	out.Bias += last
	return out
}

func (s *shapes) rangeOf(t int) (from, to int) { return t, t + 1 }

// castVote adds the vote of round t's shape to those of its stumps. A stump is added to the model
// once. The classifier that always answers positive is added even if its vote is 0, since a model
// needs at least one vote.
func (s *shapes) castVote(r *release, t int, vote float64) {
	h := &s.drawn[t]
	s.addVote(r, len(s.voters)-1, vote*float64(h.Bias)/2)
	for c, v := range h.Votes {
		s.addVote(r, h.First+c, vote*float64(v)/2)
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
