// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon     dp.Epsilon // ε of the whole fit; no default
	NotPrivate  bool       // no noise at all, for comparison; Epsilon must then be 0
	Rounds      int        // T ≥ 1; the paper uses 25
	C1, C2      float64    // weights stay in [1/C1, C2]; each in [1, 1000]; the paper uses √2
	Encoding    feature.Encoding
	Sensitivity Sensitivity
	Intercept   Intercept
	Subroutine  Subroutine
	Output      Output
	// Candidates, in [2, 64], is the number of intercepts that InterceptSelected chooses
	// from, how many thresholds of a number Stump does, and how many cuts of a number Shape has.
	Candidates int
	// PrivateLabel says what becomes of public columns beside a private label.
	PrivateLabel PrivateLabel
	// PublicShare is the part of Epsilon that LabelDP spends on the public
	// classifier, in (0, 1). It decides what ε is spent on, not how much.
	PublicShare float64
	// ClassWeights says how much a row of each class counts.
	ClassWeights ClassWeights
	// Positives is the share of rows of the positive class, if that is declared; else
	// 0. Plans use it, and Balanced where it would have to pay for the share.
	Positives float64
	// PublicPart says what the public classifier adds in a round.
	PublicPart PublicPart
}

// PublicPart says what the public classifier adds in a round.
type PublicPart string

const (
	// Answers are −1 or +1, as printed.
	Answers PublicPart = "answers"
	// Scores are 2p − 1 with p the probability that the public classifier gives, in its
	// error and in the weights of its rows; what the model adds up is its log odds.
	Scores PublicPart = "scores"
)

// Sensitivity says how the noise of a round is sized.
type Sensitivity string

const (
	// Tight uses the largest weight any row can have after the votes released
	// so far: 1/n in the first round, at most c1c2/(n-1+c1c2) ever.
	Tight Sensitivity = "tight"
	// Paper uses c1·c2/n in every round, as printed, to reproduce figures.
	Paper Sensitivity = "paper"
)

// Intercept says where a random classifier's intercept comes from.
type Intercept string

const (
	InterceptUniform  Intercept = "uniform"  // drawn from [-1, 1], as printed
	InterceptZero     Intercept = "zero"     // section 6's alternative
	InterceptSelected Intercept = "selected" // picked privately from a public grid, for half of the round's ε
)

// Output says how the voters are added up. It is decided after the last release, so
// it moves no price and no bit of what is released.
type Output string

const (
	// Votes adds up signs: H(x) = sign(Σ α_t·sign(h_t(x))), with h_t in {-1, +1} as
	// section 3.1 has it.
	Votes Output = "votes"
	// Linear adds up the values of the linear functions: H(x) = sign(Σ α_t·h_t(x)),
	// with h_t(x) real, one linear classifier as section 8 has it.
	Linear Output = "linear"
)

// PrivateLabel says what becomes of public columns beside a private label.
type PrivateLabel string

const (
	// Everything treats them as private too (Algorithm 3).
	Everything PrivateLabel = "everything"
	// LabelDP keeps Algorithm 2, whose public classifier then costs a share of ε:
	// it is learnt from one noisy statistic of the labels (internal/learn/labeldp).
	LabelDP PrivateLabel = "labeldp"
)

// Defaults are the paper's choices (section 5.1). They hold no ε. Where the paper is
// silent: a fifth for the public classifier of a private label (evidence/guarantees/brc.md).
func Defaults() Params {
	return Params{Rounds: 25, C1: math.Sqrt2, C2: math.Sqrt2, Encoding: feature.OneHot, Sensitivity: Tight,
		Intercept: InterceptUniform, Subroutine: Random, Output: Votes, Candidates: 9, PrivateLabel: Everything,
		PublicShare: 0.2, ClassWeights: Declared, PublicPart: Answers}
}

// Limits on public choices that only bound time and memory.
const (
	maxRounds     = 10_000
	maxC          = mistakes.MaxC
	maxCandidates = 64
	maxStumps     = 4096
)

// Plan is a checked Params with the bill. It holds no data.
type Plan struct {
	Params
	s       *schema.Schema
	rows    int // declared or public number of rows; 0 when unknown
	scope   dp.Scope
	why     string // why this scope
	private *feature.Space
	public  *feature.Space // nil when everything is private
	labels  *labeldp.Plan  // makes the public classifier if the label is private; else nil
	share   dp.Epsilon     // of the classes' shares, if they are paid for
	shares  []share        // one per round
	bill    []dp.Event
}

