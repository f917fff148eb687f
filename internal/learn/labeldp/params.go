// SPDX-License-Identifier: Apache-2.0

package labeldp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ of the whole fit: > 0 with Gaussian noise, 0 with any other
	NotPrivate bool       // without noise, for comparison; Epsilon must then be 0
	Noise      Noise
	// Reg is Λ, the coefficient of ½‖w‖² on the mean loss of rows divided by √(columns+1), in [2^-26,
	// 2^20]; 0 means a rule that depends on the number of rows and on the length of the noise, as in
	// erm.
	Reg      float64
	Encoding feature.Encoding
}

// Noise is the distribution of the noise on s.
type Noise string

const (
	// Auto is Gaussian with a δ. Without one it is the shorter of the other two for the schema's
	// features: Laplace if columns have many codes on average and the encoding is one-hot, Gamma if it
	// is ordinal.
	Auto Noise = "auto"
	// Gamma is spherical noise, scaled for the length of a row, in float64 arithmetic.
	Gamma Noise = "gamma"
	// Laplace is exact discrete noise, scaled for the sum of a row's entries.
	Laplace Noise = "laplace"
	// Gaussian is exact discrete noise for a guarantee with a δ: shorter than
	// Gamma if there are more coefficients than about 2·log(1/δ).
	Gaussian Noise = "gaussian"
)

// Defaults returns default choices, without ε.
func Defaults() Params { return Params{Noise: Auto, Encoding: feature.OneHot} }

const (
	minReg    = 0x1p-26
	maxReg    = 0x1p20
	mostRidge = 8 // of the rule
)

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s     *schema.Schema
	rows  int // public number of rows; 0 if unknown
	space *feature.Space
	bill  []dp.Event
}

var _ learn.Plan = (*Plan)(nil)

// The releases: for a label of two levels, and for more.
const (
	statisticLabel = "mean of the rows with the positive label"
	levelsLabel    = "means of the rows of each level"
)

// Plan checks p against the schema and prices one fit; it fails with a *dp.ParamError. rows is the
// number of rows, or 0 if unknown; it does not affect the price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := learn.Unweighted("labeldp", s); err != nil {
		return nil, err
	}
	if err := learn.Unconstrained("labeldp", s); err != nil {
		return nil, err
	}
	if err := learn.CheckOneRow("labeldp", s); err != nil {
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
	case p.Noise != Auto && p.Noise != Gamma && p.Noise != Laplace && p.Noise != Gaussian:
		return bad("noise", `must be "auto", "gamma", "laplace" or "gaussian"`, p.Noise)
	case p.Delta != 0 && (p.NotPrivate || p.Noise == Gamma || p.Noise == Laplace):
		return bad("delta", fmt.Sprintf(`must be 0 with noise %q: only "gaussian" spends one`, p.Noise), p.Delta)
	case (p.Noise == Gaussian || p.Delta != 0) && !p.NotPrivate && !(p.Delta > 0 && p.Delta <= dp.MaxDelta):
		return bad("delta", `must be > 0 and < 1 with noise "gaussian"`, p.Delta)
	case p.Reg != 0 && !(p.Reg >= minReg && p.Reg <= maxReg):
		return bad("reg", "must be from 2^-26 to 2^20, or 0 for the default rule", p.Reg)
	}
	if err := learn.CheckDefaults("labeldp", s, dp.LabelOnly, p.NotPrivate); err != nil {
		return nil, err
	}
	sp, err := feature.NewSpace(s, p.Encoding, public)
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, space: sp}
	if p.Noise == Auto {
		pl.Noise = pl.smallerNoise()
	}
	switch {
	case p.NotPrivate:
	case pl.Noise == Gaussian:
		return pl, pl.billGaussian()
	default:
		pl.bill = []dp.Event{pl.share().Line(pl.releaseName())}
	}
	return pl, nil
}

// billGaussian bills the Gaussian release: the largest ρ that is (ε, δ)-DP (1.5).
func (pl *Plan) billGaussian() error {
	if err := guard.CheckDelta("labeldp", pl.Delta, pl.rows); err != nil {
		return err
	}
	bill := func(rho dp.Rho) []dp.Event {
		return []dp.Event{guard.Share{Rho: rho}.Line(pl.releaseName())}
	}
	rho, err := accounting.Afford(pl.Terms().Price, dp.MaxRho, bill)
	if err != nil {
		return err
	}
	if err := (guard.Share{Rho: rho}).Check(guard.Moves{L1: 1, L2: 1}, pl.statisticSize()); err != nil { // too many coefficients
		return err
	}
	pl.bill = bill(rho)
	return nil
}

