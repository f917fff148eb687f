// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// digits of arithmetic below, in bits.
const digits = 300

func wide(x *big.Rat) *big.Float { return new(big.Float).SetPrec(digits).SetRat(x) }

// expOf is e^x to nearly all digits, by the series of x/2^16.
func expOf(x *big.Rat) *big.Float {
	small := wide(new(big.Rat).Quo(x, big.NewRat(1<<16, 1)))
	sum, term := wide(big.NewRat(1, 1)), wide(big.NewRat(1, 1))
	for k := int64(1); k < 60; k++ {
		term.Mul(term, small).Quo(term, wide(big.NewRat(k, 1)))
		sum.Add(sum, term)
	}
	for range 16 {
		sum.Mul(sum, sum)
	}
	return sum
}

// keeps are the probabilities exp(-gap/scale) with which candidates are kept.
func keeps(c choice, scores []Ratio) (out []*big.Float) {
	for _, g := range c.gapsBelowBest(scores) {
		x := new(big.Rat).SetFrac(new(big.Int).SetUint64(g), new(big.Int).SetUint64(c.grid.scale))
		out = append(out, expOf(x.Neg(x)))
	}
	return out
}

// lawOfFlips is permute-and-flip's, over all orders.
func lawOfFlips(keep []*big.Float) []*big.Float {
	law := make([]*big.Float, len(keep))
	for i := range law {
		law[i] = new(big.Float).SetPrec(digits)
	}
	var visit func(left []int, reach *big.Float)
	visit = func(left []int, reach *big.Float) {
		for at, i := range left {
			each := new(big.Float).Quo(reach, wide(big.NewRat(int64(len(left)), 1)))
			law[i].Add(law[i], new(big.Float).Mul(each, keep[i]))
			rest := append(append([]int(nil), left[:at]...), left[at+1:]...)
			visit(rest, each.Sub(each, new(big.Float).Mul(each, keep[i])))
		}
	}
	all := make([]int, len(keep))
	for i := range all {
		all[i] = i
	}
	visit(all, wide(big.NewRat(1, 1)))
	return law
}

// lawOfShares is the exponential mechanism's.
func lawOfShares(keep []*big.Float) (law []*big.Float) {
	sum := new(big.Float).SetPrec(digits)
	for _, k := range keep {
		sum.Add(sum, k)
	}
	for _, k := range keep {
		law = append(law, new(big.Float).Quo(k, sum))
	}
	return law
}

// everyScore are all scores of three candidates among 0, 1/2 and 1.
func everyScore() (all [][]Ratio) {
	for i := range int64(27) {
		all = append(all, []Ratio{{i % 3, 2}, {i / 3 % 3, 2}, {i / 9, 2}})
	}
	return all
}

// TestExactLossOfSelections computes the laws of both selectors to ninety digits for all scores of
// three candidates and all neighbours whose scores move within the spread: no outcome's
// probability grows by more than e^ε, and by nearly so much it does.
func TestExactLossOfSelections(t *testing.T) {
	slack := new(big.Float).SetMantExp(big.NewFloat(1), -200) // far above the rounding, far below a step
	for _, eps := range []dp.Epsilon{dp.Nano / 10, dp.Nano, 3*dp.Nano + 7} {
		limit := expOf(big.NewRat(int64(eps), dp.Nano))
		ex, err1 := ExponentialFor(eps, 1)
		pf, err2 := PermuteAndFlipFor(eps, 1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		for name, law := range map[string]func(scores []Ratio) []*big.Float{
			"exponential":      func(s []Ratio) []*big.Float { return lawOfShares(keeps(ex.choice, s)) },
			"permute-and-flip": func(s []Ratio) []*big.Float { return lawOfFlips(keeps(pf.choice, s)) },
		} {
			t.Run(fmt.Sprintf("%s/%s", name, eps), func(t *testing.T) {
				laws := map[string][]*big.Float{}
				for _, s := range everyScore() {
					laws[fmt.Sprint(s)] = law(s)
				}
				most := new(big.Float)
				for _, a := range everyScore() {
					for _, b := range everyScore() {
						lo, hi := int64(9), int64(-9)
						for i := range a {
							lo, hi = min(lo, b[i].Num-a[i].Num), max(hi, b[i].Num-a[i].Num)
						}
						if hi-lo > 2 { // halves: more than the spread of 1
							continue
						}
						p, q := laws[fmt.Sprint(a)], laws[fmt.Sprint(b)]
						for i := range p {
							ratio := new(big.Float).Quo(p[i], q[i])
							if ratio.Cmp(most) > 0 {
								most = ratio
							}
						}
					}
				}
				if over := new(big.Float).Sub(most, limit); over.Cmp(slack) > 0 {
					t.Errorf("a probability grows %s-fold, e^ε is %s", most.Text('g', 30), limit.Text('g', 30))
				}
				if share := new(big.Float).Quo(most, limit); share.Cmp(big.NewFloat(0.6)) < 0 {
					t.Errorf("no probability grows more than %s-fold, e^ε is %s: too little was compared",
						most.Text('g', 30), limit.Text('g', 30))
				}
			})
		}
	}
}

// TestExactLossOfLaplace bounds, in fractions, the loss of Laplace noise on vectors of two numbers
// that move by the declared sensitivity: Σ|k − k'|/scale in steps of the grid.
func TestExactLossOfLaplace(t *testing.T) {
	for _, eps := range []dp.Epsilon{1, dp.Nano / 10, dp.Nano, 50 * dp.Nano} {
		for _, l1 := range []float64{1, 0.3, 7, 1.0 / 3} {
			m, err := LaplaceFor(eps, l1, 2)
			if err != nil {
				t.Fatal(err)
			}
			price, most := big.NewRat(int64(eps), dp.Nano), new(big.Rat)
			for i := range int64(64) { // where the values lie, and how the move is shared out
				move := new(big.Rat).SetFloat64(l1)
				part := new(big.Rat).Mul(move, big.NewRat(i%8, 7))
				x := big.NewRat(3*i+1, 1001)
				sum := new(big.Int)
				for _, d := range []*big.Rat{part, new(big.Rat).Sub(part, move)} {
					a, b := stepsTo(x, m.Grid()), stepsTo(new(big.Rat).Add(x, d), m.Grid())
					sum.Add(sum, a.Sub(a, b).Abs(a))
				}
				loss := new(big.Rat).SetFrac(sum, new(big.Int).SetUint64(m.grid.scale))
				if loss.Cmp(price) > 0 {
					t.Fatalf("ε = %s, sensitivity %g: a loss of %s", eps, l1, loss.FloatString(15))
				}
				if loss.Cmp(most) > 0 {
					most = loss
				}
			}
			if most.Cmp(new(big.Rat).Mul(price, big.NewRat(99, 100))) < 0 {
				t.Errorf("ε = %s, sensitivity %g: lost is %s at most", eps, l1, most.FloatString(15))
			}
		}
	}
}
