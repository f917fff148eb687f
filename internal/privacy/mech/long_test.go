// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// What leaves in long vectors, and release after release, comes once: coins that are used again
// beyond some length, or after some releases, are seen as the same noise, with any sign.
func TestNoiseDoesNotComeAgain(t *testing.T) {
	const n = 5000
	blocks := make([]int, n/5)
	for i := range blocks {
		blocks[i] = 5
	}
	for _, m := range []Mechanism{
		Sized(LaplaceFor(dp.Nano, 1, n)), Sized(GaussianFor(dp.MaxRho/8, 1, n)), Sized(GammaFor(dp.Nano, 1, n)),
		Sized(BlocksFor(dp.Nano, 1, blocks)), Sized(ObjectiveFor(dp.Nano, 1, 0.25, n)),
		Sized(ObjectiveBlocksFor(dp.Nano, 1, 0.25, blocks)), Sized(RemainderFor(dp.Nano, 1, n)),
	} {
		seen, twice := map[float64]bool{}, 0
		for source := range 2 {
			exit := NewExit(replay.Seeded(uint64(source), m.Name()))
			for _, size := range []int{n, 64, 64, 64} {
				if m.Name() != "laplace" && m.Name() != "gaussian" {
					size = n // others are sized for one length
				}
				zeros := make([]Ratio, size)
				for i := range zeros {
					zeros[i].Den = 1
				}
				for _, x := range exit.Release("noise", m, zeros...) {
					if seen[math.Abs(x)] {
						twice++
					}
					seen[math.Abs(x)] = true
				}
			}
		}
		if twice > 20 { // of many steps to a scale; sources are seeded, so that this never depends on chance
			t.Errorf("%s: %d of %d sizes of noise come again", m.Name(), twice, len(seen))
		}
	}
}

// The same of reports: no 64 coins of one are those of another 64, in their order.
func TestCoinsOfReportsDoNotComeAgain(t *testing.T) {
	const n = 8192
	for name, draw := range map[string]func(*Exit) (response.Report, error){
		"oue": func(e *Exit) (response.Report, error) {
			return e.PerturbCell("report", sizedLaw(response.OUEFor(dp.Nano/4, n)), None, 1)
		},
		"duchi": func(e *Exit) (response.Report, error) {
			return e.Perturb("report", sizedLaw(response.DuchiFor(dp.Nano, n)), make([]float64, n))
		},
	} {
		seen := map[string]bool{}
		for source := range 2 {
			exit := NewExit(replay.Seeded(uint64(source), name))
			for range 3 {
				r, err := draw(exit)
				if err != nil {
					t.Fatal(err)
				}
				for i := 0; i+3 < len(r); i += 2 {
					for _, flip := range []uint32{0, math.MaxUint32} {
						key := fmt.Sprint(r[i]^flip, r[i+1]^flip)
						if flip == 0 && seen[key] {
							t.Fatalf("%s: 64 coins come again", name)
						}
						seen[key] = true
					}
				}
			}
		}
	}
}
