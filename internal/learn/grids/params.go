// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ of the whole fit; 0 for a pure guarantee. It is spent only if that reduces the noise
	NotPrivate bool       // without noise, for comparison; Epsilon must then be 0
	// Rows is the number of rows that the rules assume, as in additive. It does not affect the noise scale, so that a
	// wrong number reduces accuracy and never privacy.
	Rows   int
	Rounds int // number of released grids, at most maxRounds; 0 for the rule's
	// After is for FitAfter: the rows of each class are not released.
	After bool
}

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s       *schema.Schema
	rows    int // number assumed by the rules
	assumed bool
	spared  bool // a δ was given and would not help
	scope   dp.Scope
	columns []cuttable
	rules   rules
	prior   guard.Share
	stretch guard.Share // of the weight of all grids together, if it is measured
	shares  []share     // by round
	bill    []dp.Event
}

// share is one round's part of the price.
type share struct{ pick, cells guard.Share }

// Plan checks p against the public schema and prices one fit. rows is the number of rows if it is
// public or declared, otherwise 0.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := p.check(s); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: cmp.Or(p.Rows, rows, assumedRows), scope: dp.PrivateFeatures}
	pl.assumed = p.Rows == 0 && rows == 0
	if s.Label.Role == schema.Private || s.Relation != dp.ReplaceOne || p.NotPrivate {
		pl.scope = dp.WholeRow
	}
	if err := learn.CheckDefaults("grids", s, pl.scope, p.NotPrivate); err != nil {
		return nil, err
	}
	if pl.scope == dp.PrivateFeatures && len(s.ByRole(schema.Private)) == 0 {
		return nil, refuse("schema", "must have at least one private column, or a private label and a column", nil,
			"without any, use a learner without noise such as logistic")
	}
	rho := dp.Rho(0) // that Gaussian noise alone could spend
	if p.Delta > 0 {
		err := guard.CheckDelta("grids", p.Delta, p.Rows)
		if err == nil {
			rho, err = accounting.GaussianRho(p.Epsilon.Float(), p.Delta.Float())
		}
		if err != nil {
			return nil, err
		}
	}
	pl.rules = settle(p, s, pl.rows, rho.Float())
	if pl.columns = cuttables(s, pl.rules.cuts); len(pl.columns) == 0 {
		return nil, refuse("schema", "must have at least one column of two values or more", 0, "")
	}
	if !pl.rules.gaussian && pl.Delta > 0 {
		pl.Delta, pl.spared = 0, true
	}
	return pl, pl.writeBill()
}

func refuse(param, want string, got any, hint string) error {
	return &dp.ParamError{Op: "grids", Param: param, Want: want, Got: got, Hint: hint}
}

func (p Params) check(s *schema.Schema) error {
	if err := learn.CheckPrice("grids", p.Epsilon, p.Delta, p.NotPrivate, p.Rows); err != nil {
		return err
	}
	if p.Rounds < 0 || p.Rounds > maxRounds {
		want := fmt.Sprintf("must be at least 1 and at most %d, or 0 for the rule's number", maxRounds)
		return refuse("rounds", want, p.Rounds, "")
	}
	if len(s.Pairs) > 0 {
		return refuse("pairs", "must be left out, because this learner finds interactions of columns by itself", len(s.Pairs),
			"learner additive uses them")
	}
	return cmp.Or(learn.Unweighted("grids", s), learn.Unconstrained("grids", s), learn.CheckOneRow("grids", s))
}

// writeBill divides the price. Each release is charged exactly the part for which its noise is scaled (1.5).
func (pl *Plan) writeBill() (err error) {
	list := pl.listReleases()
	if !pl.NotPrivate {
		pl.bill, err = learn.WriteBill("grids", list, pl.Terms().Price, pl.rules.gaussian)
	}
	return err
}

// listReleases lists the releases in charging order, and allocates fields for their prices.
func (pl *Plan) listReleases() (list []learn.Release) {
	rest := 1.0
	if pl.calibrates() {
		rest -= learn.CalibrationShare
	}
	if pl.releasesClasses() {
		rest -= priorShare
		list = append(list, learn.Release{Label: classesLabel, Share: priorShare, Price: &pl.prior})
	}
	pl.shares = make([]share, pl.rules.rounds)
	each, pick := rest/float64(pl.rules.rounds), pl.rules.pickShare
	for t := range pl.shares {
		list = append(list, learn.Release{Label: pickLabel(t), Share: each * pick, Price: &pl.shares[t].pick, Choice: true},
			learn.Release{Label: cellsLabel(t), Share: each * (1 - pick), Price: &pl.shares[t].cells})
	}
	if pl.calibrates() {
		list = append(list, learn.Release{Label: stretchLabel, Share: learn.CalibrationShare, Price: &pl.stretch})
	}
	return list
}

// calibrates reports whether the finished score is measured: steps of more classes have the noise of many rounds, and no
// curve that would say how much of them it is.
func (pl *Plan) calibrates() bool { return pl.s.Classes() > 2 && !pl.NotPrivate }

// releasesClasses reports whether the rows of each class are released: they are public if labels are.
func (pl *Plan) releasesClasses() bool { return pl.scope == dp.WholeRow && !pl.After }

const (
	classesLabel = "rows of each class"
	stretchLabel = "weight of all grids together"
)

func pickLabel(t int) string  { return fmt.Sprintf("grid of round %d", t+1) }
func cellsLabel(t int) string { return fmt.Sprintf("slopes of round %d", t+1) }

// Terms returns the bill of one Fit, in the order of its measurements.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "grids", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta},
		Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}

// Facts describes the plan in words and numbers, from public choices alone.
func (pl *Plan) Facts() []learn.Fact {
	var f learn.Facts
	r := pl.rules
	f.AddScope(pl.s, pl.Terms(), "")
	f.AddColumns(pl.s, !pl.NotPrivate)
	f.AddRows(pl.s, pl.rows, pl.assumed)
	price := ""
	if !pl.NotPrivate {
		price = fmt.Sprintf(", for %.0f %% of its price", 100*r.pickShare)
	}
	f.Add("rounds", r.rounds, "%s, each chooses among %d grids drawn at random%s", plaintext.Count(r.rounds, "round"), r.candidates, price)
	f.Add("cells", r.cells, "a grid is of 1 to %d of %d columns and has at most %d cells, cut by the schema and by coins",
		r.axes[len(r.axes)-1], len(pl.columns), r.cells)
	f.AddPrice(pl.Terms().Price, len(pl.bill), pl.spared)
	if !pl.NotPrivate {
		noise := math.Sqrt(pl.shares[r.rounds-1].cells.Variance(pl.slopeMoves()))
		f.Add("noise", noise, "noise of a round: a standard deviation of %s rows on the slope of each cell",
			learn.Digits(noise, 4))
	}
	return f
}
