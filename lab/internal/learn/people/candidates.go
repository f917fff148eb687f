// SPDX-License-Identifier: Apache-2.0

package people

import (
	"math"

	"github.com/discreet-dp/discreet/internal/learn/random"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// listCandidates lists what the base learner chooses from in every round. No row
// has a part in it: cuts and categories are the schema's, coefficients are
// drawn (1.1). A vote may be negative, so no classifier needs its opposite.
func (pl *Plan) listCandidates(src rng.Source) (out []feature.Threshold) {
	if pl.Base == Random {
		for range pl.Candidates {
			h := random.Threshold(src, pl.space, true)
			for k := range pl.first { // what is public has its own classifier
				first, width := pl.space.Block(k)
				clear(h.Coef[first : first+width])
			}
			out = append(out, h)
		}
		return out
	}
	for k := pl.first; k < len(pl.space.Columns); k++ {
		first, width := pl.space.Block(k)
		for f := first; f < first+width; f++ {
			cuts := []float64{0.5} // of a category's 0/1 feature
			if width == 1 {
				cuts = pl.stumpCuts(k)
			}
			for _, cut := range cuts {
				h := feature.Threshold{Coef: make([]float64, pl.space.Width()), Bias: -cut}
				h.Coef[f] = 1
				out = append(out, h)
			}
		}
	}
	// The constant is how votes learn the share of the positive label.
	return append(out, feature.Threshold{Coef: make([]float64, pl.space.Width()), Bias: 1})
}

// stumpCuts are where stumps cut the only feature of the k-th column, in (-1, 1]:
// between an ordinal category's levels; at a number's declared edges; else in
// equal steps, and in halving steps towards both bounds, for heavy tails.
func (pl *Plan) stumpCuts(k int) (out []float64) {
	c := &pl.s.Columns[pl.space.Columns[k]]
	switch {
	case c.Kind == schema.Category:
		n := len(c.Levels) - 1
		for l := range n {
			out = append(out, -1+(2*float64(l)+1)/float64(n))
		}
		return out
	case len(c.Edges) > 0:
		for _, e := range c.Edges {
			_, x := pl.space.Number(k, e)
			out = append(out, x)
		}
		return out
	}
	for at := 1; at < 8; at++ {
		out = append(out, -1+float64(at)/4)
	}
	for e := -3; e >= -9; e-- {
		out = append(out, -1+math.Ldexp(1, e), 1-math.Ldexp(1, e))
	}
	return out
}
