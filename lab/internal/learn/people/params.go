// SPDX-License-Identifier: Apache-2.0

package people

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	NotPrivate bool       // no noise at all, for comparison; Epsilon must then be 0
	// Rounds is T, or 0 for a rule: as many as ε and the number of rows can pay
	// for, at most 25.
	Rounds int
	// Kappa is κ in (0, 1]: no row ever holds more than 1/(κn) of the weight.
	// Smaller lets boosting attend to fewer rows and costs noise.
	Kappa      float64
	Encoding   feature.Encoding
	Base       Base
	Candidates int // number of random classifiers to choose from in a round, in [1, 1024]; used by Random only
}

// Base says what the base learner chooses from.
type Base string

const (
	// Stump is every category on its own and every number at fixed cuts.
	Stump Base = "stump"
	// Random is linear classifiers with uniform coefficients, drawn once.
	Random Base = "random"
)

// Defaults hold no ε.
func Defaults() Params {
	return Params{Kappa: 0.5, Encoding: feature.OneHot, Base: Stump, Candidates: 64}
}

// Limits on public choices that only bound time and memory.
const (
	maxRounds     = 10_000
	maxCandidates = 1024
)

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s      *schema.Schema
	rows   int // public number of rows; 0 when unknown
	scope  dp.Scope
	public []int // columns of the free public classifier; none under dp.WholeRow
	// space has the public columns first; all voters live in it.
	space *feature.Space
	first int // its first column that voters may be chosen for
	share []share
	bill  []dp.Event
}

// share is one round's part of ε.
type share struct{ pick, err dp.Epsilon }

// Plan checks p against the public schema and prices one fit. rows is the
// number of rows if that is public, else 0; it moves the rule for the number
// of rounds, no price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := cmp.Or(learn.TwoClasses("people", s), learn.Unweighted("people", s)); err != nil {
		return nil, err
	}
	if err := learn.Unconstrained("people", s); err != nil {
		return nil, err
	}
	if err := learn.CheckOneRow("people", s); err != nil {
		return nil, err
	}
	if err := p.checkRanges(s); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, scope: dp.WholeRow}
	private := s.Features()
	if public := s.ByRole(schema.Public); s.Label.Role == schema.Public && len(public) > 0 {
		pl.scope, pl.public, private = dp.PrivateFeatures, public, s.ByRole(schema.Private)
	}
	if len(private) == 0 {
		return nil, &dp.ParamError{Op: "people", Param: "schema",
			Want: "must have at least one private column, or a private label and a column",
			Hint: "without any, use a learner without noise such as adaboost"}
	}
	if err := learn.CheckDefaults("people", s, pl.scope, p.NotPrivate); err != nil {
		return nil, err
	}
	var err error
	if pl.space, err = feature.NewSpace(s, p.Encoding, slices.Concat(pl.public, private)); err != nil {
		return nil, err
	}
	pl.first = len(pl.public)
	if pl.Rounds == 0 {
		pl.Rounds = pl.roundsFor()
	}
	return pl, pl.splitEpsilon()
}

const (
	mostRounds    = 25 // that the rule gives: where the paper that compares stops
	unknownRounds = 10 // if the number of rows is not known
	// roundCost is how many rows of the smooth distribution, times ε, a round
	// needs before its noise is small against a usual edge.
	roundCost = 100
	pickShare = 2 // of a round's ε, in thirds: the pick's; the error gets the rest
)

// roundsFor is the number of rounds that ε pays for: T ≤ κnε/100 (evidence/guarantees).
func (pl *Plan) roundsFor() int {
	switch {
	case pl.NotPrivate:
		return mostRounds
	case pl.rows == 0:
		return unknownRounds
	}
	return int(max(1, min(mostRounds, math.Floor(pl.Kappa*float64(pl.rows)*pl.Epsilon.Float()/roundCost))))
}

func (p Params) checkRanges(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "people", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case s.Relation != dp.ReplaceOne:
		return bad("relation",
			"must be replace-one: the cap on weights is a share of the number of rows, which is private otherwise", s.Relation)
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Rounds < 0 || p.Rounds > maxRounds:
		return bad("rounds", fmt.Sprintf("must be from 1 to %d, or 0 for the rule", maxRounds), p.Rounds)
	case !(p.Kappa >= 0x1p-10 && p.Kappa <= 1):
		return bad("kappa", "must be from 1/1024 to 1", p.Kappa)
	case p.Base != Stump && p.Base != Random:
		return bad("base", `must be "stump" or "random"`, p.Base)
	case p.Base == Random && (p.Candidates < 1 || p.Candidates > maxCandidates):
		return bad("classifiers", fmt.Sprintf("must be from 1 to %d", maxCandidates), p.Candidates)
	}
	return nil
}

// splitEpsilon splits ε over the rounds, and a round's over its two releases. Each is
// charged exactly the part its own noise is sized for (1.5).
func (pl *Plan) splitEpsilon() error {
	pl.share = make([]share, pl.Rounds)
	if pl.NotPrivate {
		return nil
	}
	each, err := pl.Epsilon.Split(pl.Rounds)
	if err != nil {
		return err
	}
	for t := range pl.share {
		thirds, err := each[t].Split(3)
		if err != nil {
			return err
		}
		pick := dp.Epsilon(0)
		for _, e := range thirds[:pickShare] {
			pick += e
		}
		pl.share[t] = share{pick, each[t] - pick}
		pl.bill = append(pl.bill,
			dp.Event{Release: pickLabel(t), Mechanism: mech.PermuteAndFlip{}.Name(), Epsilon: pick},
			dp.Event{Release: errLabel(t), Mechanism: mech.Laplace{}.Name(), Epsilon: each[t] - pick})
	}
	return nil
}

func pickLabel(t int) string { return fmt.Sprintf("classifier of round %d", t+1) }
func errLabel(t int) string  { return fmt.Sprintf("weighted error of round %d", t+1) }

// Terms are what one Fit protects and pays.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "people", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon}, Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}
