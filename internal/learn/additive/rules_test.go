// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The rules at a few points, by hand from the constants.
func TestSettle(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		eps           dp.Epsilon
		relation      dp.Relation
		rho           float64
		offset        bool
		want          rules
	}{
		{100, 9, 1, dp.ReplaceOne, 0, false, rules{bins: 8, rounds: 1, picks: true, passes: onePass(0.5, 1)}},
		{100, 9, 1, dp.ReplaceOne, 0, true, rules{bins: 8, rounds: 1, picks: true, passes: onePass(0.5, 1)}},
		{21_037, 9, 40_000_000, dp.ReplaceOne, 0, false, rules{bins: 8, rounds: 2, picks: true, passes: onePass(0.5, 1)}},
		{32_561, 9, 100_000_000, dp.ReplaceOne, 0, true,
			rules{bins: 8, rounds: 9, passes: onePass(0, 0.8), reach: 0.603}},
		{32_561, 9, 100_000_000, dp.ReplaceOne, 0, false,
			rules{bins: 8, rounds: 9, passes: onePass(0.85, 0.85), reach: 0.301}},
		{325_610, 9, 100_000_000, dp.ReplaceOne, 0, true,
			rules{bins: 32, rounds: 9, passes: onePass(0.85, 0.85), reach: 6.030}},
		{32_561, 12, 500_000_000, dp.AddRemove, 0, false,
			rules{bins: 16, rounds: 12, passes: onePass(0.85, 0.85), reach: 2.261}},
		{14_589, 1, 10_000_000, dp.ReplaceOne, 0, false,
			rules{bins: 8, rounds: 1, passes: onePass(0, 1)}},
		{1_000_000, 5, dp.Nano, dp.AddRemove, 0, false, rules{bins: 32, rounds: 10,
			passes: twoPasses(), reach: 333.333}},
		// Each of 14 columns is 2·22,792·√.036/√(2·14) = 1,634 noise scales long.
		{22_792, 14, dp.Nano, dp.ReplaceOne, 0.036, false,
			rules{bins: 32, rounds: 28, gaussian: true, passes: twoPasses(),
				reach: 2.724}},
		{22_792, 14, dp.Nano / 5, dp.ReplaceOne, 0.00144, false,
			rules{bins: 8, rounds: 14, gaussian: true,
				passes: onePass(0.85, 0.85), reach: 0.545}},
		// A single column is 2·22,792·√.00144/√2 = 1,223 noise scales long: (1223/110)^1.2 = 18 rounds, and of all columns
		// three quarters are more.
		{22_792, 40, dp.Nano / 5, dp.ReplaceOne, 0.00144, false,
			rules{bins: 8, rounds: 18, picks: true, gaussian: true, passes: onePass(0.5, 1)}},
		{22_792, 14, dp.Nano / 100, dp.ReplaceOne, 3.6e-6, false, rules{bins: 8, rounds: 1, picks: true, passes: onePass(0.5, 1)}},
	} {
		got := settleBinary(Params{Epsilon: c.eps}, c.relation, c.rows, c.columns, c.rho, c.offset, 1)
		if math.Abs(got.reach-c.want.reach) < 1e-3 {
			c.want.reach = got.reach
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d rows, %d columns, ε = %s, %s: %+v, want %+v", c.rows, c.columns, c.eps, c.relation, got, c.want)
		}
	}
}

// A rare class leaves fewer rounds, and of so few Laplace noise is the quieter.
func TestRareClassesHaveNoGaussianNoise(t *testing.T) {
	for useful, gaussian := range map[float64]bool{1: true, 0.6: true, 0.4: false, 0.1: false} {
		r := settleBinary(Params{Epsilon: dp.Nano / 5}, dp.ReplaceOne, 22_792, 40, 0.00144, false, useful)
		if r.gaussian != gaussian || !r.picks {
			t.Errorf("useful %g: %+v", useful, r)
		}
	}
}

