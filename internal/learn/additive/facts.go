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
	r := pl.rules
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", pl.scope.Words(), pl.s.Unit, pl.s.Relation)},
		{Key: "rows", Value: pl.rows, Text: pl.reckoning()},
		{Key: "rounds", Value: r.rounds, Text: pl.plot()},
		{Key: "bins", Value: r.bins, Text: fmt.Sprintf("a private number has at most %d bins, cut by the schema; %d private and %d public columns", r.bins, pl.columns, len(pl.public))},
	}
	if words := pl.pairing(); words != "" {
		f = append(f, learn.Fact{Key: "pairs", Value: pl.rules.pairs + len(pl.open), Text: words})
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
	last := math.Sqrt(pl.shares[r.rounds-1].cells.variance(pl.s.Relation))
	return append(f, learn.Fact{Key: "noise", Value: last, Text: fmt.Sprintf("noise of the last round: a standard deviation of %.4g rows on each cell", last)})
}

// pairing says in words what becomes of the declared pairs; "" where there are
// none.
func (pl *Plan) pairing() string {
	var said []string
	if n := pl.rules.pairs; n > 0 {
		said = append(said, fmt.Sprintf("%d released after the columns, each at the price of one", n))
	}
	if n := pl.waiting; n > 0 {
		said = append(said, fmt.Sprintf("%d left out, since at this price rounds pick columns", n))
	}
	if n := len(pl.open); n > 0 {
		said = append(said, fmt.Sprintf("%d of public columns, free", n))
	}
	if said == nil {
		return ""
	}
	return "declared pairs: " + strings.Join(said, "; ")
}

// facts say what becomes of the bins that the schema asks for; none where it asks
// for none.
func (c *counting) facts() []learn.Fact {
	text := fmt.Sprintf("private columns cut by noisy counts of rows: %d, for %.1f %% of the price", len(c.asking), 100*c.share)
	switch {
	case c.vain > 0:
		text = fmt.Sprintf("private columns that ask to be cut by counts of rows: %d; at this price those would tell too little, so bounds cut them", c.vain)
	case len(c.asking) == 0:
		return nil
	case c.exact:
		text = fmt.Sprintf("private columns cut by counts of rows: %d", len(c.asking))
	}
	return []learn.Fact{{Key: "bins_paid", Value: len(c.asking), Text: text}}
}

func (pl *Plan) reckoning() string {
	switch {
	case pl.assumed && pl.s.Relation == dp.AddRemove:
		return fmt.Sprintf("reckons with %d rows, since the number of rows is private and none was declared", pl.rows)
	case pl.assumed:
		return fmt.Sprintf("reckons with %d rows, since none were given", pl.rows)
	}
	return fmt.Sprintf("reckons with %d rows", pl.rows)
}

// plot says in words what the rounds do.
func (pl *Plan) plot() string {
	r := pl.rules
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