// share is one round's part of ε.
type share struct{ pick, err dp.Epsilon }

// Plan checks p against the public schema and prices one fit. rows is the
// number of rows if that is public or declared, else 0; it moves no price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	if err := learn.TwoClasses("brc", s); err != nil {
		return nil, err
	}
	if err := learn.Unconstrained("brc", s); err != nil {
		return nil, err
	}
	if err := learn.CheckOneRow("brc", s); err != nil {
		return nil, err
	}
	if err := p.checkRanges(s); err != nil {
		return nil, err
	}
	if err := p.checkClasses(s); err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows}
	if err := pl.divideColumns(); err != nil {
		return nil, err
	}
	if err := learn.CheckDefaults("brc", s, pl.scope, p.NotPrivate); err != nil {
		return nil, err
	}
	stumps := p.Subroutine == Stump || p.Subroutine == Shape
	if n := len(allStumps(pl.private, s, p.Candidates)); stumps && (n < 2 || n > maxStumps) {
		return nil, &dp.ParamError{Op: "brc", Param: "subroutine",
			Want: fmt.Sprintf("must have from 2 to %d stumps to choose from", maxStumps), Got: n,
			Hint: "they are made of the declared bounds and levels of the private columns"}
	}
	return pl, pl.splitEpsilon()
}

// divideColumns decides which columns are on which side, and so what is protected.
func (pl *Plan) divideColumns() error {
	s := pl.s
	public, private := s.ByRole(schema.Public), s.ByRole(schema.Private)
	hidden := s.Label.Role == schema.Private
	switch {
	case len(public) == 0:
		pl.scope, pl.why = dp.WholeRow, "no column is public"
	case s.Relation != dp.ReplaceOne:
		pl.scope, pl.why = dp.WholeRow, "under add-remove a public row's presence is private too"
	case hidden && pl.PrivateLabel == Everything:
		pl.scope, pl.why = dp.WholeRow, "the label is private, so a public classifier could not be fitted for free"
	case hidden && len(private) == 0:
		pl.scope, pl.why = dp.LabelOnly,
			"only the label is private; it costs a share of ε to learn from it together with public columns"
		private = public
	case hidden:
		pl.scope, pl.why = dp.FeaturesAndLabel,
			"some columns are public, and a share of ε buys a classifier of them from the private label"
	case len(private) == 0:
		return &dp.ParamError{Op: "brc", Param: "schema", Want: "must have at least one private column or a private label",
			Hint: "without any, use a non-private learner such as logistic"}
	default:
		pl.scope, pl.why = dp.PrivateFeatures, "label and some columns are public"
	}
	var err error
	if pl.scope == dp.WholeRow {
		private = s.Features()
	} else if pl.public, err = feature.NewSpace(s, pl.Encoding, public); err != nil {
		return err
	}
	pl.private, err = feature.NewSpace(s, pl.Encoding, private)
	return err
}

