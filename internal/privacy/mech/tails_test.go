// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Words by their two highest bits. Their lowest one keeps rng.Below from drawing again.
const (
	wordLow  = 1
	wordHigh = 3<<62 | 1
)

// What coins of bernoulliExp read that show as their names have it.
var (
	oneTrue  = []uint64{wordLow, wordLow, wordLow, wordLow, wordHigh} // a = b
	oneFalse = []uint64{wordLow, wordLow, wordHigh}
	halfTrue = []uint64{wordLow, wordHigh} // 2a = b
	sure     = []uint64{wordLow, wordLow}  // a = 0
)

// scriptGeometric are the words upon which geometricParts draws whole scales.
func scriptGeometric(scales int) []uint64 {
	return slices.Concat([]uint64{wordLow}, sure, slices.Repeat(oneTrue, scales), oneFalse)
}

// scriptLaplace are the words upon which discreteLaplace draws whole scales, to either side.
func scriptLaplace(scales int) []uint64 {
	sign := uint64(2)
	if scales < 0 {
		sign = 1
	}
	return append(scriptGeometric(max(scales, -scales)), sign)
}

// scriptGaussian are the words upon which discreteGaussian draws whole deviations, and keeps them.
func scriptGaussian(devs int) []uint64 {
	m := max(devs, -devs) - 1
	m = max(m, -m)
	out := scriptLaplace(devs)
	for range m {
		coin := slices.Repeat(oneTrue, (m-1)/2)
		if m%2 == 0 {
			coin = append(coin, oneTrue...)
		} else {
			coin = append(coin, halfTrue...)
		}
		out = slices.Concat(out, coin, sure)
	}
	return append(out, sure...)
}

// reaches are how far out tails are looked at, in scales: what lies further has probabilities that
// no count of samples shows.
var reaches = []int{0, 1, 2, 7, 8, 9, 31, 32, 33, 48, 49, 50, 63, 64, 65, 95, 96, 97, 127, 128, 129, 255, 256, 257,
	1000, 4095, 4096, 4097, 100_000}

// Noise goes as far out as the words that it is drawn from lead it: no tail is cut.
func TestTailsAreWhole(t *testing.T) {
	for _, n := range reaches {
		for _, scales := range []int{n, -n} {
			if n == 0 && scales == -n {
				continue
			}
			for _, scale := range []uint64{1, 3, 1000, 1 << 31, 1<<40 + 1} {
				want := new(big.Int).Mul(big.NewInt(int64(scales)), new(big.Int).SetUint64(scale))
				src := &words{list: scriptLaplace(scales)}
				if x := discreteLaplace(src, scale); x.Cmp(want) != 0 || src.next != len(src.list) {
					t.Errorf("Laplace, scale %d: %s in place of %d scales", scale, x, scales)
				}
				if scale <= 1<<32 {
					src = &words{list: scriptLaplace(scales)}
					if x := shortLaplace(src, scale); x != want.Int64() {
						t.Errorf("short Laplace, scale %d: %d in place of %d scales", scale, x, scales)
					}
				}
				if n <= 129 {
					src = &words{list: scriptGaussian(scales)}
					if x := discreteGaussian(src, scale); x.Cmp(want) != 0 || src.next != len(src.list) {
						t.Errorf("Gaussian, deviation %d: %s in place of %d deviations", scale, x, scales)
					}
				}
			}
		}
	}
}

// fails says whether f panics, as it does where a sampler asks for words beyond its script.
func outOfWords(f func()) (out bool) {
	defer func() { _, out = recover().(*words) }()
	f()
	return false
}

// The words are what makes noise long: where the last coin of a script shows the other side, noise
// goes on.
func TestScriptsAreWhatIsRead(t *testing.T) {
	list := scriptGeometric(40)
	if !outOfWords(func() { drawGeometric(&words{list: append(list[:len(list)-3:len(list)-3], oneTrue...)}, 7) }) {
		t.Error("a number ended before its script")
	}
}

// Reports are cut where their laws say, on the last step, and nowhere before.
func TestReportsAreCutWhereTheirLawSays(t *testing.T) {
	noisy := sizedLaw(response.LaplaceFor(dp.Nano, 2))
	addend := sizedLaw(response.ShortAddendFor(dp.Nano, 2, 4, 10, 1)) // a share of one is the whole noise
	lowest := func(top, steps uint64) int64 { return int64(top-steps) / 2 }
	for _, n := range reaches {
		if n > 300 {
			continue
		}
		for _, scales := range []int{n, -n} {
			want := min(max(lowest(noisy.Top(), noisy.Steps)+int64(scales)*int64(noisy.Scale), 0), int64(noisy.Top()))
			script := slices.Concat([]uint64{wordLow}, scriptLaplace(n), []uint64{wordLow}, scriptLaplace(n))
			if scales < 0 {
				script = slices.Concat([]uint64{wordLow}, scriptLaplace(scales), []uint64{wordLow}, scriptLaplace(scales))
			}
			if n == 0 {
				continue
			}
			r := drawNoisy(&words{list: script}, noisy, []float64{-1, -1})
			for j, w := range r {
				if int64(w) != want {
					t.Errorf("a report's coordinate %d is %d after noise of %d scales, want %d", j, w, scales, want)
				}
			}
			up, down := max(scales, 0), max(-scales, 0)
			one := slices.Concat([]uint64{wordLow}, scriptGeometric(up), scriptGeometric(down))
			want = min(max(lowest(addend.Top(), addend.Steps)+int64(scales)*int64(addend.Scale), 0), int64(addend.Top()))
			sum := drawAddend(&words{list: slices.Concat(one, one)}, addend, func(int) float64 { return -1 })
			for j, w := range sum {
				if int64(w) != want {
					t.Errorf("an addend's coordinate %d is %d after noise of %d scales, want %d", j, w, scales, want)
				}
			}
		}
	}
}

