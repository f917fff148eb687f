// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Ballots is a weighted vote of classifiers about a label of K levels: the sum
// of level k is Σ Weight·ballot_k over the members, and Link makes K numbers of
// the sums that add up to 1.
type Ballots struct {
	// Link is Share, the default of whoever votes for one level each, or Softmax
	// where the leaves of stumps are logarithms of odds.
	Link    Link
	Members []Ballot
}

// Ballot is one voter. Exactly one of Stump and Argmax is set.
type Ballot struct {
	Space  int     // index into Spaces
	Weight float64 // finite, ≥ 0
	Stump  *Stump
	Argmax *Argmax
}

// Stump asks one question and gives every level a score by the answer.
type Stump struct {
	feature.Threshold
	// Yes and No hold K numbers each, for the two answers: 1 and zeros for a vote
	// for one level, any numbers ≥ 0 under Share, any finite ones under Softmax.
	Yes, No []float64
}

// Argmax votes for the level whose linear function is largest, the first of
// several: ballot 1 there and 0 elsewhere. A nearest centroid under any
// quadratic norm is one.
type Argmax struct {
	Coef [][]float64 // K rows, one number per feature
	Bias []float64   // K
}

func (b *Ballots) check(levels int, widths []int, used []bool) error {
	if err := b.Link.check("ballots", Share, Softmax); err != nil {
		return err
	}
	if len(b.Members) < 1 || len(b.Members) > maxMembers {
		return fmt.Errorf("model: members must number 1 to %d (got %d)", maxMembers, len(b.Members))
	}
	sum := 0.0
	for i := range b.Members {
		m := &b.Members[i]
		if !(m.Weight >= 0) {
			return fmt.Errorf("model: member %d: weight must be at least 0 (got %g)", i, m.Weight)
		}
		who := fmt.Sprintf("member %d", i)
		most := 1.0
		var err error
		switch {
		case (m.Stump != nil) == (m.Argmax != nil):
			err = fmt.Errorf("model: %s: exactly one of stump and argmax must be given", who)
		case m.Stump != nil:
			most, err = m.Stump.check(who, b.Link, levels, m.Space, widths, used)
		default:
			err = checkLevels(who, levels, m.Space, m.Argmax.Coef, m.Argmax.Bias, widths, used)
		}
		if err != nil {
			return err
		}
		sum += float64(m.Weight * most)
		if !(float64(levels)*sum <= math.MaxFloat64) {
			return fmt.Errorf("model: %s: the ballots up to here must add up to a finite number", who)
		}
	}
	return nil
}

// check returns the size of the largest leaf, or 1 where all are smaller.
func (s *Stump) check(who string, link Link, levels, space int, widths []int, used []bool) (most float64, err error) {
	if err := checkThreshold(who, space, &s.Threshold, widths, used); err != nil {
		return 0, err
	}
	if len(s.Yes) != levels || len(s.No) != levels {
		return 0, fmt.Errorf("model: %s: leaves must hold %d numbers, one per level (got %d and %d)", who, levels, len(s.Yes), len(s.No))
	}
	most = 1
	for _, leaf := range [][]float64{s.Yes, s.No} {
		for k, x := range leaf {
			if !(math.Abs(x) <= math.MaxFloat64) || link == Share && !(x >= 0) {
				return 0, fmt.Errorf("model: %s: leaves must be finite and, under link %q, at least 0 (level %d has %g)", who, Share, k, x)
			}
			most = max(most, math.Abs(x))
		}
	}
	return most, nil
}