func (p Params) checkRanges(s *schema.Schema) error {
	bad := func(param, want string, got any) error {
		return &dp.ParamError{Op: "brc", Param: param, Want: want, Got: got}
	}
	switch { // written so that NaN fails
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when training without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Rounds < 1 || p.Rounds > maxRounds:
		return bad("rounds", fmt.Sprintf("must be from 1 to %d", maxRounds), p.Rounds)
	case !(p.C1 >= 1 && p.C1 <= maxC):
		return bad("c1", fmt.Sprintf("must be from 1 to %d", maxC), p.C1)
	case !(p.C2 >= 1 && p.C2 <= maxC):
		return bad("c2", fmt.Sprintf("must be from 1 to %d", maxC), p.C2)
	case p.Sensitivity != Tight && p.Sensitivity != Paper:
		return bad("sensitivity", `must be "tight" or "paper"`, p.Sensitivity)
	case p.Sensitivity == Paper && s.Relation != dp.ReplaceOne:
		return bad("sensitivity", `must be "tight" under add-remove: the paper's bound divides by the number of rows, `+
			`which is then private`, p.Sensitivity)
	case p.Intercept != InterceptUniform && p.Intercept != InterceptZero && p.Intercept != InterceptSelected:
		return bad("intercept", `must be "uniform", "zero" or "selected"`, p.Intercept)
	case p.Subroutine != Random && p.Subroutine != Bayes && p.Subroutine != Shape && p.Subroutine != Stump:
		return bad("subroutine", `must be "random", "bayes", "shape" or "stump"`, p.Subroutine)
	case p.Output != Votes && p.Output != Linear:
		return bad("output", `must be "votes" or "linear"`, p.Output)
	case p.Subroutine == Shape && p.Output == Linear:
		return bad("output", `must be "votes" with shapes, whose values are their answers`, p.Output)
	case p.Subroutine != Random && p.Intercept == InterceptSelected:
		return bad("intercept", `must be "uniform" or "zero" but where the subroutine is "random": others have `+
			`thresholds of their own`, p.Intercept)
	case (p.selectsPrivately() || p.Subroutine == Shape) && (p.Candidates < 2 || p.Candidates > maxCandidates):
		return bad("candidates", fmt.Sprintf("must be from 2 to %d", maxCandidates), p.Candidates)
	case p.PrivateLabel != Everything && p.PrivateLabel != LabelDP:
		return bad("private-label", `must be "everything" or "labeldp"`, p.PrivateLabel)
	case p.PrivateLabel == LabelDP && (s.Label.Role != schema.Private || s.Relation != dp.ReplaceOne ||
		len(s.ByRole(schema.Public)) == 0):
		return bad("private-label", `must be "everything" but where the label is private, columns are public and the `+
			`relation is "replace-one"`, p.PrivateLabel)
	case p.PublicPart != Answers && p.PublicPart != Scores:
		return bad("public-part", `must be "answers" or "scores"`, p.PublicPart)
	case p.PublicPart == Scores && p.Output != Linear:
		return bad("public-part", `must be "answers" where the output is "votes", which adds up answers`, p.PublicPart)
	case p.PrivateLabel == LabelDP && !(p.PublicShare > 0 && p.PublicShare < 1):
		return bad("public-share", "must be above 0 and below 1", p.PublicShare)
	}
	return nil
}

// splitEpsilon splits ε over the public classifier, where that costs, and the rounds,
// and writes the bill. Each release is charged exactly the part its own noise is
// sized for.
func (pl *Plan) splitEpsilon() error {
	pl.shares = make([]share, pl.Rounds)
	rest := pl.Epsilon
	if pl.PrivateLabel == LabelDP {
		if err := pl.priceLabels(); err != nil {
			return err
		}
		rest -= pl.labels.Epsilon
	}
	if pl.NotPrivate {
		return nil
	}
	parts := 1
	if pl.selectsPrivately() {
		parts = 2
	}
	paid := 0
	if pl.paysForShares() {
		paid = 1
	}
	eps, err := rest.Split(parts*pl.Rounds + paid)
	if err != nil {
		return err
	}
	if paid == 1 {
		pl.share, eps = eps[0], eps[1:]
		pl.bill = append(pl.bill, guard.Share{Epsilon: pl.share}.Line(sharesLabel))
	}
	for t := range pl.shares {
		sh := &pl.shares[t]
		if parts == 2 {
			sh.pick, eps = eps[0], eps[1:]
			pl.bill = append(pl.bill, guard.Share{Epsilon: sh.pick}.ChoiceLine(pl.pickLabel(t)))
		}
		sh.err, eps = eps[0], eps[1:]
		pl.bill = append(pl.bill, guard.Share{Epsilon: sh.err}.Line(errLabel(t)))
	}
	return nil
}

// priceLabels plans the public classifier of a private label, with noise that is
// exact, like that of the rounds.
func (pl *Plan) priceLabels() error {
	p := labeldp.Params{NotPrivate: pl.NotPrivate, Noise: labeldp.Laplace, Encoding: pl.Encoding}
	if !pl.NotPrivate {
		p.Epsilon = max(1, dp.Epsilon(pl.PublicShare*float64(pl.Epsilon)))
	}
	var err error
	if pl.labels, err = p.Plan(pl.s, pl.rows); err != nil {
		return err
	}
	pl.bill = pl.labels.Terms().Bill
	return nil
}

func errLabel(t int) string { return fmt.Sprintf("weighted error of round %d", t+1) }

// Terms are what one Fit protects and pays.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "brc", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon}, Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}
