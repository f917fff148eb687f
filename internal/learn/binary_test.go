// SPDX-License-Identifier: Apache-2.0

package learn_test

import (
	"cmp"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Learners of two levels that weigh no rows say so, and never train as if
// nothing had been declared. brc weighs them.
func TestBinaryLearnersRefuse(t *testing.T) {
	levels := func(n int) *schema.Schema {
		return &schema.Schema{Label: schema.Label{Levels: make([]schema.Level, n)}}
	}
	weighted := levels(2)
	weighted.Label.Weights = []float64{1, 2}
	plans := map[string]func(*schema.Schema) error{
		"both": func(s *schema.Schema) error {
			return cmp.Or(learn.TwoClasses("learner", s), learn.Unweighted("learner", s))
		},
		"brc": func(s *schema.Schema) error { _, err := brc.Params{}.Plan(s, 0); return err },
	}
	for name, plan := range plans {
		for param, s := range map[string]*schema.Schema{"label": levels(3), "weights": weighted} {
			if name == "brc" && param == "weights" {
				continue
			}
			var refused *dp.ParamError
			if err := plan(s); !errors.As(err, &refused) || refused.Param != param {
				t.Errorf("%s: %v, want a refusal of %s", name, err, param)
			}
		}
	}
	if err := cmp.Or(learn.TwoClasses("learner", levels(2)), learn.Unweighted("learner", levels(2))); err != nil {
		t.Errorf("two levels without weights: %v", err)
	}
	var refused *dp.ParamError
	if _, err := (labeldp.Params{}).Plan(weighted, 0); !errors.As(err, &refused) || refused.Param != "weights" {
		t.Errorf("labeldp: %v, want a refusal of weights", err)
	}
}
