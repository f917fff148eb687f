// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/accounting"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ likewise: > 0 with Gaussian noise, 0 with any other
	NotPrivate bool       // no noise at all, for comparison; Epsilon must then be 0
	Noise      Noise
	// Reg is Λ, the coefficient of ½‖w‖² on the mean loss of rows divided by
	// √(columns+1), in [2^-26, 2^20]; 0 means DefaultReg.
	Reg      float64
	Encoding feature.Encoding
}

// Noise is the law of the noise on s.
type Noise string

const (
	// Gamma is spherical noise: the least for the price, in float64 arithmetic.
	Gamma Noise = "gamma"
	// Laplace is exact discrete noise, about √2 times as long.
	Laplace Noise = "laplace"
	// Gaussian is exact discrete noise for a guarantee with a δ: shorter than
	// Gamma where there are more coefficients than about 2·log(1/δ).
	Gaussian Noise = "gaussian"
)

// Defaults are the choices of somebody who has no other. They hold no ε.
func Defaults() Params { return Params{Noise: Gamma, Encoding: feature.OneHot} }

const (
	minReg = 0x1p-26
	maxReg = 0x1p20
)

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s     *schema.Schema
	rows  int // public number of rows; 0 when unknown
	space *feature.Space
	bill  []dp.Event
}

var _ learn.Plan = (*Plan)(nil)

const statisticLabel = "mean of the rows with the positive label"

// Plan checks p against the schema and prices one fit; it fails with a
// *dp.ParamError. rows is the number of rows where it is known, else 0; it
// moves no price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := learn.Binary("labeldp", s); err != nil {
		return nil, err
	}
	public := s.ByRole(schema.Public)
	bad := func(param, want string, got any) (*Plan, error) {
		return nil, &dp.ParamError{Op: "labeldp", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case s.Relation != dp.ReplaceOne:
		return bad("relation", `must be "replace-one": a public row cannot be hidden`, s.Relation)
	case len(public) == 0:
		return bad("schema", "must have a public column: no other is read", 0)
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Noise != Gamma && p.Noise != Laplace && p.Noise != Gaussian:
		return bad("noise", `must be "gamma", "laplace" or "gaussian"`, p.Noise)
	case p.Delta != 0 && (p.NotPrivate || p.Noise != Gaussian):
		return bad("delta", fmt.Sprintf(`must be 0 with noise %q: only "gaussian" spends one`, p.Noise), p.Delta)
	case p.Noise == Gaussian && !p.NotPrivate && !(p.Delta > 0 && p.Delta <= dp.MaxDelta):
		return bad("delta", `must be > 0 and < 1 with noise "gaussian"`, p.Delta)
	case p.Reg != 0 && !(p.Reg >= minReg && p.Reg <= maxReg):
		return bad("reg", "must be from 2^-26 to 2^20, or 0 for the default rule", p.Reg)
	}
	sp, err := feature.NewSpace(s, p.Encoding, public)
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, space: sp}
	switch {
	case p.NotPrivate:
	case p.Noise == Gaussian:
		return pl, pl.approximate()
	case p.Noise == Laplace:
		pl.bill = []dp.Event{{Release: statisticLabel, Mechanism: mech.Laplace{}.Name(), Epsilon: p.Epsilon}}
	default:
		pl.bill = []dp.Event{{Release: statisticLabel, Mechanism: mech.Gamma{}.Name(), Epsilon: p.Epsilon}}
	}
	return pl, nil
}

// approximate bills the Gaussian release: the largest ρ that (ε, δ) buys (1.5).
func (pl *Plan) approximate() error {
	if err := learn.CheckDelta("labeldp", pl.Delta, pl.rows); err != nil {
		return err
	}
	bill := func(rho dp.Rho) []dp.Event {
		return []dp.Event{{Release: statisticLabel, Mechanism: mech.Gaussian{}.Name(), Epsilon: dp.Infinite, Rho: rho}}
	}
	rho, err := accounting.Afford(pl.price(), dp.MaxRho, bill)
	if err != nil {
		return err
	}
	if _, err := mech.GaussianFor(rho, 1, pl.dim()); err != nil { // too many coefficients
		return err
	}
	pl.bill = bill(rho)
	return nil
}

func (pl *Plan) price() dp.Price { return dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta} }

// Events is the bill of one Fit.
func (pl *Plan) Events() []dp.Event { return slices.Clone(pl.bill) }

// dim is the number of coefficients, the intercept's included.
func (pl *Plan) dim() int { return pl.space.Width() + 1 }

// DefaultReg is Λ where none is given and noise is Gamma: a function of the
// number of rows, the number of coefficients and ε (0: no privacy).
func DefaultReg(n, dim int, eps dp.Epsilon) float64 {
	if eps == 0 {
		return regFor(n, 0)
	}
	return regFor(n, float64(dim)/(float64(n)*eps.Float()))
}

// regFor is Λ for noise of a mean length (0: no privacy), as erm's for noise of
// that length.
func regFor(n int, noise float64) float64 {
	reg := max(0.1/float64(n), min(10*noise*noise, 8))
	return min(maxReg, max(minReg, reg))
}

// noiseLength is the mean length of the noise, for rows of length at most 1; of
// Laplace's it counts what Gamma would have.
func (pl *Plan) noiseLength(n int) float64 {
	switch d := float64(pl.dim()); {
	case pl.NotPrivate:
		return 0
	case pl.Noise == Gaussian:
		return math.Sqrt(d/(2*pl.bill[0].Rho.Float())) / float64(n)
	default:
		return d / (float64(n) * pl.Epsilon.Float())
	}
}

// Facts are the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	f := []learn.Fact{
		{Key: "protects", Value: string(dp.LabelOnly), Text: fmt.Sprintf("protects the label of %s (%s), and nothing else of it", pl.s.Unit, pl.s.Relation)},
		{Key: "features", Value: pl.space.Width(), Text: fmt.Sprintf("%d features of %d public columns, %s encoding; private columns are not read", pl.space.Width(), len(pl.space.Columns), pl.Encoding)},
	}
	if pl.NotPrivate {
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf", Text: "NOT PRIVATE: no noise is added"})
	} else {
		f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(), Text: fmt.Sprintf("price ε = %s in one release", pl.Epsilon)})
	}
	if pl.Delta > 0 {
		f = append(f, learn.Fact{Key: "delta", Value: json.Number(pl.Delta.String()), Text: fmt.Sprintf("and δ = %s: Gaussian noise of ρ = %s", pl.Delta, pl.bill[0].Rho)})
	}
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "reg", Value: nil, Text: "Λ and the noise need the number of rows: give --rows"})
	}
	reg := pl.reg(pl.rows)
	f = append(f, learn.Fact{Key: "reg", Value: reg, Text: fmt.Sprintf("Λ = %.4g on the mean loss", reg)})
	if !pl.NotPrivate {
		length := pl.noiseLength(pl.rows)
		f = append(f, learn.Fact{Key: "noise_length", Value: length, Text: fmt.Sprintf("noise in the mean of rows of length at most 1: %.4g on average, at most", length)})
	}
	return f
}

func (pl *Plan) reg(n int) float64 {
	if pl.Reg > 0 {
		return pl.Reg
	}
	return regFor(n, pl.noiseLength(n))
}
