// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
)

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	r := &pl.rules
	f.AddScope(pl.schema, pl.scope)
	if pl.schema.Person != nil {
		unit := "rows"
		if pl.most == 1 {
			unit = "row"
		}
		f.Add("person_rows", pl.most, "a person counts for at most %d %s: each of k rows weighs min(1, %d/k), so the "+
			"target is a mean over persons rather than rows", pl.most, unit, pl.most)
	}
	f.AddRows(pl.schema, pl.rows, pl.assumed)
	if pl.isMulticlass() {
		f.Add("levels", pl.schema.Classes(), "%d classes of the label in one release: however many there are, "+
			"a row moves a column's cells by %g in total", pl.schema.Classes(), pl.cellMoves().L1)
	}
	if w := pl.schema.Label.RowWeights(); w != nil {
		f.Add("weights", w, "classes count by their weights, %.4g, which moves scores alone and no release", w)
	}
	if enough := pl.enoughEpsilon(); !pl.assumed && !pl.NotPrivate && pl.Epsilon.Float() < enough {
		f.Add("epsilon_needed", enough, "TOO FEW: with so few, nothing can be distinguished from noise below an epsilon of about %s",
			learn.Digits(enough, 2))
	}
	f.Add("rounds", r.rounds, "%s", pl.describeRounds())
	private := pl.columns
	if pl.protectsLabel() {
		private = 0
	}
	f.Add("bins", r.bins, "a private number has at most %d bins, cut by the schema; %d private and %d public columns",
		r.bins, private, len(pl.public))
	f.Add("pairs", pl.rules.pairs+len(pl.open), "%s", pl.describePairs())
	f.Add("bins_paid", len(pl.counts.asking), "%s", pl.describeCounts())
	f = slices.DeleteFunc(f, func(f learn.Fact) bool { return f.Text == "" })
	f.AddPrice(pl.Terms().Price, len(pl.bill), pl.spared)
	if pl.NotPrivate {
		return f
	}
	if pl.protectsLabel() && !r.picks {
		labels := math.Sqrt(pl.prices.labels.Variance(pl.labelMoves(len(pl.public))))
		words := "noise of the positive rows of public columns: a standard deviation of %s rows on each bin"
		if r.gaussian {
			words = "noise of the labels, given public columns: a standard deviation of %s in each direction; a row " +
				"adds a vector of length 1 that follows from its public cells"
		}
		f.Add("label_noise", labels, words, learn.Digits(labels, 4))
	}
	if r.rounds == 0 {
		return f
	}
	most := math.Sqrt(pl.prices.cells[r.rounds-1].Variance(pl.cellMoves()))
	f.Add("noise", most, "noise of the last round: a standard deviation of %s rows on each cell", learn.Digits(most, 4))
	return f
}

// enoughEpsilon is the ε at which the table is long enough, in noise scales, for one round.
func (pl *Plan) enoughEpsilon() float64 {
	return scalesForRound * guard.OneCell(pl.schema.Relation).L1 / float64(pl.unitRows())
}

// describePairs describes how the declared pairs are used; "" if there are none.
func (pl *Plan) describePairs() string {
	var parts []string
	add := func(n int, words string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words))
		}
	}
	add(pl.rules.pairs, "released after the columns, each at the price of one")
	if pl.rules.sharesAlone {
		add(pl.waiting, "left out at this price")
	} else {
		add(pl.waiting, "left out, since at this price rounds pick columns")
	}
	add(len(pl.open), "of public columns, free")
	if parts == nil {
		return ""
	}
	return "declared pairs: " + strings.Join(parts, "; ")
}

// describeCounts describes how the counted bins are determined; "" if the schema has none.
func (pl *Plan) describeCounts() string {
	c := &pl.counts
	switch {
	case c.vain > 0:
		return fmt.Sprintf("private columns with bins: quantiles: %d; at this price counts of rows would be too "+
			"noisy, so their bins follow from the bounds", c.vain)
	case len(c.asking) == 0:
		return ""
	case pl.NotPrivate:
		return fmt.Sprintf("private columns cut by counts of rows: %d", len(c.asking))
	}
	return fmt.Sprintf("private columns cut by noisy counts of rows: %d, for %.1f %% of the price",
		len(c.asking), 100*c.share)
}

// describeRounds describes the releases.
func (pl *Plan) describeRounds() string {
	r := &pl.rules
	words := fmt.Sprintf("%d rounds, one for each private column", r.rounds)
	switch {
	case r.sharesAlone:
		words = "no rounds: the shares of the classes take the whole price, and every row is answered with them"
	case pl.protectsLabel() && !r.picks:
		words = "no rounds: positive rows of all public columns leave at once"
	case r.picks && r.rounds == 1:
		words = fmt.Sprintf("1 round, which picks the column that predicts best, for %.0f %% of its ε", 100*pickShare)
	case r.picks:
		words = fmt.Sprintf("%d rounds, each picks a column, for %.0f %% of its ε", r.rounds, 100*pickShare)
	case len(r.passes) > 1:
		words = fmt.Sprintf("%d rounds, %d for each private column in turn", r.rounds, len(r.passes))
	}
	if pl.rules.pairs > 0 {
		words += ", then one for each pair"
	}
	if r.weightShare > 0 {
		words += fmt.Sprintf("; then how much each column counts, for %.0f %% of the price", 100*r.weightShare)
	}
	return words
}
