// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
)

// Threshold is the classifier that answers the positive label if Σ Coef·feature + Bias ≥ 0.
// Coefficients and bias lie in [-1, 1]. (Any linear classifier can be scaled so without changing an
// answer.)
//
// Scores are integers: each column's contribution is rounded to the space's grid before it is added
// (Space.Fixed). An answer therefore does not depend on the order of additions, the machine, or
// whether one row or a million are scored, and a trained model answers exactly as it was trained.
type Threshold struct {
	Bias float64   `json:"bias"`
	Coef []float64 `json:"coef"` // length Width of its Space
}

// Check refuses a classifier that does not fit the features of sp.
func (h *Threshold) Check(sp *Space) error {
	ok := len(h.Coef) == sp.Width() && h.Bias >= -1 && h.Bias <= 1
	for _, c := range h.Coef {
		ok = ok && c >= -1 && c <= 1
	}
	if !ok {
		return fmt.Errorf("feature: a classifier must have %d coefficients in [-1, 1]", sp.Width())
	}
	return nil
}

// fixedBits returns S, chosen so that (columns+1) contributions of at most 2^S add up to at most 2^30
// (scorer.go explains the spare bits).
func (sp *Space) fixedBits() uint {
	s := uint(30)
	for n := len(sp.Columns); n > 0; n >>= 1 {
		s--
	}
	return s
}

// Fixed rounds coef·value, a number in [-1, 1], to the grid 2^-S on which contributions are added. It
// returns the number of grid steps.
func (sp *Space) Fixed(coef, value float64) int32 {
	x := math.RoundToEven(float64(coef*value) * float64(int64(1)<<sp.fixedBits()))
	return int32(x)
}

// Slack is the distance from zero, in units of c's own scores, beyond which the sign of a
// floating-point score is c's answer. It is twice the largest effect of rounding the contributions to
// the grid.
func (sp *Space) Slack() float64 {
	return float64(len(sp.Columns)+1) / float64(int64(1)<<sp.fixedBits())
}

// Answers reports whether c answers positive for one row of coded columns. For
// many rows use a Scorer, whose answers are the same.
func (sp *Space) Answers(c Threshold, cols []column.Column, row int) bool {
	sum := int64(sp.Fixed(c.Bias, 1))
	for k, j := range sp.Columns {
		f, v := sp.Cell(k, &cols[j], int(cols[j].Codes.At(row)))
		sum += int64(sp.Fixed(c.Coef[f], v))
	}
	return sum >= 0
}
