// SPDX-License-Identifier: Apache-2.0

package people

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/model"
)

// Facts are the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	base := "stumps"
	if pl.Base == Random {
		base = fmt.Sprintf("%d random classifiers", pl.Candidates)
	}
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", article(pl.scope), pl.s.Unit, pl.s.Relation)},
		{Key: "rounds", Value: pl.Rounds, Text: fmt.Sprintf("%d rounds, each chooses among %s, %s encoding", pl.Rounds, base, pl.Encoding)},
		{Key: "kappa", Value: pl.Kappa, Text: fmt.Sprintf("no row holds more than 1/(%.4g·n) of the weight", pl.Kappa)},
	}
	if pl.NotPrivate {
		f[0] = learn.Fact{Key: "protects", Value: string(dp.Nothing), Text: "NOT PRIVATE: no noise is added, nothing is protected"}
		return append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "ε is infinite"})
	}
	f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(), Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))})
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "noise_scale", Value: nil, Text: "noise scales need the number of rows: give --rows"})
	}
	moves, sh := sensitivity(density(pl.rows, pl.Kappa)), pl.share[0]
	pick, err := 2*moves/sh.pick.Float(), moves/sh.err.Float()
	return append(f,
		learn.Fact{Key: "sensitivity", Value: moves, Text: fmt.Sprintf("one row moves a weighted error by at most %.4g, the cap", moves)},
		learn.Fact{Key: "noise_scale_pick", Value: pick, Text: fmt.Sprintf("edges nearer than about %.4g are not told apart when choosing", pick)},
		learn.Fact{Key: "noise_scale", Value: err, Text: fmt.Sprintf("noise scale of a weighted error %.4g", err)})
}

// columns are those of the space, in the schema's order.
func (pl *Plan) columns() []int {
	cols := slices.Clone(pl.space.Columns)
	slices.Sort(cols)
	return cols
}

func (pl *Plan) privacy(acct learn.Account, exit *mech.Exit) model.Privacy {
	p := model.Privacy{
		Scope: pl.scope, Relation: pl.s.Relation, Unit: pl.s.Unit, Epsilon: pl.Epsilon, Bill: pl.bill,
		Claim: pl.claim(), Counted: acct.Counted(), Seeded: exit.Seeded(), NotPrivate: pl.NotPrivate,
	}
	if pl.NotPrivate {
		p.Scope, p.Claim = dp.Nothing, ""
		p.Statement = "No noise was added. This model protects nothing; it exists for comparison."
		p.Unprotected = []string{"everything about the training rows"}
		return p
	}
	p.Statement = fmt.Sprintf("Whatever %s of one row were, the chance of this exact model changes by at most a factor e^%s.", article(pl.scope), pl.Epsilon)
	if pl.scope == dp.PrivateFeatures {
		p.Unprotected = append(p.Unprotected, "the label and the public columns of every row")
	}
	p.Unprotected = append(p.Unprotected, "the number of rows",
		"what the model says about people in general, whether or not they are in the table",
		"how long training took and how much memory it used")
	return p
}

func (pl *Plan) claim() string {
	if pl.scope == dp.PrivateFeatures {
		return "people: G-PEOPLE-1"
	}
	return "people: G-PEOPLE-2"
}

func article(s dp.Scope) string {
	if s == dp.WholeRow {
		return "the whole row (every feature and the label)"
	}
	return "the private columns"
}
