// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ likewise; 0 for a pure guarantee. It is spent only where that quiets the noise
	NotPrivate bool       // no noise at all, for comparison; Epsilon must then be 0
	// Rows is the number of rows that the rules reckon with, 0 for none given:
	// under replace-one the table's own is then used, which is public; under
	// add-remove, where it is private, assumedRows. It moves no noise scale, so a
	// wrong number costs accuracy and never privacy.
	Rows int
}

// assumedRows stands for a number of rows that nobody gave.
const assumedRows = 10_000

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s       *schema.Schema
	rows    int // what the rules reckon with
	assumed bool
	spared  bool // a δ was given and would buy nothing
	scope   dp.Scope
	public  []int          // columns of the free public part; none under dp.WholeRow
	private []feature.Bins // what may be released: columns, then pairs
	columns int            // so many of them are columns
	open    []feature.Bins // pairs of the free public part
	waiting int            // pairs that are not released at this price
	rules   rules
	counts  counting // from which bins follow
	prior   part     // price of the share of the positive label; nothing where it is public
	shares  []share  // one per round
	bill    []dp.Event
}

// share is one round's part of the price.
type share struct {
	pick  dp.Epsilon
	cells part
}

// part is the price of one release: eps, or rho where noise is Gaussian.
type part struct {
	eps dp.Epsilon
	rho dp.Rho
}

// Plan checks p against the public schema and prices one fit. rows is the
// number of rows where that is public or declared, else 0.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := learn.Binary("additive", s); err != nil {
		return nil, err
	}
	if err := p.check(s); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: p.Rows, scope: dp.PrivateFeatures}
	if pl.rows == 0 {
		pl.rows = rows
	}
	if pl.rows == 0 {
		pl.rows, pl.assumed = assumedRows, true
	}
	private := s.ByRole(schema.Private)
	if s.Label.Role == schema.Private || s.Relation != dp.ReplaceOne || p.NotPrivate {
		pl.scope, private = dp.WholeRow, s.Features()
	} else {
		pl.public = s.ByRole(schema.Public)
	}
	if err := learn.CheckDefaults("additive", s, pl.scope, p.NotPrivate); err != nil {
		return nil, err
	}
	if len(private) == 0 {
		return nil, &dp.ParamError{Op: "additive", Param: "schema", Want: "must have at least one private column, or a private label and a column", Hint: "without any, use a learner without noise such as logistic"}
	}
	rho, err := buys(p)
	if err != nil {
		return nil, err
	}
	pairs := pl.protected()
	pl.rules = settleWith(len(pairs), p, s.Relation, pl.rows, len(private), rho, len(pl.public) > 0)
	if !pl.rules.gaussian && pl.Delta > 0 {
		pl.Delta, pl.spared = 0, true
	}
	if pl.private, pl.counts, err = newCounting(s, private, pl.rules.bins, p.NotPrivate); err != nil {
		return nil, err
	}
	pl.counts.buy(pl.Epsilon, rho, pl.rows, pl.rules.gaussian, tooFew(pl.rules.picks, pl.rules.rounds))
	pl.cross(pairs)
	return pl, pl.bills()
}

// buys is the ρ of all releases together that (ε, δ) buys; 0 without a δ.
func buys(p Params) (float64, error) {
	if p.Delta == 0 {
		return 0, nil
	}
	rho, err := accounting.GaussianRho(p.Epsilon.Float(), p.Delta.Float())
	return rho.Float(), err
}

func (p Params) check(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "additive", Param: param, Want: want, Got: got}
	}
	switch {
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Delta < 0 || p.Delta > dp.MaxDelta || p.Delta != 0 && p.NotPrivate:
		return bad("delta", "must be at least 0 and below 1, and 0 when training without privacy", p.Delta)
	case p.Rows < 0:
		return bad("rows", "must be at least 1, or 0 for none given", p.Rows)
	}
	return nil
}