// Terms returns the bill of one Fit.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "labeldp", Scope: dp.LabelOnly, Price: dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta},
		Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}

// dim is the number of coefficients of one fit, including the intercept.
func (pl *Plan) dim() int { return pl.space.Width() + 1 }

// countEntries is the number of non-zero features of a row, including the intercept: one for each
// column.
func (pl *Plan) countEntries() float64 { return float64(len(pl.space.Columns) + 1) }

// smallerNoise resolves Auto. Rows have a length of at most √entries, and entries that add up to at
// most entries. With N numbers in the release and the factors of sensitivityNorms, the mean square of
// the noise is N(N+1)·l2²·entries for Gamma and 2N·(l1·entries)² for Laplace, in units of 1/(nε)².
func (pl *Plan) smallerNoise() Noise {
	l1, l2 := pl.sensitivityNorms()
	switch {
	case pl.Delta > 0:
		return Gaussian
	case 2*l1*l1*pl.countEntries() <= l2*l2*float64(pl.statisticSize()+1):
		return Laplace
	}
	return Gamma
}

// noiseLength is the approximate mean length of the noise of one fit, for rows divided by √entries,
// which have at most length 1; 0 without privacy.
func (pl *Plan) noiseLength(n int) float64 {
	each := 1 / (float64(n) * pl.Epsilon.Float())
	l1, l2 := pl.sensitivityNorms()
	switch d := float64(pl.dim()); {
	case pl.NotPrivate:
		return 0
	case pl.Noise == Gaussian:
		return math.Sqrt(d/(2*pl.bill[0].Rho.Float())) / float64(n) * l2
	case pl.Noise == Laplace:
		return math.Sqrt(2*d*pl.countEntries()) * each * l1
	default: // a fit's part of a sphere of all
		return d * math.Sqrt(float64(pl.countFits())) * each * l2
	}
}

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	f.AddScope(pl.s, pl.Terms(), ", and nothing else of it")
	f.Add("features", pl.space.Width(), "%s of %s, %s encoding; private columns are not read",
		plaintext.Count(pl.space.Width(), "feature"), plaintext.Count(len(pl.space.Columns), "public column"), pl.Encoding)
	if k := pl.countFits(); k > 1 {
		f = append(f, learn.Fact{Key: "fits", Value: k,
			Text: fmt.Sprintf("%d fits, each level of the label against the rest, of one release", k)})
	}
	if pl.NotPrivate {
		f = append(f, learn.Fact{Key: "epsilon", Value: "inf"})
	} else {
		f = append(f, learn.Fact{Key: "epsilon", Value: pl.Epsilon.Float(),
			Text: fmt.Sprintf("price ε = %s in one release", pl.Epsilon)})
	}
	if pl.Delta > 0 {
		f = append(f, learn.Fact{Key: "delta", Value: json.Number(pl.Delta.String()),
			Text: fmt.Sprintf("and δ = %s: Gaussian noise of ρ = %s", pl.Delta, pl.bill[0].Rho)})
	}
	if pl.rows == 0 {
		return append(f, learn.Fact{Key: "reg", Value: nil, Text: "Λ and the noise need the number of rows",
			Next: dp.Step{Kind: dp.GiveParam, Name: "rows"}})
	}
	reg := pl.ridgeFor(pl.rows)
	f = append(f, learn.Fact{Key: "reg", Value: reg, Text: fmt.Sprintf("Λ = %s on the mean loss", learn.Digits(reg, 4))})
	if !pl.NotPrivate {
		length := pl.noiseLength(pl.rows)
		f = append(f, learn.Fact{Key: "noise_length", Value: length,
			Text: fmt.Sprintf("%s noise in the mean of rows of length at most 1: at most %s on average", pl.Noise,
				learn.Digits(length, 4))})
	}
	return f
}

// ridgeFor returns Λ: the given value, or else the rule of erm for noise of the same length.
func (pl *Plan) ridgeFor(n int) float64 {
	if pl.Reg > 0 {
		return pl.Reg
	}
	noise := pl.noiseLength(n)
	reg := max(0.1/float64(n), min(10*noise*noise, mostRidge))
	return min(maxReg, max(minReg, reg))
}
