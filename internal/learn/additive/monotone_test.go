// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"cmp"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A model follows what its schema says, whatever the noise.
func TestModelIsMonotone(t *testing.T) {
	c := settings()["partly private, in turn"]
	tab, plan := with(c, 400)
	for j := range tab.Schema.Columns {
		if tab.Schema.Columns[j].Kind == schema.Number {
			tab.Schema.Columns[j].Monotone = schema.Decreasing
		}
	}
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, &mechtest.Recorder{}, 3)
	seen := 0
	for _, sh := range m.Classifier.(*model.Additive).Shapes {
		if len(sh.Edges) == 0 {
			continue
		}
		seen++
		if !slices.IsSortedFunc(sh.LogOdds, func(a, b float64) int { return cmp.Compare(b, a) }) {
			t.Errorf("%s rises: %v", sh.Column, sh.LogOdds)
		}
	}
	if seen == 0 {
		t.Error("the table has no number")
	}
}
