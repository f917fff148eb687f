// SPDX-License-Identifier: Apache-2.0

// Package mechtest provides tapes for a mech.Exit: a Recorder that records what passes, and a Script
// that replaces it. They make it possible to check the privacy of a learner without statistics: run it
// on two neighbours under one script, and compare the results (non-interference) and the values before
// noise (sensitivity).
package mechtest

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// Passage is one private number or choice at the exit.
type Passage struct {
	Label  string
	Name   string       // the mechanism
	Loss   dp.Epsilon   // its price; dp.Infinite if the price is only in Rho
	Rho    dp.Rho       // price of Gaussian noise; otherwise 0
	Bound  float64      // declared sensitivity in Norm, or the spread of a choice
	Norm   mech.Norm    // of a release; empty for a choice
	Blocks []int        // sizes of the blocks under mech.BlockL1
	Values []mech.Ratio // the values to be released, before noise
	Choice bool         // Values are the scores of a choice
}

// Moved is the change of the values between neighbours, in the measure of the declared Bound: the
// distance of numbers in Norm, or the spread of the score changes of a choice. It is 0 under
// mech.Certified and mech.AnyTwo, whose prices do not depend on distances. It panics if q is not the
// same release.
func (p Passage) Moved(q Passage) float64 {
	if p.Label != q.Label || len(p.Values) != len(q.Values) || p.Choice != q.Choice || p.Norm != q.Norm {
		panic(fmt.Sprintf("mechtest: passages %q and %q are not the same release", p.Label, q.Label))
	}
	sum, square, lo, hi := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	block, left, largest, sizes := 0.0, 0, 0.0, p.Blocks
	for i := range p.Values {
		d := q.Values[i].Float() - p.Values[i].Float()
		sum, square, lo, hi = sum+math.Abs(d), square+d*d, min(lo, d), max(hi, d)
		if p.Norm == mech.BlockL1 {
			if left == 0 {
				block, left, sizes = 0, sizes[0], sizes[1:]
			}
			block, left = block+math.Abs(d), left-1
			largest = max(largest, block)
		}
	}
	switch {
	case p.Choice:
		return hi - lo
	case p.Norm == mech.Certified || p.Norm == mech.AnyTwo:
		return 0
	case p.Norm == mech.L2:
		return math.Sqrt(square)
	case p.Norm == mech.BlockL1:
		return largest
	}
	return sum
}

// Recorder records passages and, if Numbers or Choices are scripted, replaces what is released.
type Recorder struct {
	Passages []Passage
	// Script, if set, replaces the k-th passage (k from 0): by numbers for a release or report, by a
	// single index for a choice.
	Script func(k int, p Passage) []float64
}

// Numbers implements mech.Tape.
func (r *Recorder) Numbers(label string, m mech.Mechanism, values []mech.Ratio) []float64 {
	p := Passage{Label: label, Name: m.Name(), Loss: m.Loss(), Bound: m.Sensitivity(), Norm: m.Norm(), Values: values}
	if g, ok := m.(interface{ Rho() dp.Rho }); ok {
		p.Rho = g.Rho()
	}
	if b, ok := m.(interface{ Blocks() []int }); ok {
		p.Blocks = b.Blocks()
	}
	return r.pass(p)
}

// Choice implements mech.Tape.
func (r *Recorder) Choice(label string, m mech.Selector, scores []mech.Ratio) int {
	out := r.pass(Passage{Label: label, Name: m.Name(), Loss: m.Loss(), Bound: m.Spread(), Values: scores, Choice: true})
	if out == nil {
		return -1
	}
	return int(out[0])
}

// Report implements mech.Tape. The words of a scripted report are the script's numbers.
func (r *Recorder) Report(label string, l response.Priced, values []mech.Ratio) response.Report {
	out := r.pass(Passage{Label: label, Name: l.Name(), Loss: l.Loss(), Norm: mech.AnyTwo, Values: values})
	if out == nil {
		return nil
	}
	words := make(response.Report, len(out))
	for i, x := range out {
		words[i] = uint32(x)
	}
	return words
}

func (r *Recorder) pass(p Passage) []float64 {
	p.Values = append([]mech.Ratio(nil), p.Values...)
	k := len(r.Passages)
	r.Passages = append(r.Passages, p)
	if r.Script == nil {
		return nil
	}
	return r.Script(k, p)
}

// Bill returns the recorded passages as a bill.
func (r *Recorder) Bill() (bill []dp.Event) {
	for _, p := range r.Passages {
		bill = append(bill, dp.Event{Release: p.Label, Mechanism: p.Name, Epsilon: p.Loss, Rho: p.Rho})
	}
	return bill
}
