// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Unconstrained refuses, for a learner that cannot ensure it, a schema that requires the model to be
// monotone in a column.
func Unconstrained(op string, s *schema.Schema) error {
	for _, c := range s.Columns {
		if c.Monotone != schema.Free && c.Role != schema.Ignored {
			return &dp.ParamError{Op: op, Param: "monotone", Want: "must be left out of column " + c.Name +
				", since this learner cannot promise it", Got: string(c.Monotone),
				Hint: "learner additive can"}
		}
	}
	return nil
}
