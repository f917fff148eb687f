// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
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
	public := s.ByRole(schema.Public)
	bad := func(param, want string, got any) (*Plan, error) {
		return nil, &dp.ParamError{Op: "labeldp", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case s.Classes() != 2:
		return bad("label", "must have 2 levels", s.Classes())
	case s.Relation != dp.ReplaceOne:
		return bad("relation", `must be "replace-one": a public row cannot be hidden`, s.Relation)
	case len(public) == 0:
		return bad("schema", "must have a public column: no other is read", 0)
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Noise != Gamma && p.Noise != Laplace:
		return bad("noise", `must be "gamma" or "laplace"`, p.Noise)
	case p.Reg != 0 && !(p.Reg >= minReg && p.Reg <= maxReg):
		return bad("reg", "must be from 2^-26 to 2^20, or 0 for the default rule", p.Reg)
	}
	sp, err := feature.NewSpace(s, p.Encoding, public)
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, space: sp}
	if !p.NotPrivate {
		name := mech.Gamma{}.Name()
		if p.Noise == Laplace {
			name = mech.Laplace{}.Name()
		}
		pl.bill = []dp.Event{{Release: statisticLabel, Mechanism: name, Epsilon: p.Epsilon}}
	}
	return pl, nil
}

// Events is the bill of one Fit.
func (pl *Plan) Events() []dp.Event { return slices.Clone(pl.bill) }

// dim is the number of coefficients, the intercept's included.
func (pl *Plan) dim() int { return pl.space.Width() + 1 }

// DefaultReg is Λ where none is given: a function of the number of rows, the
// number of coefficients and ε (0: no privacy), as erm's for the same length of
// noise.
func DefaultReg(n, dim int, eps dp.Epsilon) float64 {
	reg := 0.1 / float64(n)
	if eps > 0 {
		u := float64(dim) / (2 * float64(n) * eps.Float())
		reg = max(reg, min(40*u*u, 8))
	}
	return min(maxReg, max(minReg, reg))
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
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "reg", Value: nil, Text: "Λ and the noise need the number of rows: give --rows"})
	}
	reg := pl.reg(pl.rows)
	f = append(f, learn.Fact{Key: "reg", Value: reg, Text: fmt.Sprintf("Λ = %.4g on the mean loss", reg)})
	if !pl.NotPrivate {
		length := float64(pl.dim()) / (float64(pl.rows) * pl.Epsilon.Float())
		f = append(f, learn.Fact{Key: "noise_length", Value: length, Text: fmt.Sprintf("noise in the mean of rows of length at most 1: %.4g on average, at most", length)})
	}
	return f
}

func (pl *Plan) reg(n int) float64 {
	if pl.Reg > 0 {
		return pl.Reg
	}
	return DefaultReg(n, pl.dim(), pl.Epsilon)
}
