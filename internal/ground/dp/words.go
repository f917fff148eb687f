// SPDX-License-Identifier: Apache-2.0

package dp

import (
	"fmt"
	"strings"
)

// Relation defines which two tables are neighbours.
type Relation string

const (
	// ReplaceOne: both tables have the same number of rows, and differ in the protected part of one
	// row. The number of rows is public.
	ReplaceOne Relation = "replace-one"
	// AddRemove: one table has one row that the other lacks. The number of rows is private.
	AddRemove Relation = "add-remove"
)

// Scope is the part of a row that the guarantee protects.
type Scope string

const (
	// PrivateFeatures: the private columns of a row; the label and public columns are not protected
	// (Shen et al., Algorithm 2).
	PrivateFeatures Scope = "private features"
	// WholeRow: every feature and the label (Shen et al., Algorithm 3).
	WholeRow Scope = "whole row"
	// FeaturesAndLabel: the private columns and the label of a row; public
	// columns are not protected.
	FeaturesAndLabel Scope = "private features and label"
	// LabelOnly: the label of a row; every feature in use is public.
	LabelOnly Scope = "label"
	// Party: the whole table of one party, with any number of rows. Neighbours are two collections of
	// party tables that differ in one party's table.
	Party Scope = "party"
	// Nothing: a learner without privacy.
	Nothing Scope = "nothing"
)

// Words describes the protected part of a row, for use in a sentence.
func (s Scope) Words() string {
	switch s {
	case PrivateFeatures:
		return "the private columns"
	case WholeRow:
		return "the whole row (every feature and the label)"
	case FeaturesAndLabel:
		return "the private columns and the label"
	case LabelOnly:
		return "the label"
	case Party:
		return "everything that one party holds"
	}
	return "nothing"
}

// Event is one private release on a bill: what was released, by which mechanism, at which price. A
// bill lists events in order, and their prices add up.
type Event struct {
	Release   string  `json:"release"`      // what is released, e.g. "weighted error of round 3"
	Mechanism string  `json:"mechanism"`    // e.g. "laplace"
	Epsilon   Epsilon `json:"epsilon_nano"` // Infinite if there is no pure price
	// Rho is the price of a Gaussian release; 0 if Epsilon is the whole price.
	Rho Rho `json:"rho_pico,omitempty"`
	// Delta is the δ of a line that is (Epsilon, Delta)-DP as a whole: a training inside another.
	Delta Delta `json:"delta_femto,omitempty"`
}

// Price formats the line's price: an epsilon, a rho, or an epsilon and a delta.
func (e Event) Price() string {
	switch {
	case e.Rho > 0:
		return "rho " + e.Rho.String()
	case e.Delta > 0:
		return e.Epsilon.String() + ", delta " + e.Delta.String()
	}
	return e.Epsilon.String()
}

// Sum adds up the lines of a bill whose prices are an epsilon, with or without a delta (basic
// composition). ok is false if a line has another price, or if the sum overflows.
func Sum(bill []Event) (sum Price, ok bool) {
	for _, e := range bill {
		if e.Epsilon > Infinite-1-sum.Epsilon || e.Delta > Femto-sum.Delta {
			return Price{}, false
		}
		sum.Epsilon += e.Epsilon
		sum.Delta += e.Delta
	}
	return sum, true
}

// Total adds up the pure prices of a bill. It is Infinite if a release has no pure price or the sum
// overflows; package accounting prices such bills.
func Total(bill []Event) (sum Epsilon) {
	for _, e := range bill {
		if e.Epsilon > Infinite-sum || e.Delta > 0 {
			return Infinite
		}
		sum += e.Epsilon
	}
	return sum
}

// ParamError is a refused public choice. Its text names the operation, the parameter, the requirement
// and the value, and never contains data of a row.
type ParamError struct {
	Op    string // the operation, e.g. "brc"
	Param string // as the user spells it, e.g. "rounds"
	Want  string // the requirement, e.g. "must be at least 1"
	Got   any    // the refused public value; nil if it is missing, or not to be told
	Hint  string // how to fix it, if known, in words that suit every front
	Next  Step   // how to fix it, if fronts word it
}

func (e *ParamError) Error() string {
	s := fmt.Sprintf("%s: %s %s", e.Op, e.Param, e.Want)
	if e.Got != nil {
		s += fmt.Sprintf(" (got %v)", e.Got)
	} else if strings.HasPrefix(e.Want, "must be given") || strings.HasPrefix(e.Want, "is required") {
		s += " (none given)"
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	if e.Next.Kind != NoStep {
		s += "; " + e.Next.String()
	}
	return s
}

// NextStep returns the step that mends the parameter.
func (e *ParamError) NextStep() Step { return e.Next }

// Refuse returns a ParamError without a hint.
func Refuse(op, param, want string, got any) error {
	return &ParamError{Op: op, Param: param, Want: want, Got: got}
}

// RefuseFor returns Refuse for one operation.
func RefuseFor(op string) func(param, want string, got any) error {
	return func(param, want string, got any) error { return Refuse(op, param, want, got) }
}
