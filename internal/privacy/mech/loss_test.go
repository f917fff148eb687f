// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// words is a source of given words. It panics with itself where they end.
type words struct {
	list []uint64
	next int
}

func (w *words) Uint64() uint64 {
	if w.next == len(w.list) {
		panic(w)
	}
	w.next++
	return w.list[w.next-1]
}

// lawOf is the law of what draw makes of all words: after those of said come, equally likely,
// those of after(said). Where there are none, draw begins again, and the law is that of the rest.
func lawOf(after func(said []uint64) []uint64, draw func(e *Exit) response.Report) map[string]*big.Rat {
	law, kept := map[string]*big.Rat{}, new(big.Rat)
	drawn := func(said []uint64) (name string, ok bool) {
		w := &words{list: said}
		defer func() {
			if x := recover(); x != nil && x != any(w) {
				panic(x)
			}
		}()
		return fmt.Sprint(draw(NewExit(w))), true
	}
	var visit func(said []uint64, p *big.Rat)
	visit = func(said []uint64, p *big.Rat) {
		if name, ok := drawn(said); ok {
			if law[name] == nil {
				law[name] = new(big.Rat)
			}
			law[name].Add(law[name], p)
			kept.Add(kept, p)
			return
		}
		more := after(said)
		for _, w := range more {
			visit(append(said[:len(said):len(said)], w), new(big.Rat).Mul(p, big.NewRat(1, int64(len(more)))))
		}
	}
	visit(nil, big.NewRat(1, 1))
	for _, p := range law {
		p.Quo(p, kept)
	}
	return law
}

// tops are words that differ in their highest bits: all that coins and numbers need whose
// probabilities are multiples of 2^-bits.
func tops(bits int) (out []uint64) {
	for i := range uint64(1) << bits {
		out = append(out, i<<(64-bits)|1<<(63-bits))
	}
	return out
}

// lows are words that differ in their lowest bits.
func lows(bits int) (out []uint64) {
	for i := range uint64(1) << bits {
		out = append(out, ^uint64(0)<<bits|i)
	}
	return out
}

// Seeded implements rng.Source.
func (*words) Seeded() bool { return true }

// vectors are all vectors of certain and uncertain coordinates.
func vectors(dim int) (all [][]float64) {
	all = [][]float64{nil}
	for range dim {
		var more [][]float64
		for _, v := range all {
			for _, x := range []float64{-1, 0.5, 1} {
				more = append(more, append(v[:len(v):len(v)], x))
			}
		}
		all = more
	}
	return all
}

// TestExactLossOfReports finds the laws of the samplers in fractions, from all coins they can
// toss, for odds that coins of a few bits can have. Over all truths and reports, no report is
// likelier by more than the odds of what is told, and some is by as much. That the odds in use are
// the largest within e^ε is TestOddsAreTheLargestThatKeepEpsilon of package response.
func TestExactLossOfReports(t *testing.T) {
	piecewise := response.Line{Steps: 2, Width: 1, Inner: 2, Outer: 1}
	duchi := response.Line{Steps: 1, Width: 1, Inner: 3, Outer: 1}
	type truth func(e *Exit) (response.Report, error)
	type sampler struct {
		odds   int64
		after  func(said []uint64) []uint64
		truths []truth
	}
	cases := map[string]sampler{}
	vector := func(law response.VectorLaw) (out []truth) {
		for _, v := range vectors(law.Dim()) {
			out = append(out, func(e *Exit) (response.Report, error) { return e.Perturb("r", law, v) })
		}
		return out
	}
	cell := func(law response.CellLaw) (out []truth) {
		for c := None; c < law.Dim(); c++ {
			for _, weight := range []float64{0, 0.5, 1} {
				out = append(out, func(e *Exit) (response.Report, error) { return e.PerturbCell("r", law, c, weight) })
			}
		}
		return out
	}
	quarters := func([]uint64) []uint64 { return tops(2) }
	for told := range 2 {
		pm, err1 := response.PiecewiseTelling(dp.Nano, 2, told+1)
		hm, err2 := response.HybridTelling(2*dp.Nano, 2, told+1)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		pm.Lines = []response.Line{piecewise}
		hm.Lines, hm.First = []response.Line{duchi, piecewise}, unit/4
		cases[fmt.Sprint("piecewise of ", told+1)] = sampler{[]int64{2, 4}[told], quarters, vector(pm)}
		cases[fmt.Sprint("hybrid of ", told+1)] = sampler{[]int64{3, 9}[told], quarters, vector(hm)}
	}
	for dim := 1; dim <= 3; dim++ {
		l, err := response.DuchiFor(dp.Nano, dim)
		if err != nil {
			t.Fatal(err)
		}
		l.Inner, l.Outer = 3, 1
		cases[fmt.Sprint("duchi of ", dim)] = sampler{3, func(said []uint64) []uint64 {
			switch {
			case len(said) == dim: // signs
				return lows(dim)
			case len(said) < dim+2:
				return tops(2)
			}
			return nil // a tie that is drawn again
		}, vector(l)}
	}
	grr, err1 := response.GRRFor(dp.Nano, 4)
	oue, err2 := response.OUEFor(dp.Nano, 3)
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	grr.Inner, grr.Outer = 4, 1
	cases["grr"] = sampler{4, func([]uint64) []uint64 { return tops(3) }, cell(grr)}
	oue.Lie = unit / 4
	cases["oue"] = sampler{3, func(said []uint64) []uint64 {
		switch k := len(said); {
		case k == 0: // whether the weight keeps the cell
			return tops(1)
		case k == 1, k == 2 && said[1]&7 != 7: // the first two places of three coins
			return lows(3)
		case k == 3 && said[1]&7 != 7 && ^said[1]&said[2]&7 != 0: // no later place sets a coin
			return []uint64{^uint64(0)}
		}
		return lows(1) // the truth's bit
	}, cell(oue)}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var laws []map[string]*big.Rat
			for _, say := range c.truths {
				laws = append(laws, lawOf(c.after, func(e *Exit) response.Report {
					r, err := say(e)
					if err != nil {
						t.Fatal(err)
					}
					return r
				}))
			}
			most := new(big.Rat)
			for i, p := range laws {
				for j, q := range laws {
					for r := range p {
						if q[r] == nil {
							t.Fatalf("truth %d may say %s, truth %d never does", i, r, j)
						}
						if ratio := new(big.Rat).Quo(p[r], q[r]); ratio.Cmp(most) > 0 {
							most = ratio
						}
					}
				}
			}
			if most.Cmp(big.NewRat(c.odds, 1)) != 0 {
				t.Errorf("a report is up to %s times likelier, want %d", most.RatString(), c.odds)
			}
		})
	}
}

