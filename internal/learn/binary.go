// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Binary refuses a schema with more than two levels of the label or with weights of levels, for a
// learner of two levels that gives every row the same weight. Ignoring the declaration would be
// unexpected.
func Binary(op string, s *schema.Schema) error {
	if err := TwoClasses(op, s); err != nil {
		return err
	}
	return Unweighted(op, s)
}

// TwoClasses refuses a label of more than two classes.
func TwoClasses(op string, s *schema.Schema) error {
	if s.Classes() == 2 {
		return nil
	}
	return &dp.ParamError{Op: op, Param: "label", Want: "must have 2 levels", Got: s.Classes(),
		Hint: "learners additive, erm, labeldp and logistic take more; or make the label binary: one level " +
			"with the others as its aliases"}
}

// Unweighted is Binary's refusal of weights, for a learner that supports more levels.
func Unweighted(op string, s *schema.Schema) error {
	if s.Label.Weights == nil {
		return nil
	}
	return &dp.ParamError{Op: op, Param: "weights",
		Want: "must be left out of the label, since this learner counts every row once", Got: s.Label.Weights,
		Hint: "learners additive, erm, brc and logistic weigh rows by their level"}
}
