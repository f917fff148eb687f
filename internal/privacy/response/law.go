// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Report is the message of an owner: a few small integers, whose meaning is the
// law's. Two reports that say the same are equal word by word.
type Report []uint32

// Priced is an owner's mechanism with its price.
type Priced interface {
	Name() string
	// Loss is the price of one answer, for everything it says about its owner.
	Loss() dp.Epsilon
}

// Estimator reads what the answers of many owners add up to.
type Estimator interface {
	Priced
	// Dim is the number of coordinates of the truth, or of its cells.
	Dim() int
	// Sum estimates, coordinate by coordinate, the sum of what the owners of the
	// counted answers hold.
	Sum(Tally) []float64
	// Variance is that of a coordinate's estimate by one answer, where the truth
	// is x: a coordinate in [-1, 1], or the weight in [0, 1] of a cell. The
	// choice of which coordinates are told is part of the variance.
	Variance(x float64) float64
	// Reach is the largest size of a coordinate of Sum for one answer: what one
	// owner, honest or not, can do to it.
	Reach() float64
}

// Law is one way to answer privately. A report about any truth is nearly as
// likely, within e^ε, for any other. The set of laws is closed.
type Law interface {
	Estimator
	// Words bounds the length of a report.
	Words() int
	// Check refuses what no owner who follows the protocol sends. It trusts
	// nothing about the report.
	Check(Report) error
	// Add counts a report that passed Check. The tally is NewTally's.
	Add(*Tally, Report)
	// Bias bounds the distance of a coordinate's expected estimate from the
	// truth, for one report: 0 for all laws but laplace.
	Bias() float64

	tally() (sums int)
}

// VectorLaw answers for a vector in [-1, 1]^Dim.
type VectorLaw interface {
	Law
	vector()
}

// CellLaw answers for one of Dim cells with a weight in [0, 1], or for none: a
// vector that is zero but in one place.
type CellLaw interface {
	Law
	cells()
}

// Tally is the sum of reports: integers, so that neither the order of
// reports nor the way they were divided among machines matters. It holds 2^31
// reports without overflow.
type Tally struct {
	Reports int64
	Sums    []int64
}

// NewTally is the tally of no reports.
func NewTally(l Law) Tally { return Tally{Sums: make([]int64, l.tally())} }

// Merge adds another tally of the same law.
func (t *Tally) Merge(o Tally) {
	t.Reports += o.Reports
	for i, s := range o.Sums {
		t.Sums[i] += s
	}
}

// Decode is the unbiased estimate that one report alone gives.
func Decode(l Law, r Report) []float64 {
	t := NewTally(l)
	l.Add(&t, r)
	return l.Sum(t)
}

var _ Estimator = Addend{}

// Event is an answer's line on its owner's bill.
func Event(release string, l Priced) dp.Event {
	return dp.Event{Release: release, Mechanism: l.Name(), Epsilon: l.Loss()}
}

// maxDim bounds coordinates and cells: what an untrusted peer can make us
// allocate.
const maxDim = 1 << 20

// maxPart is the largest ε that one coordinate, or one choice, is told at:
// beyond, the lie has a chance of 1e-14 and the report is the truth.
const maxPart = 32 * dp.Nano

func checkSize(op string, eps dp.Epsilon, param string, dim, most int) error {
	switch {
	case eps < 1 || eps > dp.MaxEpsilon:
		return &dp.ParamError{Op: op, Param: "epsilon", Want: "must be at least 1e-9 and at most " + dp.MaxEpsilon.String(),
			Got: eps}
	case dim < 1 || dim > most:
		return &dp.ParamError{Op: op, Param: param, Want: fmt.Sprintf("must be at least 1 and at most %d", most), Got: dim}
	}
	return nil
}

func checkPart(op string, part dp.Epsilon) error {
	switch {
	case part < 1:
		return &dp.ParamError{Op: op, Param: "epsilon", Want: "must leave at least 1e-9 to each coordinate that is told",
			Got: part}
	case part > maxPart:
		return &dp.ParamError{Op: op, Param: "epsilon",
			Want: "must leave at most 32 to each coordinate that is told: beyond, a report is the truth", Got: part}
	}
	return nil
}

// reportError is the error about a report that no one honest sends.
func reportError(l Law, format string, args ...any) error {
	return fmt.Errorf("response: %s: a report %s", l.Name(), fmt.Sprintf(format, args...))
}
