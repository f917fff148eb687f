// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	NotPrivate bool       // without noise, for comparison; Epsilon must then be 0
	Loss       Loss
	Width      float64 // half-width h of the Huber-hinge, in [0.01, 100]; unused by Logistic
	Method     Method
	Mode       Mode
	Noise      Noise
	// Reg is Λ, the coefficient of ½‖w‖² on the MEAN loss of scaled rows, in [2^-26, 2^20]; 0 means
	// DefaultReg. Method objective raises it if ε requires it.
	Reg      float64
	Encoding feature.Encoding
	// Norm is the length R to which rows, scaled to at most 1, are projected, in (0, 1].
	Norm float64
	// Threshold determines whether part of ε is used to choose the intercept again.
	Threshold Threshold
}

// Loss is a loss of the margin.
type Loss string

const (
	Logistic Loss = "logistic"
	Huber    Loss = "huber" // Huber-hinge: a support vector machine
)

// Method determines where noise is added.
type Method string

const (
	Objective Method = "objective" // a random linear term, then the minimum
	Output    Method = "output"    // the minimum, then noise
	Auto      Method = "auto"      // one of the two, depending on the numbers of rows and features and on ε
)

// Mode determines how the noise is scaled.
type Mode string

const (
	// Tight uses the constants that the proofs of evidence/guarantees/erm.md allow.
	Tight Mode = "tight"
	// CMS11 uses the constants as printed in the paper.
	CMS11 Mode = "cms11"
)

// Defaults returns default choices, without ε.
func Defaults() Params {
	return Params{Loss: Logistic, Width: 0.5, Method: Auto, Mode: Tight, Noise: AutoNoise, Encoding: feature.OneHot,
		Norm: 1, Threshold: AutoThreshold}
}

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s     *schema.Schema
	rows  int // public number of rows; 0 if unknown
	space *feature.Space
	loss  perturbed.Loss
	bill  []dp.Event
	fit   dp.Epsilon // part of ε for noise
	rest  dp.Epsilon // part of ε for the solver's certificate, with method objective
	ask   dp.Epsilon // part of ε for choosing the threshold; 0: it is not chosen
	of    string     // name of this part of a plan on its bill; "" for a whole plan
	parts []*Plan    // one binary fit per level, if the label has more than two
}

var _ learn.Plan = (*Plan)(nil)

// Plan checks p against the schema and prices one fit; it fails with a *dp.ParamError. rows is the
// number of rows, or 0 if unknown. It does not affect the total price. With Auto it affects the names
// on the bill, by which AutoThreshold divides the price, so that the same plan must be used for
// pricing and fitting.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := p.checkAgainst(s); err != nil {
		return nil, err
	}
	if err := learn.Unconstrained("erm", s); err != nil {
		return nil, err
	}
	if err := learn.CheckOneRow("erm", s); err != nil {
		return nil, err
	}
	if err := learn.CheckDefaults("erm", s, dp.WholeRow, p.NotPrivate); err != nil {
		return nil, err
	}
	sp, err := feature.NewSpace(s, p.Encoding, s.Features())
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, space: sp}
	if p.Loss == Huber {
		pl.loss.Huber = p.Width
	}
	if s.Classes() > 2 {
		return pl, pl.splitClasses()
	}
	pl.settleMethod()
	return pl, nil
}

// settleMethod chooses the method and the threshold, if they are automatic, and writes the bill.
func (pl *Plan) settleMethod() {
	if pl.Method == Auto {
		pl.Method = autoMethod(pl.noiseLength(pl.rows))
	}
	if pl.Noise == AutoNoise {
		pl.Noise = pl.chooseNoise()
	}
	pl.ask = pl.thresholdPrice()
	pl.writeBill()
}

func (p Params) checkAgainst(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "erm", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case s.Relation != dp.ReplaceOne:
		return &dp.ParamError{Op: "erm", Param: "relation", Want: `must be "replace-one"`, Got: s.Relation,
			Hint: "the noise is sized by the number of rows, which add-remove keeps private; learners auto and additive work under it"}
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 2*dp.Epsilon(countFits(s)) || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be at least %s and at most %s", 2*dp.Epsilon(countFits(s)), dp.MaxEpsilon),
			p.Epsilon)
	case p.Loss != Logistic && p.Loss != Huber:
		return bad("loss", `must be "logistic" or "huber"`, p.Loss)
	case p.Loss == Huber && !(p.Width >= perturbed.MinWidth && p.Width <= perturbed.MaxWidth):
		return bad("width", fmt.Sprintf("must be from %g to %d", perturbed.MinWidth, perturbed.MaxWidth), p.Width)
	case p.Method != Objective && p.Method != Output && p.Method != Auto:
		return bad("method", `must be "objective", "output" or "auto"`, p.Method)
	case p.Mode != Tight && p.Mode != CMS11:
		return bad("mode", `must be "tight" or "cms11"`, p.Mode)
	case p.Noise != AutoNoise && p.Noise != Blocks && p.Noise != Gamma && p.Noise != Laplace:
		return bad("noise", `must be "auto", "blocks", "gamma" or "laplace"`, p.Noise)
	case p.Noise == Laplace && p.Method != Output:
		return bad("noise", `may be "laplace" with method output only: the proof of objective needs a density`, p.Noise)
	case p.Reg != 0 && !(p.Reg >= perturbed.MinReg && p.Reg <= perturbed.MaxReg):
		return bad("reg", "must be from 2^-26 to 2^20, or 0 for the default rule", p.Reg)
	case p.Threshold != AutoThreshold && p.Threshold != NoThreshold:
		return bad("threshold", `must be "auto" or "none"`, p.Threshold)
	case !(p.Norm > perturbed.MinNorm && p.Norm <= 1):
		return bad("norm", "must be above 2^-20 and at most 1: rows are scaled to length 1 first", p.Norm)
	}
	return nil
}

// writeBill writes the bill of one binary fit. With method objective, the solver's certificate uses a
// hundredth of the fit's price.
func (pl *Plan) writeBill() {
	pl.bill, pl.rest = nil, 0
	if pl.NotPrivate {
		return
	}
	eps := pl.Epsilon - pl.ask
	if pl.Method != Output {
		pl.rest = max(1, eps/100)
	}
	pl.fit = eps - pl.rest
	p := pl.problemWith(pl.Reg)
	pl.bill = p.Bill()
	if pl.ask > 0 {
		pl.bill = append(pl.bill, guard.Share{Epsilon: pl.ask}.ChoiceLine(thresholdLabel))
	}
}

// problemOf returns the problem for n rows.
func (pl *Plan) problemOf(n int) *perturbed.Problem {
	reg := pl.Reg
	if reg == 0 {
		reg = DefaultReg(pl.Method, n, pl.noiseLength(n), pl.Epsilon)
	}
	return pl.problemWith(reg)
}

func (pl *Plan) problemWith(reg float64) *perturbed.Problem {
	return &perturbed.Problem{Space: pl.space, Loss: pl.loss, Norm: pl.Norm, Reg: reg, Output: pl.Method == Output,
		Printed: pl.Mode == CMS11, Noise: pl.Noise, Epsilon: pl.fit, Rest: pl.rest, NotPrivate: pl.NotPrivate, Of: pl.of}
}

// sizeNoise computes the noise of a fit on n rows.
func (pl *Plan) sizeNoise(n int) *perturbed.Sizes {
	s := pl.problemOf(n).Size(n)
	return &s
}

// Terms returns what one Fit protects and its bill.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "erm", Scope: dp.WholeRow, Price: dp.Price{Epsilon: pl.Epsilon}, Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}
