// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Loss is a loss of the margin: see engine.Loss.
type Loss = engine.Loss

// Problem defines what is minimised and the noise that protects it, from public choices alone.
type Problem struct {
	Space *feature.Space
	Loss  Loss
	// Norm is the length R to which rows, scaled to at most 1, are projected, in (2^-20, 1].
	Norm float64
	// Reg is Λ, the coefficient of ½‖w‖² on the mean loss of scaled rows, in [MinReg, MaxReg]. Noise
	// in the objective raises it if ε requires it.
	Reg float64
	// Output puts the noise on the minimum instead of in the objective.
	Output bool
	// Printed uses the constants as printed in the paper instead of those that the proofs allow.
	Printed bool
	Noise   Noise
	// Epsilon pays for the noise. If the noise is in the objective, Rest pays for the error of the
	// computed minimum.
	Epsilon, Rest dp.Epsilon
	NotPrivate    bool
	// Of is the suffix of the labels of releases, if there are several fits.
	Of string
}

// Limits of Problem's numbers.
const (
	MinReg   = 0x1p-26 // below it rounding would be as large as the certificate
	MaxReg   = 0x1p20
	MinWidth = 0.01 // of the Huber-hinge
	MaxWidth = 100
	MinNorm  = 0x1p-20 // exclusive
)

const (
	termLabel  = "linear term of the objective"
	coefsLabel = "coefficients"
)

// Bill lists the releases of a fit.
func (p *Problem) Bill() []dp.Event {
	if p.NotPrivate {
		return nil
	}
	if p.Output {
		name := map[Noise]string{Blocks: mech.Blocks{}.Name(), Gamma: mech.Gamma{}.Name(),
			Laplace: mech.Laplace{}.Name()}[p.Noise]
		return []dp.Event{{Release: coefsLabel + p.Of, Mechanism: name, Epsilon: p.Epsilon}}
	}
	name := mech.Objective{}.Name()
	if p.Noise == Blocks {
		name = mech.ObjectiveBlocks{}.Name()
	}
	return []dp.Event{
		{Release: termLabel + p.Of, Mechanism: name, Epsilon: p.Epsilon},
		{Release: coefsLabel + p.Of, Mechanism: mech.Remainder{}.Name(), Epsilon: p.Rest},
	}
}

func (p *Problem) check(relation dp.Relation) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "perturbed", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case relation != dp.ReplaceOne:
		return bad("relation", `must be "replace-one": the noise is sized by the number of rows`, relation)
	case !p.NotPrivate && (p.Epsilon < 1 || !p.Output && p.Rest < 1):
		return bad("epsilon", "must be > 0 for each release", p.Epsilon)
	case p.Loss.Huber != 0 && !(p.Loss.Huber >= MinWidth && p.Loss.Huber <= MaxWidth):
		return bad("width", "must be 0, or from 0.01 to 100", p.Loss.Huber)
	case p.Noise != Blocks && p.Noise != Gamma && !(p.Noise == Laplace && p.Output):
		return bad("noise", `must be "blocks", "gamma" or, on the minimum, "laplace"`, p.Noise)
	case !(p.Reg >= MinReg && p.Reg <= MaxReg):
		return bad("reg", "must be from 2^-26 to 2^20", p.Reg)
	case !(p.Norm > MinNorm && p.Norm <= 1):
		return bad("norm", "must be above 2^-20 and at most 1", p.Norm)
	}
	return nil
}

// Sizes determines where noise is added and how much, from public numbers alone.
type Sizes struct {
	units
	term   mech.Mechanism // nil: no linear term
	after  mech.Mechanism // the mechanism that releases the coefficients
	target float64        // required length of the gradient
}

func (p *Problem) unitsOf(n int) units {
	return units{
		n: float64(n), reg: p.Reg, norm: p.Norm, curve: p.Loss.Curvature(),
		dim: p.Space.Width() + 1, blocks: p.blockSizes(), cell: p.largestEntry()}
}

// Size computes the noise for n rows.
func (p *Problem) Size(n int) Sizes {
	u := p.unitsOf(n)
	s := Sizes{units: u, after: mech.NoNoise{}}
	switch {
	case p.NotPrivate:
		s.target = u.leastGradient(0)
	case p.Output:
		slope := u.lossSlope(p.Loss, p.Printed)
		s.target = u.outputPrecision(p.Noise, slope)
		s.after = u.outputNoise(p.Noise, p.Epsilon, slope, 2*u.minimumDistance(s.gradientBound()))
	default:
		jacobian := 0.0
		s.units, jacobian = u.objectiveSize(p.Epsilon.Float(), p.Printed)
		s.term = s.units.termNoise(p.Noise, p.Epsilon, jacobian)
		s.target = s.objectivePrecision(noiseLength(s.term, u.dim), p.Rest.Float())
		// 2.5
		s.after = mech.Sized(mech.RemainderFor(p.Rest, s.minimumDistance(s.gradientBound()+s.snappingBound(s.term)), u.dim))
	}
	return s
}

// Reg is the value of Λ in use.
func (s *Sizes) Reg() float64 { return s.reg }

// SummedPenalty is nΛ.
func (s *Sizes) SummedPenalty() float64 { return s.summedPenalty() }

// TermLength is the approximate length of the linear term, 0 without one.
func (s *Sizes) TermLength() float64 { return noiseLength(s.term, s.dim) }

// OutputLength is the approximate length of the noise on the coefficients for scaled rows.
func (s *Sizes) OutputLength() float64 { return noiseLength(s.after, s.dim) }

// OutputShare is OutputLength relative to the coefficients, whose approximate length is 1/(Λ + c/d)
// for a ridge Λ and rows with curvature c.
func (s *Sizes) OutputShare() float64 {
	return s.OutputLength() * (s.reg + s.curve*s.norm*s.norm/float64(s.dim))
}

// Crowd is the approximate length, in halves, of the noise in the mean gradient of n rows if all of
// Epsilon pays for noise in the objective: d/(n·ε) for spherical noise.
func (p *Problem) Crowd(n int) float64 {
	u := p.unitsOf(n)
	return noiseLength(u.termNoise(p.Noise, p.Epsilon, 0), u.dim) / 2 / float64(n)
}

// RowScale is the factor that makes rows at most 1 long. It depends on the number of columns, each of
// which has one non-zero feature of size at most 1, and the intercept's constant.
func (p *Problem) RowScale() float64 {
	scale := 1 / math.Sqrt(float64(len(p.Space.Columns)+1))
	return math.Nextafter(math.Nextafter(scale, 0), 0)
}

// blockSizes returns the sizes of the blocks of a row: one per column, with one non-zero feature of
// size at most 1, and one for the intercept's constant.
func (p *Problem) blockSizes() []int {
	sizes := make([]int, 0, len(p.Space.Columns)+1)
	for k := range p.Space.Columns {
		_, width := p.Space.Block(k)
		sizes = append(sizes, width)
	}
	return append(sizes, 1)
}

// largestEntry bounds the entries of a scaled row: features and the constant are at most 1 before
// scaling, and no row is longer than Norm.
func (p *Problem) largestEntry() float64 { return min(p.RowScale(), p.Norm) }

// gradientBound is a certain upper bound on the length of the gradient at the solver's result. Its
// excess over the target covers the rounding of the sums.
func (s *Sizes) gradientBound() float64 { return 2 * s.target }