// stepsTo is the multiple of a step nearest to x, halves upwards, told a second time.
func stepsTo(x *big.Rat, step float64) *big.Int {
	q := new(big.Rat).Quo(x, new(big.Rat).SetFloat64(step))
	q.Add(q, big.NewRat(1, 2))
	return new(big.Int).Div(q.Num(), q.Denom())
}

// TestExactLossOfGaussian bounds, in fractions, the ρ of Gaussian noise on vectors of two numbers
// that move by the declared sensitivity: Σ(k − k')²/(2σ²) in steps of the grid.
func TestExactLossOfGaussian(t *testing.T) {
	for _, rho := range []dp.Rho{1, dp.Pico / 100, dp.Pico, 50 * dp.Pico} {
		for _, l2 := range []float64{1, 0.3, 7, 1.0 / 3} {
			m, err := GaussianFor(rho, l2, 2)
			if err != nil {
				t.Fatal(err)
			}
			price, most := big.NewRat(int64(rho), dp.Pico), new(big.Rat)
			for i := range int64(64) {
				a, b := int64(2*i%9), i%5+1 // a right triangle with sides of whole numbers
				long, move := a*a+b*b, new(big.Rat).SetFloat64(l2)
				x, sum := big.NewRat(3*i+1, 1001), new(big.Int)
				for _, part := range []int64{a*a - b*b, 2 * a * b} {
					d := new(big.Rat).Mul(move, big.NewRat(part, long))
					k := stepsTo(new(big.Rat).Add(x, d), m.Grid())
					k.Sub(k, stepsTo(x, m.Grid()))
					sum.Add(sum, k.Mul(k, k))
				}
				dev := new(big.Int).SetUint64(m.dev)
				loss := new(big.Rat).SetFrac(sum, dev.Mul(dev, dev).Lsh(dev, 1))
				if loss.Cmp(price) > 0 {
					t.Fatalf("ρ = %s, sensitivity %g: a loss of %s", rho, l2, loss.FloatString(15))
				}
				if loss.Cmp(most) > 0 {
					most = loss
				}
			}
			if most.Cmp(new(big.Rat).Mul(price, big.NewRat(99, 100))) < 0 {
				t.Errorf("ρ = %s, sensitivity %g: lost is %s at most", rho, l2, most.FloatString(15))
			}
		}
	}
}

