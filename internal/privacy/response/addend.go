// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Addend is one owner's term of a secret sum (package secsum): a vector, or a few of many cells,
// rounded at random to Steps+1 points, plus a share of noise. It is not a Law: by itself it is nearly
// the truth, and only the sum of the addends of at least Survivors honest owners may be revealed.
//
// Claim G-SECSUM-3. The shares of noise of Survivors owners add up to discrete Laplace noise of scale
// Scale, exactly, and two truths are at most Scale·ε steps apart: the sum is (ε, Delta)-DP for each
// owner, against everyone who knows it and the data of all other owners except Survivors-1.
//
// The coordinates of an addend are numbers of steps in 0..Top. Zero stands for 96 scales below the
// range of true values. Values outside are clamped.
type Addend struct {
	eps       dp.Epsilon
	dim       int
	owners    int
	cells     int // largest number of cells of one owner; 0 for vectors
	Survivors int
	Steps     uint64 // number of steps in a coordinate's range, a power of two
	Scale     uint64 // of the noise, in steps
}

// cutScales is the point, in scales, at which a share of noise is clamped. It exceeds this with a
// probability of less than 2·e^-96, which is the only contribution to Delta.
const cutScales = 96

// ShortAddendFor makes the addends of vectors in [-1, 1]^dim, if any two possible vectors of one owner
// have an L1 distance of at most l1. At least survivors of the owners must be honest and included in
// the sum. For example, vectors of length at most r have an L1 distance of at most 2r√dim, compared
// with 2·dim for all vectors in the range. The owner must ensure that its vector is among those.
func ShortAddendFor(eps dp.Epsilon, dim int, l1 float64, owners, survivors int) (Addend, error) {
	if !(l1 > 0 && l1 <= 2*float64(dim)) {
		return Addend{}, dp.Refuse("addend", "l1", "must be > 0 and at most twice the number of coordinates", l1)
	}
	// Rounding by one random fraction a coordinate, whatever the truth, moves
	// each by at most a step more (3.3).
	return addendFor(eps, dim, owners, survivors, 0, func(steps uint64) uint64 {
		return uint64(math.Ceil(l1/2*float64(steps)*(1+0x1p-40))) + uint64(dim)
	})
}

// CellAddendFor makes the addends of owners who are each in at most most of dim cells, with one weight
// in [0, 1]. The cells may be those of several tables, one after another, with one cell per owner in
// each.
func CellAddendFor(eps dp.Epsilon, dim, most, owners, survivors int) (Addend, error) {
	if most < 1 || most > dim {
		return Addend{}, dp.Refuse("addend", "most", "must be at least 1 and at most the number of cells", most)
	}
	return addendFor(eps, dim, owners, survivors, most, func(steps uint64) uint64 {
		return uint64(min(dim, 2*most)) * steps
	})
}

// addendFor chooses the coarsest grid for which rounding adds less than a hundredth to the variance of
// the sum, and less than a fifteenth to the distance of two true values. A coordinate's rounding has a
// variance of at most owners/4 steps², its noise one of 2·Scale², and Scale ≥ 4√owners. A finer grid
// would be slow, because a share of noise takes about 2·Scale coins. apart returns the distance in
// steps.
func addendFor(eps dp.Epsilon, dim, owners, survivors, cells int, apart func(steps uint64) uint64) (Addend, error) {
	const op, widest, finest = "addend", 1 << 20, 1 << 16
	if err := checkSize(op, eps, "dim", dim, maxDim); err != nil {
		return Addend{}, err
	}
	switch {
	case eps > maxPart:
		return Addend{}, dp.Refuse(op, "epsilon", "must be at most 32", eps)
	case owners < 2 || owners > 1<<24:
		return Addend{}, dp.Refuse(op, "owners", "must be at least 2 and at most 2^24", owners)
	case survivors < 1 || survivors > owners:
		return Addend{}, dp.Refuse(op, "survivors", "must be at least 1 and at most the number of owners", survivors)
	}
	l := Addend{eps: eps, dim: dim, owners: owners, cells: cells, Survivors: survivors}
	enough := uint64(max(256, math.Ceil(4*math.Sqrt(float64(owners)))))
	for l.Steps = 1; ; l.Steps *= 2 {
		hi, lo := bits.Mul64(apart(l.Steps), dp.Nano)
		scale, rest := bits.Div64(hi, lo, uint64(eps))
		if rest > 0 {
			scale++ // 3.1
		}
		switch l.Scale = scale; {
		case scale > widest:
			return Addend{}, dp.Refuse(op, "epsilon",
				"must be larger for so many coordinates: the noise would leave the grid", eps)
		case scale >= enough && 31*apart(l.Steps) <= 16*apart(2*l.Steps) || l.Steps == finest:
			return l, nil
		}
	}
}

func (l Addend) Name() string     { return "shared laplace" }
func (l Addend) Loss() dp.Epsilon { return l.eps }
func (l Addend) Dim() int         { return l.dim }

// Cells is the largest number of cells of one owner, 0 for addends of vectors.
func (l Addend) Cells() int { return l.cells }

// Top is the largest coordinate of an addend: a secret sum's Range is Top+1.
func (l Addend) Top() uint64 { return l.Steps + 2*cutScales*l.Scale }

// Delta bounds the δ of the claim: (1+e^ε) times the probability that any owner's noise is clamped.
func (l Addend) Delta() float64 {
	return (1 + math.Exp(l.eps.Float())) * 2 * float64(l.owners) * float64(l.dim) * math.Exp(-cutScales)
}

// Total turns a secret sum of the addends of the given number of owners into a tally.
func Total(sums []uint64, owners int) Tally {
	t := Tally{Reports: int64(owners), Sums: make([]int64, len(sums))}
	for j, s := range sums {
		t.Sums[j] = int64(s) // below 2^63: a secret sum leaves room for itself
	}
	return t
}

// Sum implements Estimator, for a Total.
func (l Addend) Sum(t Tally) []float64 {
	out := make([]float64, len(t.Sums))
	for j, s := range t.Sums {
		if l.cells > 0 {
			out[j] = float64(s-t.Reports*cutScales*int64(l.Scale)) / float64(l.Steps)
		} else {
			out[j] = float64(2*s-t.Reports*int64(l.Top())) / float64(l.Steps)
		}
	}
	return out
}

// gridStep is the distance of neighbouring points of the grid.
func (l Addend) gridStep() float64 {
	if l.cells > 0 {
		return 1 / float64(l.Steps)
	}
	return 2 / float64(l.Steps)
}

// Variance implements Estimator. It is the variance of one owner's share of the noise, 1/Survivors of
// discrete Laplace noise, and of its rounding.
func (l Addend) Variance(x float64) float64 {
	r, gap := math.Exp(-1/float64(l.Scale)), -math.Expm1(-1/float64(l.Scale))
	_, f := math.Modf((x + 1) / l.gridStep())
	return l.gridStep() * l.gridStep() * (2*r/(gap*gap)/float64(l.Survivors) + f*(1-f))
}

// Reach implements Estimator. It is the influence that a proof of range would allow; without a proof
// the influence of one owner is unbounded.
func (l Addend) Reach() float64 {
	highest := Tally{1, []int64{1<<bits.Len64(l.Top()) - 1}}
	return max(l.Sum(highest)[0], -l.Sum(Tally{1, []int64{0}})[0])
}