// Where a rarer class leaves rounds for three quarters of the columns nothing is picked, so that noise is Gaussian if it is
// quieter for all columns: 12 percent, (.585·1523/110)^1.2 = 12 rounds of 16 columns, 6,090 scales in place of 4,200.
func TestNoiseOfColumnsInTurnIsTheQuieter(t *testing.T) {
	r := settleBinary(Params{Epsilon: 3 * dp.Nano / 10}, dp.AddRemove, 14_000, 16, 0.00296, false, 0.585)
	if !r.gaussian || r.picks || r.rounds != 16 {
		t.Errorf("%+v", r)
	}
}

// Of 20 columns beside a private label some are picked until all of them have Gaussian noise or are worth their price.
func TestColumnsBesideALabelArePicked(t *testing.T) {
	for _, rho := range []float64{0, 0.0016} { // δ = 1e-6
		before := rules{picks: true}
		for rows := 100; rows < 100_000; rows += rows / 5 {
			pl := Plan{Params: Params{Epsilon: dp.Nano * 3 / 10}, rows: rows}
			r := pl.settleLabel(20, rho)
			if few := 0.3*float64(rows) < 6*scalesForLabels; r.gaussian && rho == 0 || r.picks && !before.picks || few && !r.picks && !r.gaussian {
				t.Errorf("%d rows, ρ = %g: %+v after %+v", rows, rho, r, before)
			}
			before = r
		}
		if before.picks {
			t.Errorf("ρ = %g: %+v", rho, before)
		}
	}
}

// The share of the classes goes from one end to the other without a step.
func TestShareOfClassesHasNoStep(t *testing.T) {
	before := mostForClasses
	for scales := 0.01; scales < 1e6; scales *= 1.02 {
		got := settleClassesShare(scales, 2)
		if !(got <= before && got >= before-0.04) {
			t.Errorf("%g scales: %g after %g", scales, got, before)
		}
		before = got
	}
	if math.Abs(before-leastForClasses) > 1e-3 || settleClassesShare(0.01, 2) != mostForClasses {
		t.Errorf("from %g to %g", settleClassesShare(0.01, 2), before)
	}
}

func TestPlanRefuses(t *testing.T) {
	s := census.Schema()
	for _, p := range []Params{{}, {Epsilon: -1}, {Epsilon: dp.MaxEpsilon + 1},
		{Epsilon: dp.Nano, NotPrivate: true}, {Epsilon: dp.Nano, Rows: -1}, {Epsilon: 1},
		{Epsilon: dp.Nano, Delta: -1}, {Epsilon: dp.Nano, Delta: dp.Femto}, {Delta: 1, NotPrivate: true}} {
		if _, err := p.Plan(s, 100); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	open := *s
	open.Columns = slices.Clone(s.Columns)
	for j := range open.Columns {
		open.Columns[j].Role = schema.Public
	}
	if _, err := (Params{Epsilon: dp.Nano}).Plan(&open, 100); err == nil {
		t.Error("a schema without anything private was accepted")
	}
}

// A δ that Gaussian noise cannot use better than none is not spent.
func TestDeltaIsSparedWhereLaplaceIsQuieter(t *testing.T) {
	for rows, spent := range map[int]bool{100: false, 100_000: true} {
		pl, err := Params{Epsilon: dp.Nano / 10, Delta: 5e7}.Plan(census.Schema(), rows)
		if err != nil {
			t.Fatal(err)
		}
		if got := pl.Terms().Price.Delta > 0; got != spent || pl.spared == spent {
			t.Errorf("%d rows: δ is spent: %v, want %v", rows, got, spent)
		}
	}
}

// Under add-remove the table's own number of rows must not be reckoned with.
func TestAddRemoveReckonsWithDeclaredRows(t *testing.T) {
	s := *census.Schema()
	s.Relation = dp.AddRemove
	for declared, want := range map[int]int{0: assumedRows, 500: 500} {
		pl, err := Params{Epsilon: dp.Nano, Rows: declared}.Plan(&s, 0)
		if err != nil || pl.rows != want {
			t.Errorf("declared %d: assumes %d rows (error %v)", declared, pl.rows, err)
		}
	}
}
