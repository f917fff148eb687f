// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// State writes the statement of a fit from its guard's terms: what is protected, the price and the
// bill. claim is the page and number of the proof, e.g. "brc: G-BRC-1"; unprotected are sentences in
// addition to those that hold for every learner.
func State(g *guard.Guard, claim string, unprotected ...string) model.Privacy {
	t, s := g.Terms(), g.Schema()
	p := model.Privacy{
		Scope: t.Scope, Relation: s.Relation, Unit: s.Unit, Epsilon: t.Price.Epsilon, Delta: t.Price.Delta, Bill: t.Bill,
		Claim: claim, Counted: g.Counted(), Seeded: g.Seeded(), NotPrivate: t.NotPrivate,
	}
	if t.NotPrivate {
		p.Scope, p.Claim = dp.Nothing, ""
		p.Statement = "This model protects nothing; it exists for comparison."
		p.Unprotected = []string{"everything about the training rows"}
		return p
	}
	if s.Person != nil {
		p.Claim += model.PersonClaim
	}
	p.Statement = describeGuarantee(t.Scope, s, t.Price)
	switch t.Scope {
	case dp.PrivateFeatures:
		p.Unprotected = append(p.Unprotected, "the label and the public columns of every row")
	case dp.FeaturesAndLabel:
		p.Unprotected = append(p.Unprotected, "the public columns of every row")
	case dp.LabelOnly:
		p.Unprotected = append(p.Unprotected, "every feature that was used: only the label of a row is protected")
	}
	p.Unprotected = append(p.Unprotected, UnprotectedCounts(s, t.Scope)...)
	p.Unprotected = append(p.Unprotected, unprotected...)
	p.Unprotected = append(p.Unprotected,
		"what the model says about people in general, whether or not they are in the table",
		"how long training took and how much memory it used")
	return p
}

// describeGuarantee explains an (ε, δ) in one sentence.
func describeGuarantee(scope dp.Scope, s *schema.Schema, price dp.Price) string {
	if price.Delta > 0 {
		return fmt.Sprintf("%s, the chance of any set of models changes by at most a "+
			"factor e^%s and, beyond that, by at most %s.", SupposeChange(scope, s), price.Epsilon, price.Delta)
	}
	return fmt.Sprintf("%s, the chance of this exact model changes by at most a "+
		"factor e^%s.", SupposeChange(scope, s), price.Epsilon)
}

// SupposeChange begins a sentence about a model: it names all that may differ between two neighbours.
func SupposeChange(scope dp.Scope, s *schema.Schema) string {
	switch {
	case s.Relation == dp.AddRemove && s.Person != nil:
		return "Whether or not the rows of one person were in the table"
	case s.Relation == dp.AddRemove:
		return "Whether or not one row was in the table"
	case scope == dp.WholeRow && s.Person != nil:
		return "Whatever " + scope.Words() + " was, for all rows of one person"
	case scope == dp.WholeRow:
		return "Whatever " + scope.Words() + " was"
	case scope == dp.LabelOnly && s.Person != nil:
		return "Whatever the labels of all rows of one person were"
	case scope == dp.LabelOnly:
		return "Whatever the label of one row was"
	}
	return fmt.Sprintf("Whatever %s of %s were", scope.Words(), s.UnitWords())
}

// UnprotectedCounts lists the numbers of rows and persons that a guarantee leaves public.
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
