// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/feature"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
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
	scope   dp.Scope
	public  []int          // columns of the free public part; none under dp.WholeRow
	private []feature.Bins // what may be released
	rules   rules
	prior   dp.Epsilon // price of the share of the positive label; 0 where it is public
	shares  []share    // one per round
	bill    []dp.Event
}

// share is one round's part of ε.
type share struct{ pick, cells dp.Epsilon }

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
	if s.Label.Role == schema.Private || s.Relation != dp.ReplaceOne {
		pl.scope, private = dp.WholeRow, s.Features()
	} else {
		pl.public = s.ByRole(schema.Public)
	}
	if len(private) == 0 {
		return nil, &dp.ParamError{Op: "additive", Param: "schema", Want: "must have at least one private column, or a private label and a column", Hint: "without any, use a learner without noise such as logistic"}
	}
	pl.rules = settle(p, s.Relation, pl.rows, len(private))
	for _, j := range private {
		pl.private = append(pl.private, feature.NewBins(s, j, feature.Cuts(&s.Columns[j], pl.rules.bins))) // 1.1
	}
	return pl, pl.price()
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
	case p.Rows < 0:
		return bad("rows", "must be at least 1, or 0 for none given", p.Rows)
	}
	return nil
}

// price splits ε and writes the bill. Each release is charged exactly the part
// its own noise is sized for (1.6).
func (pl *Plan) price() error {
	r := pl.rules
	pl.shares = make([]share, r.rounds)
	if pl.NotPrivate {
		return nil
	}
	var parts []float64
	if pl.scope == dp.WholeRow {
		parts = append(parts, priorShare*float64(r.rounds)/(1-priorShare))
	}
	for range r.rounds {
		if r.picks {
			parts = append(parts, r.pickShare)
		}
		parts = append(parts, 1-r.pickShare)
	}
	eps, err := divide(pl.Epsilon, parts)
	if err != nil {
		return err
	}
	next := func(release, mechanism string) (e dp.Epsilon) {
		e, eps = eps[0], eps[1:]
		pl.bill = append(pl.bill, dp.Event{Release: release, Mechanism: mechanism, Epsilon: e})
		return e
	}
	if pl.scope == dp.WholeRow {
		pl.prior = next(priorLabel, "laplace")
	}
	for t := range pl.shares {
		if r.picks {
			pl.shares[t].pick = next(pickLabel(t), "permute-and-flip")
		}
		pl.shares[t].cells = next(cellsLabel(t), "laplace")
	}
	return nil
}

// divide splits eps in proportion to parts, in whole units that add up to eps;
// what rounding leaves goes to the last.
func divide(eps dp.Epsilon, parts []float64) ([]dp.Epsilon, error) {
	sum := 0.0
	for _, p := range parts {
		sum += p
	}
	out := make([]dp.Epsilon, len(parts))
	left := eps
	for i, p := range parts {
		out[i] = dp.Epsilon(float64(eps) * (p / sum))
		if i == len(parts)-1 {
			out[i] = left
		}
		if out[i] < 1 || out[i] > left {
			return nil, &dp.ParamError{Op: "additive", Param: "epsilon", Want: fmt.Sprintf("must give each of %d releases at least 1e-9", len(parts)), Got: eps.String()}
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
