// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon    dp.Epsilon // ε of the whole fit; no default
	Delta      dp.Delta   // δ likewise: > 0 with Gaussian noise, 0 with Laplace's
	NotPrivate bool       // nothing is protected; Epsilon must then be 0
	Form       Form
	Noise      Noise
	// Teachers is the number of parts that the rows are dealt into; 0, or more than there are
	// rows, is one part for each row (50 parts in the printed form).
	Teachers int
	Encoding feature.Encoding
	// VoteEpsilon is what the printed form calls the price of one vote; used by
	// Printed only.
	VoteEpsilon dp.Epsilon
}

// Form says which PATE.
type Form string

const (
	// Repaired asks teachers about features and prices a row's own answer.
	Repaired Form = "repaired"
	// Printed asks teachers about every training row, as section 7 says. Not
	// private: it needs NotPrivate.
	Printed Form = "printed"
)

// Noise is the law of the noise of the repaired form.
type Noise string

const (
	// Laplace noise meets votes of L1 length 1.
	Laplace Noise = "laplace"
	// Gaussian noise meets votes of L2 length 1, for a guarantee with a δ: a row
	// of many columns then has more to say.
	Gaussian Noise = "gaussian"
)

// Defaults hold no ε.
func Defaults() Params {
	return Params{Form: Repaired, Noise: Laplace, Encoding: feature.OneHot, VoteEpsilon: dp.Nano / 10}
}

const (
	maxTeachers     = 1 << 24
	printedTeachers = 50      // of the printed form, which states no number
	votesShare      = 0.8     // of ε or ρ, for the teachers' votes; the rest says what they are worth
	printedVotes    = 1 << 14 // teachers that a printed model has room for
)

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s      *schema.Schema
	rows   int // public number of rows; 0 when unknown
	scope  dp.Scope
	public *feature.Space // of the student's own columns; nil when everything is private
	// private is the space of what teachers see, joint that of the model: the
	// public columns first.
	private, joint *feature.Space
	votes, worth   part // the two releases' prices
	bill           []dp.Event
}

// part is what one release may cost: ε with Laplace noise, ρ with Gaussian.
type part struct {
	eps dp.Epsilon
	rho dp.Rho
}

// Plan checks p against the public schema and prices one fit. rows is the
// number of rows if that is public, else 0; it moves no price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := cmp.Or(learn.TwoClasses("pate", s), learn.Unweighted("pate", s)); err != nil {
		return nil, err
	}
	if err := learn.Unconstrained("pate", s); err != nil {
		return nil, err
	}
	if err := learn.CheckOneRow("pate", s); err != nil {
		return nil, err
	}
	if err := p.checkRanges(s); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, scope: dp.WholeRow}
	private := s.Features()
	public := s.ByRole(schema.Public)
	partly := s.Label.Role == schema.Public && len(public) > 0
	if partly {
		pl.scope, private = dp.PrivateFeatures, s.ByRole(schema.Private)
	}
	switch {
	case len(private) == 0:
		return nil, &dp.ParamError{Op: "pate", Param: "schema",
			Want: "must have at least one private column, or a private label and a column",
			Hint: "without any, use a learner without noise such as logistic"}
	case p.Form == Printed && !partly:
		return nil, &dp.ParamError{Op: "pate", Param: "schema",
			Want: "must have a public label and a public column in the printed form, whose student sees nothing else"}
	}
	if err := learn.CheckDefaults("pate", s, pl.scope, p.NotPrivate); err != nil {
		return nil, err
	}
	var err error
	if pl.private, err = feature.NewSpace(s, p.Encoding, private); err != nil {
		return nil, err
	}
	if pl.joint = pl.private; partly {
		if pl.public, err = feature.NewSpace(s, p.Encoding, public); err != nil {
			return nil, err
		}
		if pl.joint, err = feature.NewSpace(s, p.Encoding, slices.Concat(public, private)); err != nil {
			return nil, err
		}
	}
	return pl, pl.splitPrice()
}