// TestRenyiLossOfDiscreteGaussian adds up, to ninety digits, the Rényi divergence of the discrete
// Gaussian law from the same law moved by some steps: of order α it is at most α·steps²/(2σ²),
// and as much where α·steps is whole. From it follows the ρ of G-MECH-7.
func TestRenyiLossOfDiscreteGaussian(t *testing.T) {
	slack := new(big.Float).SetMantExp(big.NewFloat(1), -120)
	for _, dev := range []int64{1, 2, 5} {
		for _, moved := range []int64{1, 3, dev} {
			for _, order := range []*big.Rat{big.NewRat(3, 2), big.NewRat(2, 1), big.NewRat(6, 1)} {
				twice := big.NewRat(2*dev*dev, 1)
				square := func(x int64) *big.Rat { return new(big.Rat).Quo(big.NewRat(x*x, 1), twice) }
				less := new(big.Rat).Sub(order, big.NewRat(1, 1))
				sum, all := wide(new(big.Rat)), wide(new(big.Rat))
				for x := -6*moved - 20*dev; x <= 6*moved+20*dev; x++ {
					// p^α·q^(1−α) has the exponent −α·x²/2σ² + (α−1)·(x−moved)²/2σ².
					at := new(big.Rat).Mul(less, square(x-moved))
					at.Sub(at, new(big.Rat).Mul(order, square(x)))
					sum.Add(sum, expOf(at))
					all.Add(all, expOf(at.Neg(square(x))))
				}
				sum.Quo(sum, all)
				price := new(big.Rat).Mul(order, square(moved))
				limit := expOf(price.Mul(price, less))
				share := sum.Quo(sum, limit)
				over := new(big.Float).Sub(share, wide(big.NewRat(1, 1)))
				whole := new(big.Rat).Mul(order, big.NewRat(moved, 1)).IsInt()
				if over.Cmp(slack) > 0 || whole && over.Abs(over).Cmp(slack) > 0 {
					t.Errorf("σ = %d, %d steps, order %s: %s of the claim", dev, moved, order.RatString(), share.Text('g', 40))
				}
			}
		}
	}
}

// lengthOf is a vector's in the norm of blocks, or its Euclidean length if there are none.
func lengthOf(v []*big.Rat, sizes []int) *big.Float {
	if sizes == nil {
		sum := new(big.Rat)
		for _, x := range v {
			sum.Add(sum, new(big.Rat).Mul(x, x))
		}
		return new(big.Float).SetPrec(digits).Sqrt(wide(sum))
	}
	most := new(big.Rat)
	for _, m := range sizes {
		sum := new(big.Rat)
		for _, x := range v[:m] {
			sum.Add(sum, new(big.Rat).Abs(x))
		}
		if v = v[m:]; sum.Cmp(most) > 0 {
			most = sum
		}
	}
	return wide(most)
}

// TestExactLossOfVectors bounds the loss of noise whose density is proportional to
// exp(-‖η‖/scale), for real-valued noise, to ninety digits: at outputs around two neighbours it is
// (‖y − x'‖ − ‖y − x‖)/scale, at most what is left of ε, and as much behind one of them.
func TestExactLossOfVectors(t *testing.T) {
	const eps = dp.Nano / 4
	sizes := []int{1, 2}
	gamma, err1 := GammaFor(eps, 0.3, 3)
	blocks, err2 := BlocksFor(eps, 0.3, sizes)
	objective, err3 := ObjectiveFor(eps, 0.3, 0.125, 3)
	both, err4 := ObjectiveBlocksFor(eps, 0.3, 0.125, sizes)
	remainder, err5 := RemainderFor(eps, 0.3, 3)
	for _, err := range []error{err1, err2, err3, err4, err5} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name  string
		scale float64
		sizes []int
		move  float64 // of two neighbours
		left  *big.Rat
	}{
		{"gamma", gamma.Scale(), nil, 0.3, big.NewRat(1, 4)},
		{"blocks", blocks.Scale(), sizes, 0.3, big.NewRat(1, 4)},
		{"objective", objective.Scale(), nil, 0.3, big.NewRat(1, 8)},
		{"objective blocks", both.Scale(), sizes, 0.3, big.NewRat(1, 8)},
		{"remainder", remainder.Scale(), nil, 2 * 0.3, big.NewRat(1, 4)}, // each within a radius
	} {
		move, most := new(big.Rat).SetFloat64(c.move), new(big.Float)
		for direction, d := range map[string][]*big.Rat{
			"one number":  {big.NewRat(0, 1), big.NewRat(1, 1), big.NewRat(0, 1)},
			"one block":   {big.NewRat(0, 1), big.NewRat(2, 3), big.NewRat(-1, 3)},
			"all numbers": {big.NewRat(2, 7), big.NewRat(3, 7), big.NewRat(6, 7)},
			"both blocks": {big.NewRat(-1, 1), big.NewRat(1, 4), big.NewRat(3, 4)},
		} {
			if lengthOf(d, c.sizes).Cmp(big.NewFloat(1)) > 0 { // neighbours in the other norm
				continue
			}
			for at := range int64(7 * 7 * 7) {
				y, far := make([]*big.Rat, 3), make([]*big.Rat, 3)
				for i, k := range []int64{at % 7, at / 7 % 7, at / 49} {
					y[i] = new(big.Rat).Mul(move, big.NewRat(k-3, 1))
					y[i].Add(y[i], new(big.Rat).Mul(d[i], big.NewRat(-1, 5))) // some lie behind
					far[i] = new(big.Rat).Sub(y[i], new(big.Rat).Mul(d[i], move))
				}
				loss := lengthOf(far, c.sizes)
				loss.Sub(loss, lengthOf(y, c.sizes)).Quo(loss, big.NewFloat(c.scale))
				if loss.Cmp(wide(c.left)) > 0 {
					t.Fatalf("%s, %s: a loss of %s", c.name, direction, loss.Text('g', 20))
				}
				if loss.Cmp(most) > 0 {
					most = loss
				}
			}
		}
		if most.Cmp(wide(new(big.Rat).Mul(c.left, big.NewRat(999, 1000)))) < 0 {
			t.Errorf("%s: lost is %s of %s at most", c.name, most.Text('g', 20), c.left.FloatString(3))
		}
	}
}

