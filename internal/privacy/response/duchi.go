// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math/big"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Duchi answers with a sign for each coordinate (Duchi, Jordan, Wainwright 2018). The vector is
// rounded at random, without bias, to signs v; a sign vector that agrees with v in more than half of
// the coordinates is reported with weight Inner, any other with weight Outer. Report: the signs as
// bits, 1 for plus, 32 to a word, coordinate 0 the lowest.
//
// Claim G-LOCAL-3. Inner/Outer ≤ e^ε, and by symmetry the weights add up to the same whatever v is: a
// report is (ε, 0)-DP. In even dimensions the published mechanism draws ties from either half, at a
// loss of ln(1+e^ε); here a tie has the weight Outer.
type Duchi struct {
	eps          dp.Epsilon
	dim          int
	Inner, Outer uint64
	scale        float64 // B: the estimate is B·sign
}

// maxSigns bounds the dimension. In higher dimensions, sampling coordinates is as accurate.
const maxSigns = 1 << 13

// DuchiFor makes the mechanism.
func DuchiFor(eps dp.Epsilon, dim int) (Duchi, error) {
	const op = "duchi"
	if err := checkSize(op, eps, "dim", dim, maxSigns); err != nil {
		return Duchi{}, err
	}
	if err := checkPart(op, eps); err != nil {
		return Duchi{}, err
	}
	l := Duchi{eps: eps, dim: dim}
	l.Inner, l.Outer = weightsFor(eps, 1)
	l.scale = nearestRatio(l.totalWeight(), l.meanGain())
	return l, nil
}

// totalWeight is the sum of the weights of all 2^dim sign vectors.
func (l Duchi) totalWeight() *big.Int {
	all := new(big.Int).Lsh(big.NewInt(1), uint(l.dim))
	agree := new(big.Int).Set(all) // twice the vectors that mostly agree
	if l.dim%2 == 0 {
		agree.Sub(agree, new(big.Int).Binomial(int64(l.dim), int64(l.dim/2)))
	}
	agree.Rsh(agree, 1)
	return agree.Mul(agree, bigOf(l.Inner-l.Outer)).Add(agree, all.Mul(all, bigOf(l.Outer)))
}

// meanGain is total times the mean of v_j·report_j, which is the same for every j. Over the vectors
// that agree in more than half, Σ_m C(d,m)·(2m-d)/d = C(d-1, ⌊d/2⌋). The other vectors contribute the
// negative of it, with the smaller weight.
func (l Duchi) meanGain() *big.Int {
	g := new(big.Int).Binomial(int64(l.dim-1), int64(l.dim/2))
	return g.Mul(g, bigOf(l.Inner-l.Outer)) // 3.3
}

func (l Duchi) Name() string               { return "duchi" }
func (l Duchi) Loss() dp.Epsilon           { return l.eps }
func (l Duchi) Dim() int                   { return l.dim }
func (l Duchi) Words() int                 { return wordCount(l.dim) }
func (l Duchi) Bias() float64              { return 0 }
func (l Duchi) Variance(x float64) float64 { return l.scale*l.scale - x*x }
func (l Duchi) Reach() float64             { return l.scale }
func (l Duchi) vector()                    {}
func (l Duchi) tally() int                 { return l.dim }

// Check implements Law.
func (l Duchi) Check(r Report) error { return checkBits(l, r) }

// Add implements Law.
func (l Duchi) Add(t *Tally, r Report) { addBits(t, r) }

// Sum implements Law.
func (l Duchi) Sum(t Tally) []float64 {
	out := make([]float64, l.dim)
	for j, plus := range t.Sums {
		out[j] = l.scale * float64(2*plus-t.Reports)
	}
	return out
}

// wordCount returns the number of words that hold n bits.
func wordCount(n int) int { return (n + 31) / 32 }

// checkBits requires that only bits of the law's coordinates are set.
func checkBits(l Law, r Report) error {
	if len(r) != l.Words() {
		return reportError(l, "has %d words, not %d", len(r), l.Words())
	}
	if used := l.Dim() % 32; used != 0 && r[len(r)-1]>>used != 0 {
		return reportError(l, "sets a bit beyond the first %d", l.Dim())
	}
	return nil
}

// addBits counts how often each bit is set.
func addBits(t *Tally, r Report) {
	t.Reports++
	for i, w := range r {
		for ; w != 0; w &= w - 1 {
			t.Sums[32*i+bits.TrailingZeros32(w)]++
		}
	}
}
