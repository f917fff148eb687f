// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Perturb releases one owner's report about a vector. Coordinates outside [-1, 1] are clamped. It
// fails, and releases nothing, if the vector's length does not match the law or a coordinate is NaN.
// The bill's line is response.Event.
func (e *Exit) Perturb(label string, law response.VectorLaw, values []float64) (response.Report, error) {
	if len(values) != law.Dim() {
		return nil, &dp.ParamError{Op: law.Name(), Param: "values", Want: fmt.Sprintf("must have %d coordinates", law.Dim()),
			Got: len(values)}
	}
	for _, v := range values {
		if math.IsNaN(v) {
			return nil, notANumber(law)
		}
	}
	if e.tape != nil {
		ratios := make([]Ratio, len(values))
		for i, v := range values {
			ratios[i] = RatioOf(clampWeight(v, -1))
		}
		if r := e.tape.Report(label, law, ratios); r != nil {
			return r, nil
		}
	}
	switch l := law.(type) {
	case response.Sampled:
		return drawSampled(e.src, l, values), nil
	case response.Duchi:
		return drawDuchi(e.src, l, values), nil
	case response.Laplace:
		return drawNoisy(e.src, l, values), nil
	}
	panic("mech: no sampler for " + law.Name())
}

// PerturbCell releases one owner's report about a cell, or about no cell if cell is None. A weight
// outside [0, 1] is clamped. It fails, and releases nothing, if the cell does not exist or the weight
// is NaN.
func (e *Exit) PerturbCell(label string, law response.CellLaw, cell int, weight float64) (response.Report, error) {
	switch {
	case cell < None || cell >= law.Dim():
		return nil, &dp.ParamError{Op: law.Name(), Param: "cell",
			Want: fmt.Sprintf("must be at least 0 and below %d, or None", law.Dim())}
	case math.IsNaN(weight):
		return nil, notANumber(law)
	}
	if e.tape != nil {
		if r := e.tape.Report(label, law, []Ratio{{int64(cell), 1}, RatioOf(clampWeight(weight, 0))}); r != nil {
			return r, nil
		}
	}
	cell = thinCell(e.src, cell, weight)
	switch l := law.(type) {
	case response.OUE:
		return drawOUE(e.src, l, cell), nil
	case response.GRR:
		return drawGRR(e.src, l, cell), nil
	}
	panic("mech: no sampler for " + law.Name())
}

// None is the cell of an owner who is in none of the cells.
const None = -1

// notANumber does not identify the value, because it is private.
func notANumber(l response.Priced) error {
	return &dp.ParamError{Op: l.Name(), Param: "values", Want: "must be numbers: encode missing ones first"}
}

func clampWeight(v, lo float64) float64 { return min(max(v, lo), 1) }

// unit is 2^62, which represents 1 in the fixed-point probabilities of coins.
const unit = 1 << 62

// toUnit maps a number in [-1, 1] to the nearest multiple of 2^-61 in [0, 2], as a fixed-point number
// in [0, 2^62].
func toUnit(v float64) uint64 {
	return uint64(unit/2 + int64(math.RoundToEven(clampWeight(v, -1)*(unit/2))))
}

// roundToPoint rounds a number in [-1, 1] at random, without bias, to one of steps+1 points; steps is
// 2^bits.
func roundToPoint(src rng.Source, v float64, bits int) uint64 {
	u := toUnit(v)
	j := u >> (62 - bits)
	if src.Uint64()>>(2+bits) < u&(unit>>bits-1) {
		j++
	}
	return j
}

// flipCoin is true with probability p/2^62.
func flipCoin(src rng.Source, p uint64) bool { return src.Uint64()>>2 < p }

// thinCell keeps a cell with a probability equal to its weight, and otherwise returns None. The
// expected count of a cell is therefore the sum of weights.
func thinCell(src rng.Source, cell int, weight float64) int {
	if keep := uint64(clampWeight(weight, 0) * unit); !flipCoin(src, keep) { // 2^62·weight ≤ 2^62 is exact
		return None
	}
	return cell
}
