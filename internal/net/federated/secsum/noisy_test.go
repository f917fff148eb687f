// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// A whole aggregate: owners hold vectors, add their share of the noise, some
// drop out, and the decoded sum lies as near the truth as it should.
func TestNoisySum(t *testing.T) {
	const owners, survivors, dim = 60, 40, 3
	l, err := response.ShortAddendFor(8*dp.Nano, dim, 2*float64(dim), owners, survivors)
	if err != nil {
		t.Fatal(err)
	}
	truth := []float64{0.5, -1, 0.3}
	for _, b := range both {
		exit := mech.NewExit(replay.Seeded(1, b.name))
		task := Task{Round: "noisy", Owners: owners, AtLeast: survivors, Holders: b.holders, Length: dim, Range: l.Top() + 1}
		values := make([][]uint64, owners)
		for o := range values {
			if values[o], err = exit.Addend("round 1", l, truth); err != nil {
				t.Fatal(err)
			}
		}
		c, err := carry(t, protocol(t, b.make, task), values, drops{ownersBefore: []int{3, 5}, ownersMidway: []int{59}})
		if err != nil {
			t.Fatal(err)
		}
		total, in, ok, err := c.Sum()
		if !ok || err != nil {
			t.Fatal(err)
		}
		for j, x := range l.Sum(response.Total(total, len(in))) {
			// Chebyshev's inequality would allow ten standard deviations to one sum
			// in a hundred; the words are replayed, so this is a fact.
			if d := math.Abs(x - truth[j]*float64(len(in))); d > 10*math.Sqrt(l.Variance(truth[j])*float64(len(in))) || d == 0 {
				t.Errorf("%s: coordinate %d adds up to %g, the truth is %g", b.name, j, x, truth[j]*float64(len(in)))
			}
		}
	}
}
