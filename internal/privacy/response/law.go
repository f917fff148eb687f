// SPDX-License-Identifier: Apache-2.0

package response

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Report is the message of an owner: a few small integers, whose meaning depends on the law. Two
// reports with the same meaning are equal word by word.
type Report []uint32

// Priced is an owner's mechanism with its price.
type Priced interface {
	Name() string
	// Loss is the price of one answer, for all information about its owner.
	Loss() dp.Epsilon
}

// Estimator estimates sums over many owners from their answers.
type Estimator interface {
	Priced
	// Dim is the number of coordinates, or of cells.
	Dim() int
	// Sum estimates, for each coordinate, the sum of the true values of the owners whose answers are
	// counted.
	Sum(Tally) []float64
	// Variance is the variance of a coordinate's estimate from one answer if the true value is x: a
	// coordinate in [-1, 1], or the weight in [0, 1] of a cell. It includes the random choice of the
	// reported coordinates.
	Variance(x float64) float64
	// Reach is the largest absolute value of a coordinate of Sum for one answer. It bounds the
	// influence of one owner, honest or not.
	Reach() float64
}

// Law is one way to answer privately: the probabilities of a report under any two true values differ
// by at most a factor e^ε. The set of laws is closed.
type Law interface {
	Estimator
	// Words bounds the length of a report.
	Words() int
	// Check refuses reports that an owner who follows the protocol cannot send. It assumes nothing
	// about the report.
	Check(Report) error
	// Add counts a report that passed Check. The tally must come from NewTally.
	Add(*Tally, Report)
	// Bias bounds the difference between a coordinate's expected estimate and the true value, for one
	// report: 0 for all laws except laplace.
	Bias() float64

	tally() (sums int)
}

// VectorLaw answers for a vector in [-1, 1]^Dim.
type VectorLaw interface {
	Law
	vector()
}

// CellLaw answers for one of Dim cells with a weight in [0, 1], or for none: a vector with at most one
// non-zero coordinate.
type CellLaw interface {
	Law
	cells()
}

// Tally is the sum of reports. It holds integers, so that neither the order of reports nor their
// distribution over machines matters. It holds 2^31 reports without overflow.
type Tally struct {
	Reports int64
	Sums    []int64
}

// NewTally returns the tally of no reports.
func NewTally(l Law) Tally { return Tally{Sums: make([]int64, l.tally())} }

// Merge adds another tally of the same law.
func (t *Tally) Merge(o Tally) {
	t.Reports += o.Reports
	for i, s := range o.Sums {
		t.Sums[i] += s
	}
}

// Decode returns the unbiased estimate from a single report.
func Decode(l Law, r Report) []float64 {
	t := NewTally(l)
	l.Add(&t, r)
	return l.Sum(t)
}

var _ Estimator = Addend{}

// Event returns the line of an answer on its owner's bill.
func Event(release string, l Priced) dp.Event {
	return dp.Event{Release: release, Mechanism: l.Name(), Epsilon: l.Loss()}
}

// maxDim bounds the number of coordinates and cells, and so the memory that an untrusted peer can make
// us allocate.
const maxDim = 1 << 20

// maxPart is the largest ε for one coordinate or one choice. Beyond it, a false answer has a
// probability of 1e-14 and the report is the truth.
const maxPart = 32 * dp.Nano

func checkSize(op string, eps dp.Epsilon, param string, dim, most int) error {
	switch {
	case eps < 1 || eps > dp.MaxEpsilon:
		return dp.Refuse(op, "epsilon", "must be at least 1e-9 and at most "+dp.MaxEpsilon.String(), eps)
	case dim < 1 || dim > most:
		return dp.Refuse(op, param, fmt.Sprintf("must be at least 1 and at most %d", most), dim)
	}
	return nil
}

func checkPart(op string, part dp.Epsilon) error {
	switch {
	case part < 1:
		return dp.Refuse(op, "epsilon", "must leave at least 1e-9 to each coordinate that is told", part)
	case part > maxPart:
		return dp.Refuse(op, "epsilon",
			"must leave at most 32 to each coordinate that is told: beyond, a report is the truth", part)
	}
	return nil
}

// reportError is the error for a report that no honest owner sends.
func reportError(l Law, format string, args ...any) error {
	return fmt.Errorf("response: %s: a report %s", l.Name(), fmt.Sprintf(format, args...))
}