// All draws of an urn may be of one colour, however many there are.
func TestPolyaReachesBothEnds(t *testing.T) {
	for _, total := range []uint64{0, 1, 4095, 4096, 100_000} {
		for _, parts := range []uint64{2, 7, 4096} {
			if x := drawPolya(constant(0), total, 1, parts); x != total {
				t.Errorf("%d of %d draws are of the colour, of %d shares", x, total, parts)
			}
			if x := drawPolya(constant(^uint64(0)), total, 1, parts); x != 0 {
				t.Errorf("%d of %d draws are of the colour, of %d shares", x, total, parts)
			}
		}
	}
}

// constant is a source of one word.
type constant uint64

func (c constant) Uint64() uint64 { return uint64(c) }
func (constant) Seeded() bool     { return true }

// An exponential has the length that 64 bits can tell, to either end.
func TestExponentialsReachBothEnds(t *testing.T) {
	const ln2 = math.Ln2
	for bit := range 64 {
		word := uint64(1) << bit
		want := -math.Log1p(1/math.Ldexp(1, bit+1)) + float64(64-bit)*ln2 // -ln((2^bit + 1/2)/2^64)
		if x := drawExponential(constant(word)); !(math.Abs(x-want) <= 1e-12*want) {
			t.Errorf("word 2^%d makes %g, want %g", bit, x, want)
		}
		u := (math.Ldexp(1, bit) + 0.5) * 0x1p-64 // of the complement: -ln(1-u)
		want = u + u*u/2 + u*u*u/3
		if x := drawExponential(constant(^word)); bit < 40 && !(math.Abs(x-want) <= 1e-12*want) {
			t.Errorf("word 2^64-1-2^%d makes %g, want %g", bit, x, want)
		}
	}
	if x, want := drawExponential(constant(0)), 65*ln2; math.Abs(x-want) > 1e-12*want {
		t.Errorf("word 0 makes %g, want %g", x, want)
	}
}

// step is the integer nearest to x/2^exp, halves upwards.
func step(x *big.Rat, exp int) *big.Int {
	grid := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(exp, -exp))))
	if exp > 0 {
		grid.Inv(grid)
	}
	y := new(big.Rat).Mul(x, grid)
	y.Add(y, big.NewRat(1, 2))
	k := new(big.Int)
	return k.Div(y.Num(), y.Denom()) // Euclidean, and the denominator is > 0: a floor
}

// unstep is k·2^exp as the nearest float64.
func unstep(k *big.Int, exp int) float64 {
	x := new(big.Float).SetInt(k)
	f, _ := x.SetMantExp(x, exp).Float64()
	return f
}

// someValues are numbers of every size that a sum can have.
func someValues(n int) (values []Ratio) {
	for i := range n {
		v := int64(1) << (62 - i*5%63)
		if i%3 == 1 {
			v = -v
		}
		if i%11 == 10 {
			v = int64(i) - 20
		}
		values = append(values, Ratio{v, []int64{1, 3, 1, 1 << 20, 1_000_003, 1 << 62, math.MaxInt64}[i%7]})
	}
	return values
}

