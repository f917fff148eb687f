// SPDX-License-Identifier: Apache-2.0

package pate

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
	f := []learn.Fact{
		{Key: "protects", Value: string(pl.scope), Text: fmt.Sprintf("protects %s of %s (%s)", article(pl.scope), pl.s.Unit, pl.s.Relation)},
		{Key: "form", Value: string(pl.Form), Text: fmt.Sprintf("%s form, %s encoding, teachers see %d features", pl.Form, pl.Encoding, pl.private.Width())},
	}
	if pl.rows > 0 {
		k := pl.teachers(pl.rows)
		f = append(f, learn.Fact{Key: "teachers", Value: k, Text: fmt.Sprintf("%d teachers of about %.3g rows", k, float64(pl.rows)/float64(k))})
	}
	if pl.NotPrivate {
		f[0] = learn.Fact{Key: "protects", Value: string(dp.Nothing), Text: "NOT PRIVATE: nothing is protected"}
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "ε is infinite"})
		if pl.Form == Printed && pl.rows > 0 {
			loss := ownQueryLoss(pl.teachers(pl.rows), pl.VoteEpsilon)
			f = append(f, learn.Fact{Key: "own_query_loss", Value: loss, Text: fmt.Sprintf("said to cost ε = %s a vote; the vote about a row loses %.3g about that row's own cells", pl.VoteEpsilon, loss)})
		}
		return f
	}
	scale := votesMove / pl.votes.Float()
	f = append(f,
		learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(), Text: fmt.Sprintf("price ε = %s in %d releases", pl.Epsilon, len(pl.bill))},
		learn.Fact{Key: "noise_scale", Value: scale, Text: fmt.Sprintf("noise scale of the teachers' votes: %.4g teachers on each feature", scale)})
	if pl.rows == 0 {
		f = append(f, learn.Fact{Key: "teachers", Value: nil, Text: "the number of teachers needs the number of rows: give --rows"})
	}
	return f
}

// columns are those of the model, in the schema's order.
func (pl *Plan) columns() []int {
	cols := slices.Clone(pl.joint.Columns)
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
		if pl.Form == Printed {
			p.Statement = fmt.Sprintf("NOT private as claimed: votes said to cost %s each are made of the row's own private cells and can flip whole, and the model holds the teachers. It exists to reproduce a figure.", pl.VoteEpsilon)
		}
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
		return "pate: G-PATE-1"
	}
	return "pate: G-PATE-2"
}

func article(s dp.Scope) string {
	if s == dp.WholeRow {
		return "the whole row (every feature and the label)"
	}
	return "the private columns"
}
