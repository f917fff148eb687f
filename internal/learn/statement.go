// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Deal is what a private fit promised and took: the public half of a model's
// privacy statement.
type Deal struct {
	Schema     *schema.Schema
	Scope      dp.Scope
	Epsilon    dp.Epsilon
	Delta      dp.Delta // 0 where the guarantee is pure
	Bill       []dp.Event
	Claim      string // e.g. "brc: G-BRC-1"
	NotPrivate bool   // no noise was added
	// Unprotected are sentences beyond those that hold for every learner.
	Unprotected []string
}

// Privacy writes the statement of one fit.
func (d Deal) Privacy(g *guard.Guard) model.Privacy {
	p := model.Privacy{
		Scope: d.Scope, Relation: d.Schema.Relation, Unit: d.Schema.Unit, Epsilon: d.Epsilon, Delta: d.Delta, Bill: d.Bill,
		Claim: d.Claim, Counted: g.Counted(), Seeded: g.Seeded(), NotPrivate: d.NotPrivate,
	}
	if d.NotPrivate {
		p.Scope, p.Claim = dp.Nothing, ""
		p.Statement = "No noise was added. This model protects nothing; it exists for comparison."
		p.Unprotected = []string{"everything about the training rows"}
		return p
	}
	if d.Schema.Person != nil {
		p.Claim += model.PersonClaim
	}
	p.Statement = describeGuarantee(d.Scope, d.Schema, d.Epsilon, d.Delta)
	switch d.Scope {
	case dp.PrivateFeatures:
		p.Unprotected = append(p.Unprotected, "the label and the public columns of every row")
	case dp.FeaturesAndLabel:
		p.Unprotected = append(p.Unprotected, "the public columns of every row")
	case dp.LabelOnly:
		p.Unprotected = append(p.Unprotected, "every feature that was used: only the label of a row is protected")
	}
	p.Unprotected = append(p.Unprotected, UnprotectedCounts(d.Schema, d.Scope)...)
	p.Unprotected = append(p.Unprotected, d.Unprotected...)
	p.Unprotected = append(p.Unprotected,
		"what the model says about people in general, whether or not they are in the table",
		"how long training took and how much memory it used")
	return p
}

// describeGuarantee says what an (ε, δ) means, in one sentence.
func describeGuarantee(scope dp.Scope, s *schema.Schema, eps dp.Epsilon, delta dp.Delta) string {
	if delta > 0 {
		return fmt.Sprintf("Whatever %s of %s were, the chance of any set of models changes by at most a "+
			"factor e^%s and, beyond that, by at most %s.", scope.Words(), s.UnitWords(), eps, delta)
	}
	return fmt.Sprintf("Whatever %s of %s were, the chance of this exact model changes by at most a "+
		"factor e^%s.", scope.Words(), s.UnitWords(), eps)
}

// UnprotectedCounts says which numbers of rows and persons a guarantee leaves public.
func UnprotectedCounts(s *schema.Schema, scope dp.Scope) (out []string) {
	replaced := s.Relation == dp.ReplaceOne
	switch {
	case s.Person == nil:
		if replaced {
			out = append(out, "the number of rows")
		}
		return append(out, "a person as a whole: a person with k rows is protected at k times this epsilon")
	case replaced && scope != dp.WholeRow:
		return []string{"the number of persons, and which rows are one person's"}
	case replaced:
		return []string{"the number of persons"}
	}
	return nil
}