// ballots returns a function that adds up the ballots about the rows from,
// from+1, ..., K numbers per row.
func (p *Predictor) ballots(cols []column.Column) func(from int, sums []float64) {
	levels := p.m.Schema.Classes()
	members := p.m.Ballots.Members
	// Members are called in their order, so that sums do not depend on how the
	// stumps of a space are grouped to be answered together.
	held := make([][]feature.Threshold, len(p.spaces))
	place := make([]int, len(members))
	linear := make([]func(int, []float64), len(members))
	for i, b := range members {
		if b.Argmax != nil {
			linear[i] = linears(p.spaces[b.Space], cols, b.Argmax.Coef, b.Argmax.Bias)
			continue
		}
		place[i] = len(held[b.Space])
		held[b.Space] = append(held[b.Space], b.Stump.Threshold)
	}
	bound := make([]*feature.Prepared, len(p.spaces))
	words := make([]int, len(p.spaces))
	for k, sp := range p.spaces {
		if len(held[k]) == 0 {
			continue
		}
		s := feature.NewScorer(sp, held[k])
		bound[k], words[k] = s.Bind(cols), s.Words()
	}
	return func(from int, sums []float64) {
		rows := len(sums) / levels
		answers := make([][]uint64, len(bound))
		for k := range bound {
			if words[k] > 0 {
				answers[k] = make([]uint64, rows*words[k])
				bound[k].Answers(from, answers[k])
			}
		}
		z := make([]float64, len(sums))
		for i := range members {
			b := &members[i]
			if b.Argmax != nil {
				linear[i](from, z)
				for r := range rows {
					sums[r*levels+feature.ArgMax(z[r*levels:][:levels])] += b.Weight
				}
				continue
			}
			word, bit := place[i]/64, uint(place[i]%64)
			for r := range rows {
				leaf := b.Stump.No
				if answers[b.Space][r*words[b.Space]+word]>>bit&1 == 1 {
					leaf = b.Stump.Yes
				}
				for k, x := range leaf {
					sums[r*levels+k] += float64(b.Weight * x)
				}
			}
		}
	}
}

type ballotsBody struct {
	Link    Link         `json:"link"`
	Members []ballotBody `json:"members"`
}

type ballotBody struct {
	Space  int         `json:"space"`
	Weight float64     `json:"weight"`
	Stump  *stumpBody  `json:"stump,omitempty"`
	Argmax *argmaxBody `json:"argmax,omitempty"`
}

type stumpBody struct {
	Bias float64   `json:"bias"`
	Coef []float64 `json:"coef"`
	Yes  []float64 `json:"yes"`
	No   []float64 `json:"no"`
}

type argmaxBody struct {
	Levels []levelBody `json:"levels"`
}

func ballotsToBody(b *Ballots) *ballotsBody {
	if b == nil {
		return nil
	}
	body := &ballotsBody{Link: b.Link}
	for _, m := range b.Members {
		one := ballotBody{Space: m.Space, Weight: m.Weight}
		if s := m.Stump; s != nil {
			one.Stump = &stumpBody{s.Bias, s.Coef, s.Yes, s.No}
		}
		if a := m.Argmax; a != nil {
			one.Argmax = &argmaxBody{levelsToBody(a.Coef, a.Bias)}
		}
		body.Members = append(body.Members, one)
	}
	return body
}

func (b *ballotsBody) model() *Ballots {
	if b == nil {
		return nil
	}
	out := &Ballots{Link: b.Link, Members: make([]Ballot, len(b.Members))}
	for i, m := range b.Members {
		one := Ballot{Space: m.Space, Weight: m.Weight}
		if s := m.Stump; s != nil {
			one.Stump = &Stump{Threshold: feature.Threshold{Coef: s.Coef, Bias: s.Bias}, Yes: s.Yes, No: s.No}
		}
		if a := m.Argmax; a != nil {
			one.Argmax = new(Argmax)
			one.Argmax.Coef, one.Argmax.Bias = levelsOfBody(a.Levels)
		}
		out.Members[i] = one
	}
	return out
}

func (b *ballotsBody) fill() {
	empty(&b.Members)
	for i := range b.Members {
		if s := b.Members[i].Stump; s != nil {
			empty(&s.Coef)
			empty(&s.Yes)
			empty(&s.No)
		}
		if a := b.Members[i].Argmax; a != nil {
			fillLevels(&a.Levels)
		}
	}
}
