// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/learn/learntest"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech/mechtest"
)

// Row by row from the definition: the positive rows of each bin of each public column leave, and
// where no column is private nothing else does.
func TestPositiveRowsEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"label alone", "label alone, gaussian", "private label, boosted"} {
		tab, plan := with(settings()[name], 300)
		anyPlan, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		pl := anyPlan.(*Plan)
		tape := &mechtest.Recorder{}
		learntest.Fit(t, pl, tab, tape, 5)
		p := tape.Passages[0]
		if p.Label != labelsLabel || pl.scope == dp.LabelOnly && len(tape.Passages) != 1 {
			t.Fatalf("%s: %d releases, the first of %s", name, len(tape.Passages), p.Label)
		}
		var want []int64
		for _, j := range pl.public {
			bins := pl.cutColumn(j, pl.rules.bins)
			counts := make([]int64, bins.Len())
			for i := range tab.Rows {
				if int(tab.Labels[i]) == tab.Schema.Label.Positive {
					counts[bin(tab, &bins, i)]++
				}
			}
			want = append(want, counts...)
		}
		if len(want) != len(p.Values) {
			t.Fatalf("%s: %d numbers leave, want %d", name, len(p.Values), len(want))
		}
		for i, v := range p.Values {
			if v.Num != want[i] || v.Den != 1 {
				t.Errorf("%s: number %d is %v, want %d", name, i, v, want[i])
			}
		}
	}
}

// What a schema declares decides what is protected.
func TestScopeFollowsTheSchema(t *testing.T) {
	for name, want := range map[string]dp.Scope{
		"partly private": dp.PrivateFeatures, "private label": dp.FeaturesAndLabel, "label alone": dp.LabelOnly,
		"everything private": dp.WholeRow, "add-remove": dp.WholeRow,
	} {
		_, plan := with(settings()[name], 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := pl.(*Plan).scope; got != want {
			t.Errorf("%s: protects %s, want %s", name, got, want)
		}
	}
}

// A model of public columns that costs nothing reads labels: it is for public ones alone.
func TestFitPublicWantsPublicLabels(t *testing.T) {
	for name, taken := range map[string]bool{
		"partly private": true, "private label": false, "label alone": false, "everything private": false,
		"add-remove": false,
	} {
		tab, plan := with(settings()[name], 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pl.(*Plan).FitPublic(context.Background(), learntest.Engine(t, tab)); (err == nil) != taken {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