// bills splits the price. Each release is charged exactly the part its own noise
// is sized for (1.6).
func (pl *Plan) bills() error {
	switch {
	case pl.NotPrivate:
		pl.shares = make([]share, pl.rules.rounds)
		return nil
	case !pl.rules.gaussian:
		eps, err := divide(pl.Epsilon, pl.parts())
		if err != nil {
			return err
		}
		hand(pl, eps, func(e dp.Epsilon) part { return part{eps: e} })
		return nil
	}
	if err := learn.CheckDelta("additive", pl.Delta, pl.Rows); err != nil {
		return err
	}
	gaussian := func(all dp.Rho) error {
		rho, err := divide(all, pl.parts())
		if err != nil {
			return err
		}
		hand(pl, rho, func(r dp.Rho) part { return part{rho: r} })
		return nil
	}
	all, err := accounting.Afford(pl.price(), dp.MaxRho, func(all dp.Rho) []dp.Event {
		if gaussian(all) != nil { // too little to divide: a bill like any other
			return []dp.Event{gaussianEvent(cellsLabel(0), all)}
		}
		return pl.bill
	})
	if err != nil {
		return err
	}
	return gaussian(all)
}

func (pl *Plan) price() dp.Price { return dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta} }

// parts are the shares of the releases, in charging order.
func (pl *Plan) parts() (parts []float64) {
	r := pl.rules
	rest := 1 - pl.counts.share
	if pl.scope == dp.WholeRow {
		rest -= priorShare
		parts = append(parts, priorShare*r.whole()/rest)
	}
	if len(pl.counts.asking) > 0 {
		parts = append(parts, pl.counts.share*r.whole()/rest)
	}
	for t := range r.rounds {
		round := r.of(t).share * float64(len(r.passes))
		if r.picks {
			parts = append(parts, round*r.pickShare)
		}
		parts = append(parts, round*(1-r.pickShare))
	}
	return parts
}

// hand gives every release its price and writes the bill.
func hand[N dp.Epsilon | dp.Rho](pl *Plan, prices []N, as func(N) part) {
	pl.shares, pl.bill = make([]share, pl.rules.rounds), nil
	next := func(release, mechanism string) part {
		p := as(prices[0])
		prices = prices[1:]
		if p.rho > 0 {
			pl.bill = append(pl.bill, gaussianEvent(release, p.rho))
		} else {
			pl.bill = append(pl.bill, dp.Event{Release: release, Mechanism: mechanism, Epsilon: p.eps})
		}
		return p
	}
	if pl.scope == dp.WholeRow {
		pl.prior = next(priorLabel, "laplace")
	}
	if len(pl.counts.asking) > 0 {
		pl.counts.price = next(countsLabel, "laplace")
	}
	for t := range pl.shares {
		if pl.rules.picks {
			pl.shares[t].pick = next(pickLabel(t), "permute-and-flip").eps
		}
		pl.shares[t].cells = next(cellsLabel(t), "laplace")
	}
}

func gaussianEvent(release string, rho dp.Rho) dp.Event {
	return dp.Event{Release: release, Mechanism: mech.Gaussian{}.Name(), Epsilon: dp.Infinite, Rho: rho}
}

// divide splits a price in proportion to parts, in whole units that add up to
// it; what rounding leaves goes to the last.
func divide[N dp.Epsilon | dp.Rho](price N, parts []float64) ([]N, error) {
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	out := make([]N, len(parts))
	left := price
	for i, p := range parts {
		out[i] = N(float64(price) * (p / sum))
		if i == len(parts)-1 {
			out[i] = left
		}
		if out[i] < 1 || out[i] > left {
			return nil, &dp.ParamError{Op: "additive", Param: "epsilon", Want: fmt.Sprintf("must give each of %d releases at least the smallest unit of price", len(parts)), Got: price}
		}
		left -= out[i]
	}
	return out, nil
}

const priorLabel = "number of rows by label"

func pickLabel(t int) string  { return fmt.Sprintf("column of round %d", t+1) }
func cellsLabel(t int) string { return fmt.Sprintf("weighted cells of round %d", t+1) }

// Events is the bill of one Fit, in charging order.
func (pl *Plan) Events() []dp.Event { return slices.Clone(pl.bill) }