// TestLengthsByQuadrature integrates the law of the length of vectors of one and two numbers over
// the words that it is made of, on a grid of midpoints: no sampling.
func TestLengthsByQuadrature(t *testing.T) {
	const fixed = 0x6b8b4567_327b23c6 // of directions and signs, which do not matter
	for name, c := range map[string]struct {
		grid   uint64
		places []int // of the words that a length is made of
		draw   func(src *words) float64
		shape  float64
		off    float64 // the quadrature's own error
	}{
		"gamma of 1": {4096, []int{0}, func(src *words) float64 { return math.Abs(drawSpherical(src, 1)[0]) }, 1, 1e-3},
		"gamma of 2": {512, []int{0, 3}, func(src *words) float64 {
			x := drawSpherical(src, 2)
			return math.Hypot(x[0], x[1])
		}, 2, 2e-3},
		"blocks of 1": {24, []int{0, 1, 3, 4}, func(src *words) float64 {
			return math.Abs(inBlocks(src, []int{1})[0])
		}, 1, 1e-2},
	} {
		list := []uint64{fixed, fixed, fixed, fixed, fixed, fixed}
		total := 1
		for range c.places {
			total *= int(c.grid)
		}
		var below [40]int // lengths of at most k/5
		for at := range total {
			for rest, i := uint64(at), 0; i < len(c.places); rest, i = rest/c.grid, i+1 {
				list[c.places[i]] = uint64((float64(rest%c.grid) + 0.5) / float64(c.grid) * 0x1p64)
			}
			if k := int(c.draw(&words{list: list}) * 5); k+1 < len(below) {
				below[k+1]++
			}
		}
		sum := 0
		for k, n := range below {
			sum += n
			got, want := float64(sum)/float64(total), mathext.GammaIncReg(c.shape, float64(k)/5)
			if !(math.Abs(got-want) <= c.off) {
				t.Errorf("%s: %.5f of the lengths are at most %g scales, want %.5f", name, got, float64(k)/5, want)
			}
		}
	}
}

// TestNoiseDoesNotSeeValues adds the noise of the same coins to sums of nothing and to others, on
// the grid: it is the same.
func TestNoiseDoesNotSeeValues(t *testing.T) {
	laplace, err1 := LaplaceFor(dp.Nano, 1, 3)
	gaussian, err2 := GaussianFor(dp.Pico, 1, 3)
	gamma, err3 := GammaFor(dp.Nano, 1, 3)
	blocks, err4 := BlocksFor(dp.Nano, 1, []int{2, 1})
	for _, err := range []error{err1, err2, err3, err4} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []Mechanism{laplace, gaussian, gamma, blocks} {
		draw := func(values ...Ratio) []float64 { return m.draw(replay.Seeded(6, "values"), values) }
		nothing := draw(Ratio{0, 1}, Ratio{0, 7}, Ratio{0, 1})
		for k, x := range nothing {
			if x == 0 {
				t.Errorf("%s: number %d has no noise", m.Name(), k)
			}
		}
		for _, v := range []int64{1, -3, 1000} {
			for k, x := range draw(Ratio{v, 1}, Ratio{0, 1}, Ratio{-2 * v, 2}) {
				if want := nothing[k] + float64([]int64{v, 0, -v}[k]); x != want {
					t.Errorf("%s: number %d of %d is %g, the same noise on 0 gives %g", m.Name(), k, v, x, want)
				}
			}
		}
	}
}
