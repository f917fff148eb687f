// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// one is a plan that costs what it is given.
type one struct {
	Plan
	eps dp.Epsilon
}

func (p one) Terms() guard.Terms {
	return guard.Terms{Bill: []dp.Event{{Release: "r", Mechanism: "m", Epsilon: p.eps}}}
}

// A person pays for every row that is drawn, up to the most, and one more is refused.
func TestPersonsPayUpToTheMostRows(t *testing.T) {
	for _, n := range []int{1, 2, 7, 8, 9, 31, 32, 33, maxGroup - 1, maxGroup, maxGroup + 1, 2 * maxGroup} {
		s := *census.Schema()
		s.Person = &schema.Person{Rows: n}
		part, rows := dp.Epsilon(0), 0
		pl, err := PlanGroup("test", &s, dp.Price{Epsilon: dp.Nano}, 5,
			func(of *schema.Schema, eps dp.Epsilon, units int) (Plan, error) {
				part, rows = eps, units
				return one{eps: eps}, nil
			})
		if (err == nil) != (n <= maxGroup) {
			t.Fatalf("%d rows of a person: %v", n, err)
		}
		if err != nil {
			continue
		}
		paid := dp.Pure(pl.Terms().Bill).Epsilon
		if paid != part*dp.Epsilon(n) || paid > dp.Nano || paid+dp.Epsilon(n) <= dp.Nano || rows != 5*n {
			t.Errorf("%d rows of a person, each at %s, cost %s; %d rows are planned for", n, part, paid, rows)
		}
	}
}
