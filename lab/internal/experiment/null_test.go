// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// No figure's checks all hold if every classifier throws a coin: then its
// verdict could not fail.
func TestNoVerdictHoldsForCoins(t *testing.T) {
	for _, f := range All() {
		for _, n := range f.JudgeNull(nil) {
			if n.IsBorneOut() {
				t.Errorf("%s: %d of %d draws of %s pass every check", f.Name, n.Reproduced, n.Draws, n.Name)
			}
		}
	}
}

// On permuted labels nothing can be learned, and a figure run on them is not reproduced;
// if labels are not read from files that is said.
func TestPermutedLabelsAreNotReproduced(t *testing.T) {
	o := frame.Options{Out: t.TempDir(), Repeats: 4, Seed: 1, PermuteLabels: true, Datasets: realdata.File(t, ".")}
	res, err := Run(t.Context(), "shen/fig4d", o)
	if err != nil {
		t.Fatal(err)
	}
	// 4 times 23 test rows: four standard errors of a coin are 21 points.
	if m := res.Summary.Mean("non-private", 0, "accuracy").Mean; !(math.Abs(m-0.5) < 0.21) {
		t.Errorf("something is learned from permuted labels: %g", m)
	}
	if v := res.Verdict; v.Outcome == frame.Reproduced || v.Figure != "shen/fig4d-permuted" {
		t.Errorf("%s is %s", v.Figure, v.Outcome)
	}
	_, err = Run(t.Context(), "shen/fig1a", o)
	if p, ok := errors.AsType[*dp.ParamError](err); !ok || p.Param != "labels" {
		t.Errorf("a figure without labels to permute: %v", err)
	}
}
