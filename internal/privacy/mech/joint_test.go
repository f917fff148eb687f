// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// What leaves is tested one number at a time elsewhere. Here it is tested together:
// coins of the numbers of one release, of the next release through the same exit and of
// another exit are flips of independent coins, and no noise comes twice.

// battery is one kind of thing that leaves, as coins of known probability. flip makes
// those of one draw.
type battery struct {
	name  string
	probs []float64
	flip  func(exit *Exit) []bool
	// spoilt is the same with a fault that no single number shows.
	spoilt func(coins []bool)
}

// repeat is n times the probability p.
func repeat(p float64, n int) (probs []float64) {
	for range n {
		probs = append(probs, p)
	}
	return probs
}

// signs are those of the noise that a mechanism adds to zeros, and whether each number
// lies further out than half of all do: far is that median, 0 if numbers are
// dependent by their law. Independent noise may not come twice, also with another sign.
func signs(t *testing.T, m Mechanism, n int, far float64) battery {
	zeros := make([]Ratio, n)
	for i := range zeros {
		zeros[i].Den = 1
	}
	seen := map[float64]bool{} // of some releases
	releases, twice := 0, 0
	coins := n
	if far > 0 {
		coins *= 2
	}
	return battery{name: m.Name(), probs: repeat(0.5, coins), flip: func(exit *Exit) (coins []bool) {
		noise := exit.Release("noise", m, zeros...)
		if releases++; releases%100 == 0 {
			clear(seen)
		}
		for _, x := range noise {
			if seen[math.Abs(x)] {
				twice++
			}
			seen[math.Abs(x)] = true
			coins = append(coins, x < 0)
		}
		if far > 0 && twice > 2 { // of 2^40 steps to a scale, with a probability of less than 1e-12
			t.Fatalf("%s: the size of noise comes again", m.Name())
		}
		for _, x := range noise {
			if far > 0 {
				coins = append(coins, math.Abs(x) > far)
			}
		}
		return coins
	}, spoilt: func(coins []bool) { coins[1] = !coins[0] }}
}

