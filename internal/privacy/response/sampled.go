// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Sampled reports a few coordinates of a vector, chosen at random, each by a Line at an equal part of
// ε. The estimate of a reported coordinate is multiplied by Dim/Told. Report: Told pairs of a
// coordinate and a cell, coordinates ascending.
//
// Claim G-LOCAL-2. The choice of the reported coordinates does not depend on the vector, and each
// costs at most ε/Told, so that a report is (ε, 0)-DP for the whole vector.
type Sampled struct {
	name string
	eps  dp.Epsilon
	dim  int
	Told int // k of the papers
	// A coordinate is reported by the first line with probability First/2^62, otherwise by the second,
	// whose cells are numbered after the first's. With one line, First is 2^62.
	Lines []Line
	First uint64
	half  []float64 // of the lines
}

// PiecewiseFor is the piecewise mechanism for a vector (Wang et al. 2019 Algorithm 4; Wang and Chang
// Alg. 4) with the number of reported coordinates that minimises the worst variance, k = max(1,
// min(dim, ⌊ε/2.5⌋)).
func PiecewiseFor(eps dp.Epsilon, dim int) (Sampled, error) {
	return PiecewiseTelling(eps, dim, toldFor(eps, dim))
}

// PiecewiseTelling reports the given number of coordinates.
func PiecewiseTelling(eps dp.Epsilon, dim, told int) (Sampled, error) {
	s, part, err := newSampled("piecewise", eps, dim, told)
	if err != nil {
		return Sampled{}, err
	}
	return s.withFirst(whole, piecewiseLine(part)), nil
}

// HybridFor mixes Duchi's mechanism and the piecewise one for each coordinate (Wang et al. 2019,
// section III-C). Its worst variance never exceeds that of either. The random choice does not depend
// on the vector.
func HybridFor(eps dp.Epsilon, dim int) (Sampled, error) {
	return HybridTelling(eps, dim, toldFor(eps, dim))
}

// HybridTelling reports the given number of coordinates.
func HybridTelling(eps dp.Epsilon, dim, told int) (Sampled, error) {
	s, part, err := newSampled("hybrid", eps, dim, told)
	switch {
	case err != nil:
		return Sampled{}, err
	case part <= hybridFloor:
		return s.withFirst(whole, duchiLine(part)), nil
	}
	// Duchi's mechanism with probability e^{-ε/2}, rounded down.
	coin := new(big.Int).Lsh(big.NewInt(1), 62+expBits)
	return s.withFirst(coin.Quo(coin, expFixed(part, 2)).Uint64(), duchiLine(part), piecewiseLine(part)), nil
}

// hybridFloor is ε*: at a smaller ε, Duchi's mechanism alone has the smallest worst variance. ln((-5 +
// 2·∛(6353 - 405√241) + 2·∛(6353 + 405√241))/27) = 0.60935….
const hybridFloor dp.Epsilon = 609_352_493

func toldFor(eps dp.Epsilon, dim int) int {
	return max(1, min(dim, int(eps/(5*dp.Nano/2))))
}

// newSampled checks the parameters and returns a coordinate's part of ε, rounded down.
func newSampled(name string, eps dp.Epsilon, dim, told int) (Sampled, dp.Epsilon, error) {
	if err := checkSize(name, eps, "dim", dim, maxDim); err != nil {
		return Sampled{}, 0, err
	}
	if told < 1 || told > dim {
		return Sampled{}, 0, dp.Refuse(name, "told",
			fmt.Sprintf("must be at least 1 and at most %d, the number of coordinates", dim), told)
	}
	part := eps / dp.Epsilon(told) // 2.1
	return Sampled{name: name, eps: eps, dim: dim, Told: told}, part, checkPart(name, part)
}

func (l Sampled) withFirst(first uint64, lines ...Line) Sampled {
	l.First, l.Lines = first, lines
	for _, line := range lines {
		l.half = append(l.half, line.Half())
	}
	return l
}

func (l Sampled) Name() string     { return l.name }
func (l Sampled) Loss() dp.Epsilon { return l.eps }
func (l Sampled) Dim() int         { return l.dim }
func (l Sampled) Words() int       { return 2 * l.Told }
func (l Sampled) Bias() float64    { return 0 }
func (l Sampled) vector()          {}
func (l Sampled) tally() int       { return l.dim * len(l.Lines) }

func (l Sampled) countCells() (n uint64) {
	for _, line := range l.Lines {
		n += line.Cells()
	}
	return n
}

// Check implements Law.
func (l Sampled) Check(r Report) error {
	if len(r) != l.Words() {
		return reportError(l, "has %d words, not %d", len(r), l.Words())
	}
	for i := 0; i < len(r); i += 2 {
		switch {
		case uint64(r[i]) >= uint64(l.dim):
			return reportError(l, "names coordinate %d of %d", r[i], l.dim)
		case i > 0 && r[i] <= r[i-2]:
			return reportError(l, "names coordinate %d after %d", r[i], r[i-2])
		case uint64(r[i+1]) >= l.countCells():
			return reportError(l, "names cell %d of %d", r[i+1], l.countCells())
		}
	}
	return nil
}

// Add implements Law.
func (l Sampled) Add(t *Tally, r Report) {
	t.Reports++
	for i := 0; i < len(r); i += 2 {
		at, cell, line := int(r[i]), uint64(r[i+1]), 0
		if first := l.Lines[0].Cells(); cell >= first {
			cell, line = cell-first, 1
		}
		t.Sums[at*len(l.Lines)+line] += l.Lines[line].cellOffset(cell)
	}
}

// Sum implements Law.
func (l Sampled) Sum(t Tally) []float64 {
	out := make([]float64, l.dim)
	for j := range out {
		for i, half := range l.half {
			out[j] += half * float64(t.Sums[j*len(l.Lines)+i])
		}
		out[j] *= l.untoldFactor() // 2.2
	}
	return out
}

// untoldFactor corrects for the coordinates that are not reported.
func (l Sampled) untoldFactor() float64 { return float64(l.dim) / float64(l.Told) }

// Variance implements Law.
func (l Sampled) Variance(x float64) float64 {
	share := float64(l.First) / whole
	square := share * l.Lines[0].meanSquare(x)
	if len(l.Lines) > 1 {
		square += (1 - share) * l.Lines[1].meanSquare(x)
	}
	return l.untoldFactor()*square - x*x
}

// Reach implements Law.
func (l Sampled) Reach() (most float64) {
	for _, line := range l.Lines {
		most = max(most, line.largestValue())
	}
	return l.untoldFactor() * most
}
