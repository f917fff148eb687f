// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	r := pl.rules
	f.AddScope(pl.s, pl.scope)
	f.AddRows(pl.s, pl.rows, pl.assumed)
	f.Add("rounds", r.rounds, "%d rounds, each %s", r.rounds, pl.describeRound())
	f.Add("cells", r.cells, "a grid is of 1 to %d of %d columns and has at most %d cells, cut by the schema and by coins",
		r.axes[len(r.axes)-1], len(pl.columns), r.cells)
	f.AddPrice(pl.Terms().Price, len(pl.bill), pl.spared)
	if !pl.NotPrivate {
		noise := math.Sqrt(pl.shares[r.rounds-1].cells.Variance(pl.slopeMoves()))
		f.Add("noise", noise, "noise of a round: a standard deviation of %s rows on the slope of each cell",
			learn.Digits(noise, 4))
	}
	return f
}

func (pl *Plan) describeRound() string {
	r := pl.rules
	switch {
	case r.candidates == 1:
		return "of a grid drawn at random"
	case pl.NotPrivate:
		return fmt.Sprintf("chooses among %d grids drawn at random", r.candidates)
	}
	return fmt.Sprintf("chooses among %d grids drawn at random, for %.0f %% of its price", r.candidates, 100*r.pickShare)
}
