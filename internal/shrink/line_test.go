// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"testing"
)

// lineCells are cells without error of log-odds shift + slope·x, rows in each bin, under a stated
// noise.
func lineCells(x []float64, slope, shift, rows, noise float64) *Cells {
	c := &Cells{Noise: Noise{Positive: noise, Negative: noise / 10}}
	for _, at := range x {
		share := 1 / (1 + math.Exp(-shift-slope*at))
		c.Positive, c.Negative = append(c.Positive, rows*share), append(c.Negative, rows*(1-share))
	}
	return c
}

// With little noise the line is that of the cells; with much it is that of the prior.
func TestLineIsThatOfTheCells(t *testing.T) {
	x := []float64{-6, -3, -1.5, -0.5, 0.5, 1.5, 3, 6}
	for _, want := range [][2]float64{{0.3, 0.2}, {0.5, -0.3}, {1, 0}, {1.4, 0.1}} {
		l := FitLine(lineCells(x, want[0], want[1], 1e5, 10), x)
		if math.Abs(l.Slope-want[0]) > slopeStep/2 || math.Abs(l.Shift-want[1]) > 0.04 {
			t.Errorf("slope %.3f and shift %.3f, not %v", l.Slope, l.Shift, want)
		}
	}
	l := FitLine(lineCells(x, 0.2, 0.5, 10, 1e6), x)
	if l.Slope < 0.85 || l.Slope > 1.1 || math.Abs(l.Shift) > 0.05 {
		t.Errorf("noise alone: slope %.3f and shift %.3f, the prior has 1 and 0", l.Slope, l.Shift)
	}
	if l := FitLine(lineCells(x, 0, 0, 3000, 30), x); l.Slope > 0.1 {
		t.Errorf("where columns say nothing the slope is %.3f", l.Slope)
	}
}

// Steps that are centred expect the balance there is; without weight nothing moves.
func TestCenteredStepsKeepTheBalance(t *testing.T) {
	steps, weight := []float64{-2, 0.3, 1}, []float64{10, 500, 90}
	shift := CenterSteps(steps, weight, -0.25)
	got := 0.0
	for b, s := range steps {
		got += weight[b] * math.Tanh((s+shift)/2) / 600
	}
	if math.Abs(got+0.25) > 1e-9 {
		t.Errorf("balance %g, not -0.25", got)
	}
	if shift := CenterSteps(steps, make([]float64, 3), 0); shift != 0 {
		t.Errorf("without rows steps move by %g", shift)
	}
}

// The weight of a bin is that of its cells; where they disagree, of the quieter one.
func TestBinWeightsFollowTheQuieterCell(t *testing.T) {
	c := &Cells{Positive: []float64{30, 500, -90}, Negative: []float64{10, 100, -3},
		Noise: Noise{Positive: 1000, Negative: 1}}
	got := BinWeights(c, []float64{math.Log(3), 0, 0})
	for b, want := range []float64{40, 200, 0} {
		if math.Abs(got[b]-want) > 0.01 {
			t.Errorf("bin %d weighs %g, not %g", b, got[b], want)
		}
	}
}
