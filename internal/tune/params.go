// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Candidate is a learner with its parameters.
type Candidate struct {
	Name string // in words, on one line; that of the selected candidate is released
	// Plan makes the plan of a fit with the given ε. rows is 0 if unknown.
	Plan func(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error)
}

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon  // ε of the whole fit; no default
	Candidates []Candidate // 2 to 1000, public: made without looking at the table
	Method     Method
	Loss       Loss
	HeldOut    float64 // share of evaluation rows, in [0.01, 0.99]
	// Patience is 1/γ of the random stopping, in [2, 10000]. A larger value means more runs. It does
	// not affect the price. All does not use it.
	Patience int
}

// Method determines the number of trainings and the price of each.
type Method string

const (
	// All trains every candidate once, for an equal share of ε, and selects by
	// permute-and-flip.
	All Method = "all"
	// The other methods train randomly drawn candidates a random number of times, which has a
	// truncated negative binomial distribution with η = 1, 0, -1/2.
	Geometric   Method = "geometric"   // ε/3 per training
	Logarithmic Method = "logarithmic" // ε/2
	Root        Method = "root"        // 2ε/3
)

// Methods lists all methods.
func Methods() []Method { return []Method{All, Geometric, Logarithmic, Root} }

// Defaults returns defaults for all choices but ε and the candidates.
func Defaults() Params { return Params{Method: All, Loss: LogLoss, HeldOut: 0.25, Patience: 10} }

// Limits on public choices.
const (
	maxCandidates = 1000
	maxPatience   = 10_000
)

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s      *schema.Schema
	scope  dp.Scope
	runs   []run // parallel to Candidates
	law    stopping
	judge  mech.Laplace        // unused by All
	choose mech.PermuteAndFlip // used by All only
	bill   []dp.Event
}

// run is one planned candidate.
type run struct {
	plan  learn.Plan
	share dp.Epsilon
	scope dp.Scope
}

// Plan checks p and every candidate against the public schema and prices one fit. rows is 0 if
// unknown; it does not affect the price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	pl := &Plan{Params: p, s: s}
	if err := p.checkRanges(s); err != nil {
		return nil, err
	}
	shares, err := pl.splitPrice()
	if err != nil {
		return nil, err
	}
	for i, c := range p.Candidates {
		r, err := c.planTraining(s, shares[i], rows-countJudges(rows, p.HeldOut))
		if err != nil {
			return nil, fmt.Errorf("tune: candidate %q: %w", c.Name, err)
		}
		pl.runs = append(pl.runs, r)
		if pl.scope, err = commonScope(pl.scope, r.scope); err != nil {
			return nil, err
		}
	}
	return pl, nil
}

func (p Params) checkRanges(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "tune", Param: param, Want: want, Got: got}
	}
	if err := learn.Unweighted("tune", s); err != nil { // each judge counts once
		return err
	}
	if err := learn.CheckOneRow("tune", s); err != nil {
		return err
	}
	law, known := laws[p.Method]
	switch { // written so that NaN fails
	case s.Relation != dp.ReplaceOne:
		return &dp.ParamError{Op: "tune", Param: "relation", Want: "must be " + string(dp.ReplaceOne) +
			": the sizes of the two parts of the table are public", Got: s.Relation}
	case p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon:
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case len(p.Candidates) < 2 || len(p.Candidates) > maxCandidates:
		return bad("candidates", fmt.Sprintf("must number 2 to %d", maxCandidates), len(p.Candidates))
	case !known && p.Method != All:
		return bad("method", fmt.Sprintf("must be one of %v", Methods()), p.Method)
	case !slices.Contains(Losses(), p.Loss):
		return bad("loss", fmt.Sprintf("must be one of %v", Losses()), p.Loss)
	case p.Loss == AUC && len(s.Label.Levels) > 2:
		return bad("loss", "must be log-loss or mistakes if the label has more than two classes", p.Loss)
	case !(p.HeldOut >= 0.01 && p.HeldOut <= 0.99):
		return bad("held-out", "must be a share from 0.01 to 0.99", p.HeldOut)
	case known && (p.Patience < 2 || p.Patience > maxPatience):
		return bad("patience", fmt.Sprintf("must be from 2 to %d", maxPatience), p.Patience)
	case known && law.shareOf(p.Epsilon) < 1:
		return bad("epsilon", "must leave each run at least 1e-9", p.Epsilon)
	}
	return nil
}

// splitPrice computes what each candidate may spend in one training, the noise of the evaluation, and
// the bill.
//
// A row is used either for training or for evaluation, so that the two prices do not add up (1.2).
// With All, the trainings share ε, and the selection, which uses other rows, has all of ε. With random
// stopping, training and evaluation of one run have ε/(2+η) each.
func (pl *Plan) splitPrice() (shares []dp.Epsilon, err error) {
	n := len(pl.Candidates)
	if pl.Method == All {
		if shares, err = pl.Epsilon.Split(n); err != nil { // 1.3
			return nil, err
		}
		// A row that judges moves each loss by at most one, up or down.
		if pl.choose, err = mech.PermuteAndFlipFor(pl.Epsilon, 2); err != nil { // 1.4
			return nil, err
		}
	} else {
		pl.law = laws[pl.Method]
		each := pl.law.shareOf(pl.Epsilon) // 1.5
		for range n {
			shares = append(shares, each)
		}
		if pl.judge, err = mech.LaplaceFor(each, 1, 1); err != nil { // 1.6
			return nil, err
		}
	}
	pl.bill = []dp.Event{{Release: fmt.Sprintf("model chosen among %d candidates", n), Mechanism: "tune-" +
		string(pl.Method), Epsilon: pl.Epsilon}}
	return shares, nil
}

// planTraining plans one training, and checks the properties that the argument requires: a pure price
// that is exactly its share, and a scope.
func (c Candidate) planTraining(s *schema.Schema, share dp.Epsilon, rows int) (run, error) {
	pl, err := c.Plan(share, s, rows)
	if err != nil {
		return run{}, err
	}
	if got := dp.Total(pl.Terms().Bill); pl.Terms().NotPrivate || got != share {
		return run{}, &dp.ParamError{Op: "tune", Param: "candidate", Want: fmt.Sprintf("must be a private learner whose "+
			"price is the ε it is given, %s", share), Got: got, Hint: "learners without privacy and prices with δ cannot be " +
			"tuned"}
	}
	return run{pl, share, pl.Terms().Scope}, nil
}

// commonScope returns the protection that two guarantees have in common.
func commonScope(a, b dp.Scope) (dp.Scope, error) {
	switch {
	case a == "" || scopeContains(a, b):
		return b, nil
	case scopeContains(b, a):
		return a, nil
	}
	return "", &dp.ParamError{Op: "tune", Param: "candidates", Want: "must protect something in common",
		Got: fmt.Sprintf("%q and %q", a, b)}
}

// scopeContains reports whether protecting a protects b too.
func scopeContains(a, b dp.Scope) bool {
	return a == b || a == dp.WholeRow || a == dp.FeaturesAndLabel && (b == dp.PrivateFeatures || b == dp.LabelOnly)
}

// Terms is the cost of the selection. The bill has one line, because only one model is released. The
// measurements in the trainings do not add up to its price (see the guarantee), and their number must
// not be revealed.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "tune", Scope: pl.scope, Price: dp.Pure(pl.bill), Bill: append([]dp.Event(nil), pl.bill...)}
}
