// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Line is the law of a report about one number in [-1, 1]. The number is first
// rounded at random, without bias, to one of Steps+1 points, j = 0..Steps. Then
// one of Steps+Width cells is reported: each cell of the window j..j+Width-1
// with weight Inner, each other with weight Outer.
//
// Claim G-LOCAL-1. Inner/Outer ≤ e^ε, and the weights of all cells add up to
// Total whatever j is: any two numbers give any cell with probabilities within
// a factor e^ε. Half·(2·cell - Cells + 1) has the number as its mean, exactly.
type Line struct {
	Steps, Width uint64
	Inner, Outer uint64
}

// inputBits: the input grid of the piecewise mechanism has 2^inputBits steps.
// What rounding to it adds to a variance, at most 2^-32, vanishes beside that
// of any report worth the name.
const inputBits = 16

// piecewiseLine is the piecewise mechanism (Wang et al. ICDE 2019, Algorithm 2;
// Wang and Chang Alg. 3) on cells: the window has the width that minimises
// the variance, a share 1/E of the steps, E = e^{ε/2}, and then holds the
// report with probability E/(E+1).
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
// The cells' offsets 2·cell - Cells + 1 add up to 0, so only the window's
// surplus Inner-Outer shows in the mean: its Width cells are centred on
// 2j - Steps, which is Steps times the rounded number.
func (l Line) Half() float64 { return nearestRatio(bigOf(l.Total()), l.meanGain()) } // 1.3

// meanGain is (Inner-Outer)·Width·Steps: the mean offset is the number times
// gain/Total.
func (l Line) meanGain() *big.Int {
	g := bigOf(l.Inner - l.Outer)
	return g.Mul(g, bigOf(l.Width)).Mul(g, bigOf(l.Steps))
}

// cellOffset is the weight of a cell, in halves.
func (l Line) cellOffset(cell uint64) int64 { return 2*int64(cell) - int64(l.Cells()) + 1 }

// meanSquare is the mean of the squared value where the truth is x: the variance is
// square(x) - x². Over all cells offsets squared add up to N(N²-1)/3, over the
// window to W(W²-1)/3 + W(2j-Steps)².
func (l Line) meanSquare(x float64) float64 {
	n, w, total, half := float64(l.Cells()), float64(l.Width), float64(l.Total()), l.Half()
	inner, outer, steps := float64(l.Inner), float64(l.Outer), float64(l.Steps)
	_, f := math.Modf((x + 1) / 2 * steps)
	rounded := x*x + f*(1-f)*4/(steps*steps) // mean square of the rounded number
	spread := outer*n*(n*n-1)/3 + (inner-outer)*w*(w*w-1)/3
	return half*half*spread/total + half*steps*rounded
}

func (l Line) largestValue() float64 { return l.Half() * float64(l.Cells()-1) }
