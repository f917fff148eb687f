// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Ratio is an exact private number, Num/Den with Den > 0. Sums of integer weights stay integers until
// they reach a mechanism, so that neither the order of additions nor overflow nor repeated rounding
// can leak information.
type Ratio struct{ Num, Den int64 }

// RatioOf converts x to a Ratio. Multiples of 2^-62 with |x| < 2^62 are exact; other values are
// rounded to such a multiple. It panics if |x| is larger or NaN.
func RatioOf(x float64) Ratio {
	_, e := math.Frexp(x)
	if !(math.Abs(x) < 0x1p62) {
		panic("mech: a value of 2^62 or more, or not a number, cannot be released")
	}
	shift := min(62, 62-max(e, 0))
	return Ratio{int64(math.RoundToEven(math.Ldexp(x, shift))), 1 << shift}
}

// Norm is the norm in which a mechanism's sensitivity is declared.
type Norm string

const (
	L1 Norm = "L1" // the sum of the coordinates' changes
	L2 Norm = "L2" // the Euclidean length of the change
	// BlockL1 is the largest L1 norm of a block; the mechanism lists its blocks' sizes (method
	// Blocks).
	BlockL1 Norm = "largest L1 of a block"
	// Certified is twice the Euclidean distance between the values and a vector that earlier releases
	// have paid for. The difference between neighbours is not bounded by it; the certificate that
	// comes with the values is.
	Certified Norm = "certified"
	// AnyTwo is for the report of an owner. Its price covers any two true values, so that no distance
	// needs to be bounded.
	AnyTwo Norm = "any two"
)

// Float returns the nearest float64, for tests and displays of public ratios.
func (r Ratio) Float() float64 { return float64(r.Num) / float64(r.Den) }

// Mechanism releases a vector of numbers with noise. The set of mechanisms is
// closed: each has its file here and its proof in evidence/guarantees/mech.md.
type Mechanism interface {
	Name() string
	// Loss is the price of one release. Sensitivity is the sensitivity that the noise is scaled for:
	// neighbours may change the values by at most that, measured in Norm.
	Loss() dp.Epsilon
	Sensitivity() float64
	Norm() Norm
	// draw returns the noisy values; len(out) = len(values).
	draw(src rng.Source, values []Ratio) []float64
}

// Selector releases the index of a candidate with a high score.
type Selector interface {
	Name() string
	// Loss is the price of one selection. A neighbour changes each candidate's score by some amount;
	// Spread bounds the difference between the largest and the smallest of these changes.
	Loss() dp.Epsilon
	Spread() float64
	pick(src rng.Source, scores []Ratio) int
}

// Sized unwraps a mechanism whose parameters a plan has checked. It panics if they are invalid after
// all.
func Sized[M any](m M, err error) M {
	if err != nil {
		panic("mech: a checked plan sized an impossible mechanism: " + err.Error())
	}
	return m
}

// Exit is the only way to release private numbers. It also has public random coins.
type Exit struct {
	src   rng.Source
	coins rng.Source // nil until the first use
	tape  Tape
}

// Tape records or replaces what passes an Exit. Production uses none.
type Tape interface {
	// Numbers receives a release, or a holder's part of one, before its noise. If it returns a non-nil
	// slice, those numbers are released instead and no noise is drawn.
	Numbers(label string, m Mechanism, values []Ratio) []float64
	// Choice receives a selection; an index ≥ 0 replaces the choice.
	Choice(label string, m Selector, scores []Ratio) int
	// Report receives an owner's true values before they are perturbed: the vector, or the cell and
	// its weight. A non-nil report is released instead.
	Report(label string, l response.Priced, values []Ratio) response.Report
}

// NewExit returns an exit that draws from src.
func NewExit(src rng.Source) *Exit { return &Exit{src: src} }

// NewTapedExit returns an exit with a tape, for tests and audits. Everything released through it is
// marked as seeded.
func NewTapedExit(src rng.Source, tape Tape) *Exit { return &Exit{src: src, tape: tape} }

// Public returns a source for random choices that do not depend on data. It shares no random word with
// the noise, unless the exit is seeded and so protects nothing: an experiment is replayed from one
// stream.
func (e *Exit) Public() rng.Source {
	if e.coins == nil {
		if e.coins = e.src; !e.src.Seeded() {
			e.coins = rng.System()
		}
	}
	return e.coins
}

// Seeded reports whether releases can be reproduced.
func (e *Exit) Seeded() bool { return e.src.Seeded() || e.tape != nil }

// Release releases values with noise.
func (e *Exit) Release(label string, m Mechanism, values ...Ratio) []float64 {
	if e.tape != nil {
		if out := e.tape.Numbers(label, m, values); out != nil {
			return out
		}
	}
	return m.draw(e.src, values)
}

// Select releases the index of a candidate with a high score.
func (e *Exit) Select(label string, m Selector, scores []Ratio) int {
	if e.tape != nil {
		if i := e.tape.Choice(label, m, scores); i >= 0 {
			return i
		}
	}
	return m.pick(e.src, scores)
}