func (p Params) checkRanges(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "pate", Param: param, Want: want, Got: got}
	}
	switch {
	case s.Relation != dp.ReplaceOne:
		return bad("relation", "must be replace-one: rows are dealt into parts of sizes that the number of rows settles, "+
			"and it is private otherwise", s.Relation)
	case p.Form != Repaired && p.Form != Printed:
		return bad("form", `must be "repaired" or "printed"`, p.Form)
	case p.Form == Printed && !p.NotPrivate:
		return &dp.ParamError{Op: "pate", Param: "form", Want: "must be repaired where anything is to be protected",
			Got: p.Form,
			Hint: "as printed, a query about a row is made of that row's own private cells and can flip the whole vote; the " +
				"not-private override runs it for comparison"}
	case p.Noise != Laplace && p.Noise != Gaussian:
		return bad("noise", `must be "laplace" or "gaussian"`, p.Noise)
	case p.Form == Printed && p.Noise != Laplace:
		return bad("noise", `must be "laplace" in the printed form`, p.Noise)
	case p.Delta != 0 && (p.NotPrivate || p.Noise != Gaussian):
		return bad("delta", fmt.Sprintf(`must be 0 with noise %q: only "gaussian" spends one`, p.Noise), p.Delta)
	case p.Noise == Gaussian && !p.NotPrivate && !(p.Delta > 0 && p.Delta <= dp.MaxDelta):
		return bad("delta", `must be > 0 and < 1 with noise "gaussian"`, p.Delta)
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Teachers < 0 || p.Teachers > maxTeachers:
		return bad("teachers", fmt.Sprintf("must be from 1 to %d, or 0 for one a row", maxTeachers), p.Teachers)
	case p.Form == Printed && p.Teachers > printedVotes:
		return bad("teachers", fmt.Sprintf("must be at most %d in the printed form, whose model holds them all",
			printedVotes), p.Teachers)
	case p.Form == Printed && (p.VoteEpsilon < 1 || p.VoteEpsilon > dp.MaxEpsilon):
		return bad("vote-epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.VoteEpsilon)
	}
	return nil
}

// countTeachers is how many there are for a table of the given size. Without a wish
// every row has its own: what a teacher of more rows knows better did not make up
// for what its one vote weighs less against the noise (evidence/guarantees/pate.md
// has the numbers).
func (pl *Plan) countTeachers(rows int) int {
	switch {
	case pl.Teachers > 0:
		return min(pl.Teachers, rows)
	case pl.Form == Printed:
		return min(printedTeachers, rows)
	}
	return rows
}

const (
	votesLabel = "votes of the teachers"
	worthLabel = "worth of the votes"
)

// splitPrice splits what the fit may cost over the two releases. Each is charged
// exactly the part its own noise is sized for (1.5).
func (pl *Plan) splitPrice() error {
	if pl.NotPrivate {
		return nil
	}
	if pl.Noise == Gaussian {
		return pl.splitRho()
	}
	pl.votes.eps = dp.Epsilon(math.Round(votesShare * float64(pl.Epsilon)))
	pl.worth.eps = pl.Epsilon - pl.votes.eps
	if pl.votes.eps < 1 || pl.worth.eps < 1 {
		return &dp.ParamError{Op: "pate", Param: "epsilon", Want: "must give each of 2 releases at least 1e-9",
			Got: pl.Epsilon.String()}
	}
	name := mech.Laplace{}.Name()
	pl.bill = []dp.Event{{Release: votesLabel, Mechanism: name, Epsilon: pl.votes.eps},
		{Release: worthLabel, Mechanism: name, Epsilon: pl.worth.eps}}
	return nil
}

// splitRho splits the largest ρ that (ε, δ) buys; ρ of releases adds up, so
// one release stands for both (1.7).
func (pl *Plan) splitRho() error {
	if err := guard.CheckDelta("pate", pl.Delta, pl.rows); err != nil {
		return err
	}
	release := func(label string, rho dp.Rho) dp.Event {
		return dp.Event{Release: label, Mechanism: mech.Gaussian{}.Name(), Epsilon: dp.Infinite, Rho: rho}
	}
	all, err := accounting.Afford(pl.totalPrice(), dp.MaxRho,
		func(rho dp.Rho) []dp.Event { return []dp.Event{release(votesLabel, rho)} })
	if err != nil {
		return err
	}
	pl.votes.rho = dp.Rho(math.Round(votesShare * float64(all)))
	pl.worth.rho = all - pl.votes.rho
	if pl.votes.rho < 1 || pl.worth.rho < 1 {
		return &dp.ParamError{Op: "pate", Param: "epsilon", Want: "must give each of 2 releases a ρ of at least 1e-12",
			Got: pl.Epsilon.String()}
	}
	if _, err := mech.GaussianFor(pl.votes.rho, votesMove, pl.private.Width()+1); err != nil { // too many features
		return err
	}
	pl.bill = []dp.Event{release(votesLabel, pl.votes.rho), release(worthLabel, pl.worth.rho)}
	return nil
}

func (pl *Plan) totalPrice() dp.Price {
	if pl.NotPrivate {
		return dp.Price{}
	}
	return dp.Price{Epsilon: pl.Epsilon, Delta: pl.Delta}
}

// Terms are what one Fit protects and pays.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "pate", Scope: pl.scope, Price: pl.totalPrice(), Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}
