// SPDX-License-Identifier: Apache-2.0

package train

import (
	"errors"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// TestLearnersKeepOrRefuseMonotone declares that the model must follow a number.
// Only additive can promise it, and auto by leaving it to additive; the others must refuse and say
// which can.
func TestLearnersKeepOrRefuseMonotone(t *testing.T) {
	for _, l := range Learners() {
		s := *census.Schema()
		s.Columns = slices.Clone(s.Columns)
		j := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Kind == schema.Number })
		pr := Price{Epsilon: dp.Nano}
		if !l.Private {
			pr = Price{NotPrivate: true}
		}
		if l.Name == "labeldp" {
			s.Label.Role, s.Label.Default = schema.Private, 0
		}
		if _, err := l.Plan(pr, &s, 1000); err != nil {
			t.Errorf("%s: %v", l.Name, err)
		}
		s.Columns[j].Monotone = schema.Increasing
		_, err := l.Plan(pr, &s, 1000)
		var p *dp.ParamError
		if refused := errors.As(err, &p) && p.Param == "monotone"; refused == (l.Name == "additive" || l.Name == "auto") {
			t.Errorf("%s: err = %v", l.Name, err)
		}
	}
}
