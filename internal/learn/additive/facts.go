// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Facts are the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var facts []learn.Fact
	add := func(key string, value any, format string, args ...any) {
		facts = append(facts, learn.Fact{Key: key, Value: value, Text: fmt.Sprintf(format, args...)})
	}
	r := &pl.rules
	add("protects", string(pl.scope), "protects %s of %s (%s)", pl.scope.Words(), pl.schema.Unit, pl.schema.Relation)
	add("rows", pl.rows, "%s", pl.describeRows())
	if pl.multiclass() {
		add("levels", pl.schema.Classes(), "%d levels of the label in one release: however many there are, "+
			"a row moves a column's cells by %g in all", pl.schema.Classes(), pl.cellSensitivity().l1)
	}
	add("rounds", r.rounds, "%s", pl.describeRounds())
	add("bins", r.bins, "a private number has at most %d bins, cut by the schema; %d private and %d public columns",
		r.bins, pl.columns, len(pl.public))
	if words := pl.describePairs(); words != "" {
		add("pairs", r.pairs+len(pl.open), "%s", words)
	}
	if words := pl.describeCounts(); words != "" {
		add("bins_paid", len(pl.counts.asking), "%s", words)
	}
	if pl.NotPrivate {
		add("epsilon", "inf", "NOT PRIVATE: no noise is added")
		return facts
	}
	add("epsilon", pl.Epsilon.Float(), "price ε = %s in %d releases", pl.Epsilon, len(pl.bill))
	if pl.Delta > 0 {
		add("delta", json.Number(pl.Delta.String()), "and δ = %s: Gaussian noise, all releases accounted jointly", pl.Delta)
	} else if pl.spared {
		add("delta", 0, "no δ is spent: Laplace noise is the quieter one here, and its guarantee is pure")
	}
	last := math.Sqrt(pl.prices.cells[r.rounds-1].variance(pl.cellSensitivity()))
	add("noise", last, "noise of the last round: a standard deviation of %.4g rows on each cell", last)
	return facts
}

// describePairs says what becomes of the declared pairs; "" where there are none.
func (pl *Plan) describePairs() string {
	var parts []string
	if n := pl.rules.pairs; n > 0 {
		parts = append(parts, fmt.Sprintf("%d released after the columns, each at the price of one", n))
	}
	if n := pl.waiting; n > 0 {
		parts = append(parts, fmt.Sprintf("%d left out, since at this price rounds pick columns", n))
	}
	if n := len(pl.open); n > 0 {
		parts = append(parts, fmt.Sprintf("%d of public columns, free", n))
	}
	if parts == nil {
		return ""
	}
	return "declared pairs: " + strings.Join(parts, "; ")
}

// describeCounts says what becomes of the bins that the schema asks for; "" where it asks for none.
func (pl *Plan) describeCounts() string {
	c := &pl.counts
	switch {
	case c.vain > 0:
		return fmt.Sprintf("private columns that ask to be cut by counts of rows: %d; at this price those would "+
			"tell too little, so bounds cut them", c.vain)
	case len(c.asking) == 0:
		return ""
	case pl.NotPrivate:
		return fmt.Sprintf("private columns cut by counts of rows: %d", len(c.asking))
	}
	return fmt.Sprintf("private columns cut by noisy counts of rows: %d, for %.1f %% of the price", len(c.asking), 100*c.share)
}

func (pl *Plan) describeRows() string {
	switch {
	case pl.assumed && pl.schema.Relation == dp.AddRemove:
		return fmt.Sprintf("reckons with %d rows, since the number of rows is private and none was declared", pl.rows)
	case pl.assumed:
		return fmt.Sprintf("reckons with %d rows, since none were given", pl.rows)
	}
	return fmt.Sprintf("reckons with %d rows", pl.rows)
}

// describeRounds says what the releases are about.
func (pl *Plan) describeRounds() string {
	if pl.multiclass() {
		return pl.describeClassRounds()
	}
	r := &pl.rules
	switch {
	case r.picks && r.rounds == 1:
		return fmt.Sprintf("1 round, which picks the column that tells most, for %.0f %% of its ε", 100*r.pickShare)
	case r.picks:
		return fmt.Sprintf("%d rounds, each picks a column, for %.0f %% of its ε", r.rounds, 100*r.pickShare)
	}
	after := ""
	if r.pairs > 0 {
		after = ", then one for each pair"
	}
	if n := len(r.passes); n > 1 {
		return fmt.Sprintf("%d rounds, %d for each private column in turn%s", r.rounds, n, after)
	}
	return fmt.Sprintf("%d rounds, one for each private column%s", r.rounds, after)
}

func (pl *Plan) describeClassRounds() string {
	r := &pl.rules
	words := fmt.Sprintf("%d rounds of cells, one for each private column", r.rounds)
	switch {
	case r.picks && r.rounds == 1:
		words = fmt.Sprintf("1 round of cells, which picks the column that tells most, for %.0f %% of its price",
			100*r.pickShare)
	case r.picks:
		words = fmt.Sprintf("%d rounds of cells, each picks the column that tells most beyond earlier ones, "+
			"for %.0f %% of its price", r.rounds, 100*r.pickShare)
	case r.rounds == 1:
		words = "1 round of cells"
	}
	if r.weightShare > 0 {
		words += fmt.Sprintf("; then how much each column counts, for %.0f %% of the price", 100*r.weightShare)
	}
	if r.boosts > 0 {
		words += fmt.Sprintf("; then %d times what is left over", r.boosts)
	}
	return words
}