// batteries are all mechanisms and all laws of reports.
func batteries(t *testing.T) (all []battery) {
	const n = 6
	laplace := Sized(LaplaceFor(dp.Nano, 1, n))
	gaussian := Sized(GaussianFor(dp.MaxRho/8, 1, n))
	all = append(all,
		signs(t, laplace, n, math.Ln2*laplace.Scale()),
		signs(t, gaussian, n, 0.674489750196082*gaussian.Scale()),
		signs(t, Sized(GammaFor(dp.Nano, 1, n)), n, 0),
		signs(t, Sized(BlocksFor(dp.Nano, 1, []int{1, 2, 3})), n, 0),
		signs(t, Sized(ObjectiveFor(dp.Nano, 1, 0.25, n)), n, 0),
		signs(t, Sized(ObjectiveBlocksFor(dp.Nano, 1, 0.25, []int{1, 2, 3})), n, 0),
		signs(t, Sized(RemainderFor(dp.Nano, 1, n)), n, 0),
	)
	for _, s := range []Selector{Sized(ExponentialFor(dp.Nano, 1)), Sized(PermuteAndFlipFor(dp.Nano, 1))} {
		alike := make([]Ratio, 8)
		for i := range alike {
			alike[i].Den = 1
		}
		all = append(all, battery{s.Name(), repeat(0.5, 3), func(exit *Exit) []bool {
			i := exit.Select("choice", s, alike)
			return []bool{i&1 > 0, i&2 > 0, i&4 > 0}
		}, func(coins []bool) { coins[1] = coins[0] }})
	}
	bitsOf := func(r response.Report, n int) (coins []bool) {
		for i := range n {
			coins = append(coins, r[i/32]>>(i%32)&1 == 1)
		}
		return coins
	}
	const cells = 150 // more than two words of coins
	oue := sizedLaw(response.OUEFor(dp.Nano, cells))
	all = append(all, battery{"oue", repeat(float64(oue.Lie)/unit, cells), func(exit *Exit) []bool {
		r, err := exit.PerturbCell("report", oue, None, 1)
		if err != nil {
			t.Fatal(err)
		}
		return bitsOf(r, cells)
	}, func(coins []bool) { copy(coins[64:128], coins) }})
	duchi := sizedLaw(response.DuchiFor(dp.Nano, 70))
	all = append(all, battery{"duchi", repeat(0.5, 70), func(exit *Exit) []bool {
		r, err := exit.Perturb("report", duchi, make([]float64, 70)) // rounded at random: all signs alike
		if err != nil {
			t.Fatal(err)
		}
		return bitsOf(r, 70)
	}, func(coins []bool) { copy(coins[32:64], coins) }})
	grr := sizedLaw(response.GRRFor(dp.Nano, 9))
	all = append(all, battery{"grr", []float64{float64(grr.Inner) / float64(grr.Total())}, func(exit *Exit) []bool {
		r, err := exit.PerturbCell("report", grr, 3, 1)
		if err != nil {
			t.Fatal(err)
		}
		return []bool{r[0] == 3}
	}, nil})
	vector := make([]float64, n) // zeros: in the middle, and on the grid
	lap := sizedLaw(response.LaplaceFor(dp.Nano, n))
	r := math.Exp(-1 / float64(lap.Scale))
	all = append(all, battery{"laplace reports", repeat(r/(1+r), n), func(exit *Exit) (coins []bool) {
		rep, err := exit.Perturb("report", lap, vector)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range rep {
			coins = append(coins, uint64(w) > lap.Top()/2)
		}
		return coins
	}, func(coins []bool) { coins[1] = coins[0] }})
	for _, law := range []response.Sampled{sizedLaw(response.PiecewiseTelling(dp.Nano, 8, 1)),
		sizedLaw(response.HybridTelling(2*dp.Nano, 8, 1))} {
		all = append(all, battery{law.Name(), repeat(0.5, 3), func(exit *Exit) []bool {
			rep, err := exit.Perturb("report", law, make([]float64, 8))
			if err != nil {
				t.Fatal(err)
			}
			return []bool{rep[0]&1 > 0, rep[0]&2 > 0, rep[0]&4 > 0}
		}, func(coins []bool) { coins[1] = coins[0] }})
	}
	addend := sizedLaw(response.ShortAddendFor(dp.Nano, n, 2*float64(n), 10, 1)) // a share of one is the whole noise
	r = math.Exp(-1 / float64(addend.Scale))
	all = append(all, battery{"addends", repeat(r/(1+r), n), func(exit *Exit) (coins []bool) {
		sum, err := exit.Addend("addend", addend, vector)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range sum {
			coins = append(coins, w > addend.Top()/2)
		}
		return coins
	}, func(coins []bool) { coins[1] = coins[0] }})
	return all
}

func sizedLaw[L any](l L, err error) L {
	if err != nil {
		panic(err)
	}
	return l
}

// Everything that leaves is independent: the numbers of one draw, those of the next
// draw from the same source, and those of another source.
func TestNoiseIsIndependent(t *testing.T) {
	const flips = 1200
	all := batteries(t)
	for _, b := range all {
		t.Run(b.name, func(t *testing.T) {
			samples := uint64(0)
			sample := func(spoil func([]bool)) (coins [][]bool) {
				samples++
				one := NewExit(replay.Seeded(samples, b.name))
				for range flips {
					f := b.flip(one)
					if spoil != nil {
						spoil(f)
					}
					f = append(f, b.flip(one)...)
					coins = append(coins, append(f, b.flip(NewExit(rng.System()))...))
				}
				return coins
			}
			probs := append(append(append([]float64(nil), b.probs...), b.probs...), b.probs...)
			c := stattest.Claim{FalsePositive: 1e-9 / float64(len(all)), Detects: "numbers that share coins"}
			stattest.Independent(t, c, sample(nil), probs)
			if b.spoilt != nil {
				stattest.Rejects(t, func(t stattest.T) { stattest.Independent(t, c, sample(b.spoilt), probs) })
			}
			for _, shared := range []int{1, 2} { // the coins of the next draw, or of another source, are those of this
				stattest.Rejects(t, func(t stattest.T) {
					flips := sample(nil)
					for _, f := range flips {
						copy(f[shared*len(b.probs):(shared+1)*len(b.probs)], f[:len(b.probs)])
					}
					stattest.Independent(t, c, flips, probs)
				})
			}
		})
	}
}
