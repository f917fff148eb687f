// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	r := pl.rules
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit,
			pl.s.Neighbours())},
		{Key: "rows", Value: pl.rows, Text: pl.reckoning()},
		{Key: "rounds", Value: r.rounds, Text: pl.plot()},
		{Key: "cells", Value: r.cells,
			Text: fmt.Sprintf("a grid is of 1 to %d of %d columns and has at most %d cells, cut by the schema and by coins",
				r.axes[len(r.axes)-1], len(pl.columns), r.cells)},
	}
	if pl.NotPrivate {
		return append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "NOT PRIVATE: no noise is added"})
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(),
		Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))})
	if pl.Delta > 0 {
		f = append(f, learn.Fact{Key: "delta", Value: json.Number(pl.Delta.String()),
			Text: fmt.Sprintf("and δ = %s: Gaussian noise, all releases accounted jointly", pl.Delta)})
	} else if pl.spared {
		f = append(f, learn.Fact{Key: "delta", Value: 0,
			Text: "no δ is spent: Laplace noise is the quieter one here, and its guarantee is pure"})
	}
	noise := math.Sqrt(pl.shares[r.rounds-1].cells.Variance(pl.slopeMoves()))
	return append(f, learn.Fact{Key: "noise", Value: noise,
		Text: fmt.Sprintf("noise of a round: a standard deviation of %s rows on the slope of each cell",
			learn.Digits(noise, 4))})
}

func (pl *Plan) reckoning() string {
	switch {
	case pl.assumed && pl.s.Relation == dp.AddRemove:
		return fmt.Sprintf("assumes %d rows, because the number of rows is private and none was declared", pl.rows)
	case pl.assumed:
		return fmt.Sprintf("assumes %d rows, because none were given", pl.rows)
	}
	return fmt.Sprintf("assumes %d rows", pl.rows)
}

// plot describes the rounds in words.
func (pl *Plan) plot() string {
	r := pl.rules
	if r.candidates == 1 {
		return fmt.Sprintf("%d rounds, each of a grid drawn at random", r.rounds)
	}
	words := fmt.Sprintf("%d rounds, each chooses among %d grids drawn at random", r.rounds, r.candidates)
	if !pl.NotPrivate {
		words += fmt.Sprintf(", for %.0f %% of its price", 100*r.pickShare)
	}
	return words
}
