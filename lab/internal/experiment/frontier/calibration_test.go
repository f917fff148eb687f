// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// Promises hold where log loss falls with ε from that without private columns, and neither does
// where it rises.
func TestCalibrationIsJudged(t *testing.T) {
	for _, rising := range []float64{-0.01, 0.01} {
		res := ran(t, newCalibration(), func(p frame.Point, repeat int) float64 {
			at := slices.Index(calibrationBudgets, p.Epsilon) + 1
			return 0.5 + rising*float64(at) + 0.001*float64(repeat)
		})
		for _, c := range res.Verdict.Checks {
			if c.Holds != (rising < 0) {
				t.Errorf("%s: %s at a rise of %g", c.What, c.Ours, rising)
			}
		}
		if n := len(res.Verdict.Checks); n != 2*len(newCalibration().Points)/(len(calibrationBudgets)+1) {
			t.Errorf("%d checks", n)
		}
	}
}

// One repeat of an invented table in each scope: the price is what was asked, log loss finite, and
// the reference of a private label that of its released shares.
func TestCalibrationOfAnInvention(t *testing.T) {
	f := newCalibration()
	var some []frame.Point
	for _, p := range f.Points {
		if strings.HasPrefix(p.Series, "invented, 5 columns") && (p.Epsilon == 0 || p.Epsilon >= dp.Nano) {
			some = append(some, p)
		}
	}
	f.Points = some
	res, err := f.Run(t.Context(), frame.Options{Out: t.TempDir(), Repeats: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	references := 0
	for _, r := range res.Records {
		if r.Metric == baseLoss {
			references++
		}
		if math.IsNaN(r.Value) || r.Metric == logLoss && !(r.Value > 0.4 && r.Value < 0.7) {
			t.Errorf("%s: %s %g", r.Series, r.Metric, r.Value)
		}
		if r.Epsilon != nil && r.Bill != *r.Epsilon {
			t.Errorf("%s: bill %g", r.Series, r.Bill)
		}
	}
	if references != 2*2*3 {
		t.Errorf("%d references", references)
	}
}

// A class is thinned to its share of what is left, or not at all if too few would be.
func TestThinClass(t *testing.T) {
	labels := make([]uint8, 3000)
	for i := range 1000 {
		labels[i] = 1
	}
	rows := make([]int, len(labels))
	for i := range rows {
		rows[i] = i
	}
	kept := thinClass(labels, rows, 1, 0.05, frame.Repeat{})
	ones := 0
	for _, i := range kept {
		ones += int(labels[i])
	}
	if len(kept) != 2105 || ones != 105 {
		t.Errorf("%d rows, %d of the class", len(kept), ones)
	}
	if thinClass(labels, rows, 1, 0.01, frame.Repeat{}) != nil || thinClass(labels, rows, 1, 0.5, frame.Repeat{}) != nil {
		t.Error("thinned to less than says anything, or to more than there is")
	}
}
