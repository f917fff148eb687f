// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// LossQuestion asks for a Loss, its gradient and its Hessian at Coef, which has the intercept last,
// summed over rows of Space that are shaped by Rows. The label must be binary.
type LossQuestion struct {
	Space       *feature.Space
	Loss        Loss
	Rows        Rows
	Coef        []float64
	Value, Hess bool // whether the loss itself and its Hessian are requested
	// Halvings selects a sample of the rows, about one in 2^Halvings: see Margins.Sample.
	Halvings int
}

// ExactSums is LossSums in whole numbers: addition is exact, and hence the same for any order of the
// rows. A row's numbers are rounded before they are added, in units that depend on the question alone.
type ExactSums struct {
	Rows  uint64 // number of rows
	Whole Wide   // of the losses, integer part
	Part  Wide   // of the losses, fractional part
	Grad  []Wide // the intercept last
	Hess  []Wide // the upper triangle, row by row; nil if not requested
}

// Add adds the sums over other rows.
func (s *ExactSums) Add(t *ExactSums) {
	s.Rows += t.Rows
	s.Whole.Add(t.Whole)
	s.Part.Add(t.Part)
	for i := range t.Grad {
		s.Grad[i].Add(t.Grad[i])
	}
	for i := range t.Hess {
		s.Hess[i].Add(t.Hess[i])
	}
}

// Wide is a 128-bit integer, High·2^64 + Low.
type Wide struct {
	High int64
	Low  uint64
}

// WideOf converts x.
func WideOf(x int64) Wide { return Wide{x >> 63, uint64(x)} }

// Add adds v.
func (w *Wide) Add(v Wide) {
	low, carry := bits.Add64(w.Low, v.Low, 0)
	high, _ := bits.Add64(uint64(w.High), uint64(v.High), carry)
	w.High, w.Low = int64(high), low
}

// AddProduct adds a·b.
func (w *Wide) AddProduct(a, b int64) {
	high, low := bits.Mul64(uint64(a), uint64(b))
	high -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
	w.Add(Wide{int64(high), low})
}

// Float returns w·2^exp, with a relative error of 2^-52.
func (w Wide) Float(exp int) float64 {
	sign := 1.0
	if w.High < 0 {
		sign = -1
		low, borrow := bits.Sub64(0, w.Low, 0)
		w.High, w.Low = int64(-uint64(w.High)-borrow), low
	}
	return sign * (math.Ldexp(float64(uint64(w.High)), exp+64) + math.Ldexp(float64(w.Low), exp))
}

// The units to which rows' numbers are rounded, as exponents of two.
const (
	// FeatureExp is the exponent of the unit of features, which are in [-1, 1].
	FeatureExp = -40
	// SlopeBits is the minimum number of units, as a logarithm, of the longest possible row's slopes.
	SlopeBits = 47
	// CurveBits is the same for second derivatives.
	CurveBits = 37
	// PartExp is the exponent of the unit of ExactSums.Part.
	PartExp = -47
)

// LossUnits are the units of the ExactSums of a question.
type LossUnits struct {
	Short        bool    // rows may be clipped one by one; otherwise they are only multiplied by Scale
	Scale        float64 // factor of sums for a gradient; its square is the factor for a Hessian
	Slope, Curve int     // exponents of the units of slopes and second derivatives
}

// UnitsOf returns the units of losses of rows with weights of at most most.
func UnitsOf(sp *feature.Space, l Loss, r Rows, most float64) LossUnits {
	u, longest := LossUnits{Scale: r.Scale}, 1.0
	if u.Short = r.Scale*math.Sqrt(float64(len(sp.Columns)+1)) > r.Norm; u.Short {
		u.Scale, longest = 1, r.Scale
	}
	_, slope := math.Frexp(most * longest)
	_, curve := math.Frexp(most * longest * longest * l.Curvature())
	u.Slope, u.Curve = slope-SlopeBits, curve-CurveBits
	return u
}

// Largest returns the largest possible weight of a row.
func (r Rows) Largest() float64 {
	most := 0.0
	for _, w := range r.Weights {
		most = max(most, w)
	}
	if r.Weights == nil {
		most = 1
	}
	return most
}

// maxReach bounds the scores that can be added up exactly.
const maxReach = 0x1p900

// Bounded reports whether scores with these coefficients can be added up: they, and all sums, are
// finite.
func Bounded(sp *feature.Space, coef []float64) bool {
	d := len(coef) - 1
	return sp.Reach(coef[:d])+math.Abs(coef[d]) < maxReach
}

// Floats converts the sums that answer q, with units UnitsOf(q); the result is NaN if scores are not
// Bounded.
func (s *ExactSums) Floats(q *LossQuestion, u LossUnits) *LossSums {
	dim := len(q.Coef)
	out := &LossSums{Rows: s.Rows, Loss: s.Whole.Float(0) + s.Part.Float(PartExp), Grad: make([]float64, dim)}
	unit := u.Scale
	if !Bounded(q.Space, q.Coef) {
		unit, out.Loss = math.NaN(), math.NaN()
	}
	for i := range out.Grad {
		out.Grad[i] = s.Grad[i].Float(u.Slope+FeatureExp) * unit
	}
	if !q.Hess {
		return out
	}
	out.Hess = make([]float64, dim*dim)
	at := 0
	for i := range dim {
		for j := i; j < dim; j++ {
			h := s.Hess[at].Float(u.Curve) * (unit * u.Scale)
			out.Hess[i*dim+j], out.Hess[j*dim+i] = h, h
			at++
		}
	}
	return out
}

// HalvingsFor returns how often the given number of rows must be halved to leave about as many as
// wanted, or more.
func HalvingsFor(rows, wanted int) (halvings int) {
	for ; rows/2 >= max(1, wanted) && halvings < MaxHalvings; halvings++ {
		rows /= 2
	}
	return halvings
}

// MaxHalvings is the largest number of halvings of a sample.
const MaxHalvings = 32

// CheckLength requires one coefficient for each feature, and one for the intercept.
func CheckLength(sp *feature.Space, coef []float64) error {
	if len(coef) != sp.Width()+1 {
		return fmt.Errorf("engine: losses: coef must have %d numbers, one per feature and the intercept (got %d)",
			sp.Width()+1, len(coef))
	}
	return nil
}
