// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// LevelsPlan is a checked Params with the bill, for a label of more than two
// levels. It holds no data.
//
// Claim G-ADDITIVE-5. What it does, in order:
//
//	levels_start.go    fit the public columns to public labels, for free; or
//	                   release how many rows have each level
//	levels_release.go  per round, let the rows of one column by bin and level out;
//	                   then per column by how much its steps should count; then,
//	                   where rows are plenty, what is left over by bin and level
//	levels_smooth.go   turn noisy cells into shares of the levels, free
//	slopes.go          go half the way to lines between the middles of a number's
//	                   bins, free
type LevelsPlan struct {
	Params
	s       *schema.Schema
	rows    int // what the rules reckon with
	assumed bool
	spared  bool // a δ was given and would buy nothing
	scope   dp.Scope
	public  []int          // columns of the free public part; none under dp.WholeRow
	private []feature.Bins // what may be released
	rules   levelRules
	counts  counting // from which bins follow
	prior   part     // price of the shares of the levels; nothing where they are public
	shares  []share  // one per round
	trust   []part   // one per round where rules weigh columns
	rest    []part   // one per pass and private column where rules boost
	bill    []dp.Event
}

// PlanLevels is Plan for a label of more than two levels.
func (p Params) PlanLevels(s *schema.Schema, rows int) (*LevelsPlan, error) {
	if err := checkLevels(s); err != nil {
		return nil, err
	}
	if err := p.check(s); err != nil {
		return nil, err
	}
	pl := &LevelsPlan{Params: p, s: s, rows: p.Rows, scope: dp.PrivateFeatures}
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
	pl.rules = settleLevels(p, s.Relation, pl.rows, len(private), rho)
	if !pl.rules.gaussian && pl.Delta > 0 {
		pl.Delta, pl.spared = 0, true
	}
	if pl.private, pl.counts, err = newCounting(s, private, pl.rules.bins, p.NotPrivate); err != nil {
		return nil, err
	}
	pl.counts.buy(pl.Epsilon, rho, pl.rows, pl.rules.gaussian, tooFew(pl.rules.picks, pl.rules.rounds))
	return pl, pl.bills()
}

// checkLevels refuses what two levels alone can have.
func checkLevels(s *schema.Schema) error {
	bad := func(param, want string, got any, hint string) error {
		return &dp.ParamError{Op: "additive", Param: param, Want: want, Got: got, Hint: hint}
	}
	if s.Classes() < 3 {
		return bad("label", "must have more than 2 levels", s.Classes(), "")
	}
	if err := learn.Unweighted("additive", s); err != nil {
		return err
	}
	if len(s.Pairs) > 0 {
		return bad("pairs", "must be left out where the label has more than 2 levels", len(s.Pairs), "a column that crosses the two does the same")
	}
	for _, c := range s.Columns {
		switch {
		case c.Role == schema.Ignored:
		case c.Monotone != schema.Free:
			return bad("monotone", "must be left out of column "+c.Name+" where the label has more than 2 levels: up for one is down for another", string(c.Monotone), "")
		}
	}
	return nil
}

// bills splits the price. Each release is charged exactly the part its own noise
// is sized for (1.6).
func (pl *LevelsPlan) bills() error {
	if pl.NotPrivate {
		pl.shares, pl.trust, pl.rest = make([]share, pl.rules.rounds), make([]part, pl.rules.rounds), make([]part, pl.rules.boosts*len(pl.private))
		return nil
	}
	if !pl.rules.gaussian {
		eps, err := divide(pl.Epsilon, pl.parts())
		if err != nil {
			return err
		}
		pl.hand(eps, nil)
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
		pl.hand(nil, rho)
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

func (pl *LevelsPlan) price() dp.Price { return dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta} }

// parts are the shares of the releases, in charging order.
func (pl *LevelsPlan) parts() (parts []float64) {
	r := pl.rules
	rest := 1 - pl.counts.share
	if pl.scope == dp.WholeRow {
		rest -= priorShare
		parts = append(parts, priorShare/rest)
	}
	if len(pl.counts.asking) > 0 {
		parts = append(parts, pl.counts.share/rest)
	}
	cells := (1 - r.trustShare - r.restShare) / float64(r.rounds)
	for range r.rounds {
		if r.picks {
			parts = append(parts, cells*r.pickShare)
		}
		parts = append(parts, cells*(1-r.pickShare))
	}
	if r.trustShare > 0 {
		for range r.rounds {
			parts = append(parts, r.trustShare/float64(r.rounds))
		}
	}
	for range r.boosts * len(pl.private) {
		parts = append(parts, r.restShare/float64(r.boosts*len(pl.private)))
	}
	return parts
}

// hand gives every release its price, in ε or in ρ, and writes the bill.
func (pl *LevelsPlan) hand(eps []dp.Epsilon, rho []dp.Rho) {
	at := 0
	pl.shares, pl.trust, pl.rest, pl.bill = make([]share, pl.rules.rounds), nil, nil, nil
	next := func(release, mechanism string) part {
		at++
		if rho != nil {
			pl.bill = append(pl.bill, gaussianEvent(release, rho[at-1]))
			return part{rho: rho[at-1]}
		}
		pl.bill = append(pl.bill, dp.Event{Release: release, Mechanism: mechanism, Epsilon: eps[at-1]})
		return part{eps: eps[at-1]}
	}
	if pl.scope == dp.WholeRow {
		pl.prior = next(levelsLabel, "laplace")
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
	if pl.rules.trustShare > 0 {
		for t := range pl.rules.rounds {
			pl.trust = append(pl.trust, next(trustLabel(t), "laplace"))
		}
	}
	for t := range pl.rules.boosts * len(pl.private) {
		pl.rest = append(pl.rest, next(restLabel(t), "laplace"))
	}
}

const levelsLabel = "rows of each level"

func trustLabel(t int) string { return fmt.Sprintf("weight of the column of round %d", t+1) }

func restLabel(t int) string { return fmt.Sprintf("rest of round %d", t+1) }

// Events is the bill.
func (pl *LevelsPlan) Events() []dp.Event { return pl.bill }

// noise is for a vector that moves by step(relation) in L1 and by l2 in L2.
func (pl *LevelsPlan) noise(p part, l2 float64, size int) mech.Mechanism {
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case p.rho > 0:
		return mech.Sized(mech.GaussianFor(p.rho, l2, size))
	}
	return mech.Sized(mech.LaplaceFor(p.eps, step(pl.s.Relation), size))
}

// variance is that of the noise on one number; 0 where there is none.
func (p part) noiseVariance(l1, l2 float64) float64 {
	switch {
	case p.rho > 0:
		return l2 * l2 / (2 * p.rho.Float())
	case p.eps > 0:
		return 2 * (l1 / p.eps.Float()) * (l1 / p.eps.Float())
	}
	return 0
}
