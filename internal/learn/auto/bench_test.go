// SPDX-License-Identifier: Apache-2.0

package auto

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A whole training on Adult, everything private, from rows in memory to the model: at ε = 0.5 too
// few rows to ask whether columns interact, at 1 enough.
func BenchmarkFit(b *testing.B) {
	tab := learntest.ReadReal(b, "adult.yaml", "adult/adult.data.gz")
	s := tab.Schema
	s.Relation = dp.AddRemove
	for j := range s.Columns {
		if s.Columns[j].Role == schema.Public {
			s.Columns[j].Role = schema.Private
		}
	}
	s.Label.Role = schema.Private
	for _, eps := range []dp.Epsilon{dp.Nano / 2, dp.Nano} {
		b.Run("ε = "+eps.String(), func(b *testing.B) {
			pl, err := Params{Epsilon: eps, Rows: tab.Rows}.Plan(s, 0)
			if err != nil {
				b.Fatal(err)
			}
			eng := learntest.Engine(b, tab)
			for b.Loop() {
				exit := mech.NewExit(rng.System())
				if _, err := guard.Train(context.Background(), pl, eng, guard.Uncounted{}, exit); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
