// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// CheckOneRow refuses, for a learner that uses one row per person (DrawRows), a schema with a larger
// contribution bound; PlanGroup plans for those. Every private learner calls it or bounds weights.
func CheckOneRow(op string, s *schema.Schema) error {
	if s.Person == nil || s.Person.Rows == 1 {
		return nil
	}
	return &dp.ParamError{Op: op, Param: "person rows", Want: "must be 1, since this learner draws one row of each person",
		Got: strconv.Itoa(s.Person.Rows), Hint: "learner additive bounds the weight of a person's rows instead"}
}

// UnitFact describes the unit of privacy of a plan, in words for a user whose persons have several
// rows, before anything is paid.
func UnitFact(s *schema.Schema, notPrivate bool) Fact {
	f := Fact{Key: "unit", Value: "row"}
	switch {
	case notPrivate:
	case s.Person == nil:
		f.Text = "protects one row: a person with k rows is protected at k times this epsilon (person: in the schema protects " +
			"all rows of one person)"
	default:
		f.Value = "person"
		f.Text = fmt.Sprintf("protects all rows of one person together, told apart by column %q", s.Person.Column)
	}
	return f
}
