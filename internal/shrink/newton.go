// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// NewtonStep is by how much to change K parameters whose log-likelihood has these noisy slopes and
// curves. Curves are second derivatives, negated, row by row of the lower triangle, √2 times those
// beside the diagonal. Each number has noise of a deviation, and prior are the deviations of the
// changes before anything is known. The change is the mean of a normal law: the slopes are what the
// curves make of it, with their own noise and about that which noise in the curves adds where a
// change is as large as the prior has it. moved are the deviations by which noise alone moves the
// changes. Both are 0 where the numbers have no solution. Time O(K³).
func NewtonStep(slopes, curves []float64, slopeNoise, curveNoise float64, prior []float64) (change, moved []float64) {
	n := len(slopes)
	c := positivePart(n, curves)
	most := 0.0
	for _, p := range prior {
		most = math.Max(most, p)
	}
	variance := slopeNoise*slopeNoise + 3*curveNoise*curveNoise*most*most
	var told, all mat.Dense // what the slopes tell, and with the prior
	told.Mul(c, c)
	told.Scale(1/variance, &told)
	all.CloneFrom(&told)
	for i, p := range prior {
		all.Set(i, i, all.At(i, i)+1/(p*p))
	}
	change, moved = make([]float64, n), make([]float64, n)
	var open, side, cover mat.Dense
	var condition mat.Condition // large where much is known of one direction and little of another
	if err := open.Inverse(&all); err != nil && (!errors.As(err, &condition) || math.IsInf(float64(condition), 1)) {
		return change, moved
	}
	var right mat.VecDense
	right.MulVec(c, mat.NewVecDense(n, slopes))
	right.ScaleVec(1/variance, &right)
	right.MulVec(&open, &right)
	side.Mul(&open, &told)
	cover.Mul(&side, &open)
	for i := range n {
		change[i], moved[i] = right.AtVec(i), math.Sqrt(math.Max(0, cover.At(i, i)))
	}
	return change, moved
}

// positivePart is the matrix of curves without the directions in which noise alone makes it curve
// the other way.
func positivePart(n int, curves []float64) *mat.Dense {
	h, at := mat.NewSymDense(n, nil), 0
	for i := range n {
		for j := range i + 1 {
			x := curves[at]
			if j < i {
				x /= math.Sqrt2
			}
			h.SetSym(i, j, x)
			at++
		}
	}
	var eigen mat.EigenSym
	out := mat.NewDense(n, n, nil)
	if !eigen.Factorize(h, true) {
		return out
	}
	var vectors, scaled mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	scaled.Apply(func(_, j int, x float64) float64 { return x * math.Max(values[j], 0) }, &vectors)
	out.Mul(&scaled, vectors.T())
	return out
}
