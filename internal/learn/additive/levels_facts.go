// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts are the plan in words and numbers, from public choices alone.
func (pl *LevelsPlan) Facts() []learn.Fact {
	r := pl.rules
	reckoning := (&Plan{s: pl.s, rows: pl.rows, assumed: pl.assumed}).reckoning()
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit, pl.s.Relation)},
		{Key: "rows", Value: pl.rows, Text: reckoning},
		{Key: "levels", Value: pl.s.Classes(), Text: fmt.Sprintf("%d levels of the label in one release: however many there are, a row moves a column's cells by %g in all", pl.s.Classes(), step(pl.s.Relation))},
		{Key: "rounds", Value: r.rounds, Text: pl.plot()},
		{Key: "bins", Value: r.bins, Text: fmt.Sprintf("a private number has at most %d bins, cut by the schema; %d private and %d public columns", r.bins, len(pl.private), len(pl.public))},
	}
	f = append(f, pl.counts.facts()...)
	if pl.NotPrivate {
		return append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "NOT PRIVATE: no noise is added"})
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(), Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))})
	if pl.Delta > 0 {
		f = append(f, learn.Fact{Key: "delta", Value: json.Number(pl.Delta.String()), Text: fmt.Sprintf("and δ = %s: Gaussian noise, all releases accounted jointly", pl.Delta)})
	} else if pl.spared {
		f = append(f, learn.Fact{Key: "delta", Value: 0, Text: "no δ is spent: Laplace noise is the quieter one here, and its guarantee is pure"})
	}
	cells := math.Sqrt(pl.shares[r.rounds-1].cells.noiseVariance(step(pl.s.Relation), length(pl.s.Relation)))
	return append(f, learn.Fact{Key: "noise", Value: cells, Text: fmt.Sprintf("noise of the last round: a standard deviation of %.4g rows on each cell", cells)})
}

// plot says in words what the releases do.
func (pl *LevelsPlan) plot() string {
	r := pl.rules
	words := fmt.Sprintf("%d rounds of cells, one for each private column", r.rounds)
	switch {
	case r.picks && r.rounds == 1:
		words = fmt.Sprintf("1 round of cells, which picks the column that tells most, for %.0f %% of its price", 100*r.pickShare)
	case r.picks:
		words = fmt.Sprintf("%d rounds of cells, each picks the column that tells most beyond earlier ones, for %.0f %% of its price", r.rounds, 100*r.pickShare)
	case r.rounds == 1:
		words = "1 round of cells"
	}
	if r.trustShare > 0 {
		words += fmt.Sprintf("; then how much each column counts, for %.0f %% of the price", 100*r.trustShare)
	}
	if r.boosts > 0 {
		words += fmt.Sprintf("; then %d times what is left over", r.boosts)
	}
	return words
}