// Each mechanism is a public grid on which values of any size are rounded, and its noise by the
// book on that grid, which sees no value, for any price, sensitivity and length.
func TestMechanismsAreTheirTwin(t *testing.T) {
	big1 := func(n uint64) *big.Int { return new(big.Int).SetUint64(n) }
	for _, eps := range []dp.Epsilon{1, dp.Nano / 1000, dp.Nano, 1000 * dp.Nano} {
		for _, sens := range []float64{1e-9, 1.0 / 3, 1, 1e9} {
			for _, length := range []int{1, 2, 17, 1000} {
				if length == 1000 && (eps != dp.Nano || sens != 1) {
					continue
				}
				name := fmt.Sprint(eps, sens, length)
				values := someValues(length)
				sizes := []int{length}
				if length > 1 {
					sizes = []int{1, length - 1}
				}
				noises := map[string]func(src rng.Source) (m Mechanism, exp int, noise func(i int) *big.Int, real []float64){
					"laplace": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(LaplaceFor(eps, sens, length))
						return m, m.grid.exp, func(int) *big.Int { return twin{src}.laplace(big1(m.grid.scale)) }, nil
					},
					"gaussian": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(GaussianFor(dp.Rho(eps)*1000, sens, length))
						return m, m.exp, func(int) *big.Int { return twin{src}.gaussian(big1(m.dev)) }, nil
					},
					"gamma": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(GammaFor(eps, sens, length))
						return m, m.exp, nil, scaled(drawSpherical(src, length), m.scale)
					},
					"objective": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(ObjectiveFor(eps, sens, 0, length))
						return m, m.exp, nil, scaled(drawSpherical(src, length), m.scale)
					},
					"remainder": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(RemainderFor(eps, sens, length))
						return m, m.exp, nil, scaled(drawSpherical(src, length), m.scale)
					},
					"blocks": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(BlocksFor(eps, sens, sizes))
						return m, m.exp, nil, scaled(inBlocks(src, sizes), m.scale)
					},
					"objective blocks": func(src rng.Source) (Mechanism, int, func(int) *big.Int, []float64) {
						m := Sized(ObjectiveBlocksFor(eps, sens, 0, sizes))
						return m, m.exp, nil, scaled(inBlocks(src, sizes), m.scale)
					},
				}
				for kind, of := range noises {
					m, exp, noise, real := of(replay.Seeded(61, name))
					if m.Name() != kind {
						t.Fatalf("%s is called %s", kind, m.Name())
					}
					out := m.draw(replay.Seeded(61, name), values)
					for i, v := range values {
						sum := big.NewRat(v.Num, v.Den)
						var k *big.Int
						if noise != nil {
							k = step(sum, exp)
							k.Add(k, noise(i))
						} else {
							k = step(sum.Add(sum, new(big.Rat).SetFloat64(real[i])), exp)
						}
						if want := unstep(k, exp); out[i] != want {
							t.Fatalf("%s, ε = %s, sensitivity %g: number %d of %d, %v, leaves as %g, want %g", kind, eps, sens, i,
								length, v, out[i], want)
						}
					}
				}
			}
		}
	}
}

func scaled(x []float64, by float64) []float64 {
	for i := range x {
		x[i] *= by
	}
	return x
}

// pick is a selection by the book, from gaps in whole steps of the mechanism's grid.
func (s twin) pick(permute bool, c choice, scores []Ratio) int {
	var steps []*big.Int
	for _, v := range scores {
		steps = append(steps, step(big.NewRat(v.Num, v.Den), c.grid.exp))
	}
	best := slices.MaxFunc(steps, (*big.Int).Cmp)
	scale := new(big.Int).SetUint64(c.grid.scale)
	takes := func(i int) bool { return s.expCoin(new(big.Int).Sub(best, steps[i]), scale) }
	if !permute {
		for {
			if i := int(s.below(big.NewInt(int64(len(scores)))).Int64()); takes(i) {
				return i
			}
		}
	}
	var order []int
	for i := range scores {
		order = append(order, i)
	}
	for i := len(order) - 1; i > 0; i-- {
		j := int(s.below(big.NewInt(int64(i + 1))).Int64())
		order[i], order[j] = order[j], order[i]
	}
	return order[slices.IndexFunc(order, takes)]
}

// Selections are those by the book, however many candidates there are and however many of them have
// one score: ties are not broken by order.
func TestSelectionsAreTheirTwin(t *testing.T) {
	ex, pf := Sized(ExponentialFor(dp.Nano, 2)), Sized(PermuteAndFlipFor(dp.Nano, 2))
	for _, n := range []int{1, 2, 3, 7, 8, 9, 10, 16, 17, 33, 64, 65, 129, 1000} {
		for name, score := range map[string]func(i int) Ratio{
			"all tied":        func(int) Ratio { return Ratio{5, 3} },
			"tied in halves":  func(i int) Ratio { return Ratio{int64(i % 2), 1} },
			"the last tied":   func(i int) Ratio { return Ratio{min(int64(i), int64(n)-9), 1} },
			"tied unlike":     func(i int) Ratio { return Ratio{int64(i%7 + 1), int64(i%7 + 1)} },
			"of every size":   func(i int) Ratio { return someValues(n)[i] },
			"all but one low": func(i int) Ratio { return Ratio{-int64(min(i, 1)), 1} },
		} {
			scores := make([]Ratio, n)
			for i := range scores {
				scores[i] = score(i)
			}
			for k := range 20 {
				tape := fmt.Sprint(name, n, k)
				if got, want := ex.pick(replay.Seeded(62, tape), scores), (twin{replay.Seeded(62, tape)}).pick(false,
					ex.choice, scores); got != want {
					t.Fatalf("exponential, %d candidates, %s: %d, and %d by the book", n, name, got, want)
				}
				if got, want := pf.pick(replay.Seeded(62, tape), scores), (twin{replay.Seeded(62, tape)}).pick(true,
					pf.choice, scores); got != want {
					t.Fatalf("permute-and-flip, %d candidates, %s: %d, and %d by the book", n, name, got, want)
				}
			}
		}
	}
}
