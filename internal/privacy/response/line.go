// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Line is the law of a report about one number in [-1, 1]. The number is first rounded at random,
// without bias, to one of Steps+1 points, j = 0..Steps. Then one of Steps+Width cells is reported:
// each cell of the window j..j+Width-1 has the weight Inner, and each other cell the weight Outer.
//
// Claim G-LOCAL-1. Inner/Outer ≤ e^ε, and the weights of all cells add up to Total for any j: the
// probabilities of a cell under any two numbers differ by at most a factor e^ε. The mean of
// Half·(2·cell - Cells + 1) is exactly the number.
type Line struct {
	Steps, Width uint64
	Inner, Outer uint64
}

// inputBits is the logarithm of the number of steps of the piecewise mechanism's input grid. Rounding
// to it adds at most 2^-32 to a variance, which is negligible.
const inputBits = 16

// piecewiseLine is the piecewise mechanism (Wang et al. ICDE 2019, Algorithm 2; Wang and Chang Alg. 3)
// on cells. The window has the width that minimises the variance, a share 1/E of the steps with E =
// e^{ε/2}, and contains the report with probability E/(E+1).
func piecewiseLine(eps dp.Epsilon) Line {
	e := expFixed(eps, 2)
	n := e.BitLen() - expBits // E < 2^n
	// Width ≤ Steps/E + 1, so Total ≤ Outer·(Steps + E·Steps + E²), below 2^62.
	a, b := weightsFor(eps, max(inputBits+n, 2*n))
	width := new(big.Int).Lsh(big.NewInt(1), inputBits+expBits+1)
	width.Quo(width, e).Add(width, big.NewInt(1)).Rsh(width, 1) // nearest
	return Line{Steps: 1 << inputBits, Width: max(width.Uint64(), 1), Inner: a, Outer: b}
}

// duchiLine is Duchi's mechanism: two cells, two input points, a window of one.
func duchiLine(eps dp.Epsilon) Line {
	a, b := weightsFor(eps, 1)
	return Line{Steps: 1, Width: 1, Inner: a, Outer: b}
}

// Cells is the number of cells.
func (l Line) Cells() uint64 { return l.Steps + l.Width }

// Total is the sum of the cells' weights; it is below 2^62.
func (l Line) Total() uint64 { return l.Width*l.Inner + l.Steps*l.Outer }

// Half is half the distance between neighbouring cells' values.
//
// The cells' offsets 2·cell - Cells + 1 add up to 0, so only the window's surplus weight Inner-Outer
// affects the mean. Its Width cells are centred on 2j - Steps, which is Steps times the rounded
// number.
func (l Line) Half() float64 { return nearestRatio(bigOf(l.Total()), l.meanGain()) } // 1.3

// meanGain is (Inner-Outer)·Width·Steps. The mean offset is the number times meanGain/Total.
func (l Line) meanGain() *big.Int {
	g := bigOf(l.Inner - l.Outer)
	return g.Mul(g, bigOf(l.Width)).Mul(g, bigOf(l.Steps))
}

// cellOffset is the value of a cell, in units of Half.
func (l Line) cellOffset(cell uint64) int64 { return 2*int64(cell) - int64(l.Cells()) + 1 }

// meanSquare is the mean of the squared value if the true number is x: the variance is meanSquare(x) -
// x². The sum of squared offsets is N(N²-1)/3 over all cells, and W(W²-1)/3 + W(2j-Steps)² over the
// window.
func (l Line) meanSquare(x float64) float64 {
	n, w, total, half := float64(l.Cells()), float64(l.Width), float64(l.Total()), l.Half()
	inner, outer, steps := float64(l.Inner), float64(l.Outer), float64(l.Steps)
	_, f := math.Modf((x + 1) / 2 * steps)
	rounded := x*x + f*(1-f)*4/(steps*steps) // mean square of the rounded number
	spread := outer*n*(n*n-1)/3 + (inner-outer)*w*(w*w-1)/3
	return half*half*spread/total + half*steps*rounded
}

func (l Line) largestValue() float64 { return l.Half() * float64(l.Cells()-1) }
