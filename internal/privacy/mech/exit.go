// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Ratio is an exact private number, Num/Den with Den > 0. Sums of integer
// weights stay integers until they reach a mechanism, so the order of
// additions, overflow and repeated rounding cannot leak.
type Ratio struct{ Num, Den int64 }

// RatioOf is x as a Ratio, exactly if x is a multiple of 2^-62 below 2^62 in
// size, rounded to such a multiple if it is finer. It panics where |x| is
// larger or not a number: such a value fits no release.
func RatioOf(x float64) Ratio {
	_, e := math.Frexp(x)
	if !(math.Abs(x) < 0x1p62) {
		panic("mech: a value of 2^62 or more, or not a number, cannot be released")
	}
	shift := min(62, 62-max(e, 0))
	return Ratio{int64(math.RoundToEven(math.Ldexp(x, shift))), 1 << shift}
}

// Norm is what a mechanism's declared sensitivity measures.
type Norm string

const (
	L1 Norm = "L1" // the sum of the coordinates' moves
	L2 Norm = "L2" // the Euclidean length of the move
	// BlockL1 is the largest L1 of a block; the mechanism lists its blocks'
	// sizes (method Blocks).
	BlockL1 Norm = "largest L1 of a block"
	// Certified: the Euclidean distance of the values from a vector that
	// earlier releases have paid for, times two. What neighbours move is no
	// measure of it; the certificate that came with the values is.
	Certified Norm = "certified"
	// AnyTwo: a report of an owner. Its price covers any two truths, so there
	// is no distance to measure.
	AnyTwo Norm = "any two"
)

// Float is the nearest float64, for tests and displays of public ratios.
func (r Ratio) Float() float64 { return float64(r.Num) / float64(r.Den) }

// Mechanism releases a vector of numbers with noise. The set of mechanisms is
// closed: each has its file here and its proof in evidence/guarantees/mech.md.
type Mechanism interface {
	Name() string
	// Loss is the price of one release, Sensitivity the sensitivity it is sized
	// for: neighbours may move the values by at most that, measured in Norm.
	Loss() dp.Epsilon
	Sensitivity() float64
	Norm() Norm
	// draw returns the noisy values; len(out) = len(values).
	draw(src rng.Source, values []Ratio) []float64
}

// Selector releases the index of a candidate with a high score.
type Selector interface {
	Name() string
	// Loss is the price of one selection, Spread the bound on max − min over
	// the candidates of how far a neighbour moves their scores.
	Loss() dp.Epsilon
	Spread() float64
	pick(src rng.Source, scores []Ratio) int
}

// Sized unwraps a mechanism that was sized by numbers a plan has checked. It
// panics where the plan let something impossible pass.
func Sized[M any](m M, err error) M {
	if err != nil {
		panic("mech: a checked plan sized an impossible mechanism: " + err.Error())
	}
	return m
}

// Exit is the one door through which private numbers leave. It also has public coins.
type Exit struct {
	src   rng.Source
	coins rng.Source // nil until somebody asks
	tape  Tape
}

// Tape watches or replaces what passes the door. Production has none.
type Tape interface {
	// Numbers sees a release before its noise. Where it returns a non-nil
	// slice, those numbers leave instead and no noise is drawn.
	Numbers(label string, m Mechanism, values []Ratio) []float64
	// Choice sees a selection; an index ≥ 0 replaces the choice.
	Choice(label string, m Selector, scores []Ratio) int
	// Report sees what an owner reports on before it is perturbed: the vector,
	// or the cell and its weight. A non-nil report leaves instead.
	Report(label string, l response.Priced, values []Ratio) response.Report
}

// NewExit returns a door that draws from src.
func NewExit(src rng.Source) *Exit { return &Exit{src: src} }

// NewTapedExit returns a door with a tape, for tests and audits; whatever
// leaves through it is marked seeded.
func NewTapedExit(src rng.Source, tape Tape) *Exit { return &Exit{src: src, tape: tape} }

// Public is the source for coin flips that do not depend on data. It has no word of the noise, unless
// the exit is seeded and so protects nothing: an experiment is replayed from one stream.
func (e *Exit) Public() rng.Source {
	if e.coins == nil {
		if e.coins = e.src; !e.src.Seeded() {
			e.coins = rng.System()
		}
	}
	return e.coins
}

// Seeded reports whether what leaves can be reproduced.
func (e *Exit) Seeded() bool { return e.src.Seeded() || e.tape != nil }

// Release lets noisy values out.
func (e *Exit) Release(label string, m Mechanism, values ...Ratio) []float64 {
	if e.tape != nil {
		if out := e.tape.Numbers(label, m, values); out != nil {
			return out
		}
	}
	return m.draw(e.src, values)
}

// Select lets the index of a good candidate out.
func (e *Exit) Select(label string, m Selector, scores []Ratio) int {
	if e.tape != nil {
		if i := e.tape.Choice(label, m, scores); i >= 0 {
			return i
		}
	}
	return m.pick(e.src, scores)
}
