// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// The mean of a cell's estimate over all of GRR's answers, each as likely as its weight says, is
// the truth within the bias that the law admits: none.
func TestGRRHasNoBias(t *testing.T) {
	for _, cells := range []int{1, 2, 5, 64} {
		l, err := GRRFor(dp.Nano, cells)
		if err != nil {
			t.Fatal(err)
		}
		for truth := range cells + 1 { // the last stands for none
			mean := make([]float64, cells)
			for answer := range cells + 1 {
				weight := l.Outer
				if answer == truth {
					weight = l.Inner
				}
				tally := NewTally(l)
				l.Add(&tally, Report{uint32(answer)})
				tally.Reports = 1
				for c, x := range l.Sum(tally) {
					mean[c] += float64(weight) / float64(l.Total()) * x
				}
			}
			for c, x := range mean {
				want := 0.0
				if c == truth {
					want = 1
				}
				if math.Abs(x-want) > l.Bias()+1e-12 {
					t.Errorf("%d cells, truth %d: the estimate of cell %d is %g in the mean", cells, truth, c, x)
				}
			}
		}
		if l.Bias() != 0 {
			t.Errorf("a bias of %g", l.Bias())
		}
	}
}
