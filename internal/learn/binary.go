// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TwoClasses refuses a label of more than two classes.
func TwoClasses(op string, s *schema.Schema) error {
	if s.Classes() == 2 {
		return nil
	}
	return &dp.ParamError{Op: op, Param: "label", Want: "must have 2 levels", Got: s.Classes(),
		Hint: "learners auto, additive, grids, erm, labeldp and logistic take more; or make the label binary: one level " +
			"with the others as its aliases"}
}

// Unweighted refuses weights of levels, for a learner that gives every row the same weight. Ignoring the
// declaration would be unexpected.
func Unweighted(op string, s *schema.Schema) error {
	if s.Label.Weights == nil {
		return nil
	}
	return &dp.ParamError{Op: op, Param: "weights",
		Want: "must be left out of the label, since this learner counts every row once", Got: s.Label.Weights,
		Hint: "learners auto, additive, erm, brc and logistic weigh rows by their level"}
}
