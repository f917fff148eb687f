// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices behind one fit.
type Params struct {
	Epsilon     dp.Epsilon // ε of the whole fit; no default
	NotPrivate  bool       // without noise, for comparison; Epsilon must then be 0
	Rounds      int        // T ≥ 1; the paper uses 25
	C1, C2      float64    // weights stay in [1/C1, C2]; C1 and C2 in [1, 1000]; the paper uses √2
	Encoding    feature.Encoding
	Sensitivity Sensitivity
	Intercept   Intercept
	Subroutine  Subroutine
	Output      Output
	// Candidates, in [2, 64], is the number of intercepts that InterceptSelected chooses from, of
	// thresholds per number for Stump, and of cuts per number for Shape.
	Candidates int
	// PrivateLabel determines how public columns are used with a private label.
	PrivateLabel PrivateLabel
	// PublicShare is the share of Epsilon, in (0, 1), that LabelDP spends on the public classifier. It
	// does not affect the total.
	PublicShare float64
	// ClassWeights determines the weight of a row of each class.
	ClassWeights ClassWeights
	// Positives is the share of rows of the positive class, if declared; otherwise 0. Plans use it,
	// and so does Balanced, which would otherwise pay for the share.
	Positives float64
	// PublicPart determines the output of the public classifier in a round.
	PublicPart PublicPart
}

// PublicPart is the kind of output of the public classifier in a round.
type PublicPart string

const (
	// Answers are −1 or +1, as in the paper.
	Answers PublicPart = "answers"
	// Scores stands for 2p − 1, where p is the probability from the public classifier. The public
	// part's error and the weights of its rows use these scores; the model itself adds log-odds.
	Scores PublicPart = "scores"
)

// Sensitivity determines how the noise of a round is scaled.
type Sensitivity string

const (
	// Tight uses the largest weight that any row can have after the votes released so far: 1/n in the
	// first round, and never more than c1c2/(n-1+c1c2).
	Tight Sensitivity = "tight"
	// Paper uses c1·c2/n in every round, as in the paper, to reproduce figures.
	Paper Sensitivity = "paper"
)

// Intercept determines a random classifier's intercept.
type Intercept string

const (
	InterceptUniform  Intercept = "uniform"  // drawn from [-1, 1], as in the paper
	InterceptZero     Intercept = "zero"     // the alternative of section 6
	InterceptSelected Intercept = "selected" // picked privately from a public grid, for half of the round's ε
)

// Output determines how the votes are added up. It is applied after the last release, so that it
// affects neither the price nor the releases.
type Output string

const (
	// AutoOutput is Linear if the label is public, unless the subroutine is Shape, and otherwise Votes.
	// With Sensitivity Paper it is Votes.
	AutoOutput Output = "auto"
	// Votes adds up signs: H(x) = sign(Σ α_t·sign(h_t(x))), with h_t in {-1, +1}, as in section 3.1.
	Votes Output = "votes"
	// Linear adds up the values of the linear functions: H(x) = sign(Σ α_t·h_t(x)), with real h_t(x),
	// which is one linear classifier, as in section 8.
	Linear Output = "linear"
)

// PrivateLabel is how public columns are used with a private label.
type PrivateLabel string

const (
	// Everything treats them as private too (Algorithm 3).
	Everything PrivateLabel = "everything"
	// LabelDP uses Algorithm 2, whose public classifier then costs a share of ε: it is trained on one
	// noisy statistic of the labels (internal/learn/labeldp).
	LabelDP PrivateLabel = "labeldp"
)

// Defaults returns the paper's choices (section 5.1), without ε, but for class weights and output, which
// are automatic, because the paper balances its tables first. If the label is private, which the paper
// does not cover, a fifth of ε is for the public classifier (evidence/guarantees/brc.md).
func Defaults() Params {
	p := Printed()
	p.Output, p.ClassWeights = AutoOutput, AutoWeights
	return p
}

// Printed is Defaults with the weights and the output of the paper. Its noise is still Tight.
func Printed() Params {
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

// Plan is a checked Params with the bill, in which nothing is automatic any more. It holds no data.
type Plan struct {
	Params
	s       *schema.Schema
	rows    int // declared or public number of rows; 0 if unknown
	scope   dp.Scope
	why     string // the reason for this scope
	private *feature.Space
	public  *feature.Space // nil if everything is private
	labels  *labeldp.Plan  // makes the public classifier if the label is private; otherwise nil
	share   dp.Epsilon     // price of the classes' shares, if they are released
	shares  []share        // one per round
	bill    []dp.Event
}

// share is one round's part of ε.
type share struct{ pick, err dp.Epsilon }

// Plan checks p against the public schema and prices one fit. rows is the number of rows if it is
// public or declared, otherwise 0; it does not affect the price.
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
	if err := pl.settleOutput(); err != nil {
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

// divideColumns decides which columns are used by which side, and so what is protected.
func (pl *Plan) divideColumns() error {
	s := pl.s
	public, private := s.ByRole(schema.Public), s.ByRole(schema.Private)
	hidden := s.Label.Role == schema.Private
	switch {
	case len(public) == 0 && s.Relation == dp.ReplaceOne && !hidden:
		pl.scope, pl.why = dp.PrivateFeatures, "the label is public, and no column"
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
	} else if len(public) > 0 {
		if pl.public, err = feature.NewSpace(s, pl.Encoding, public); err != nil {
			return err
		}
	}
	pl.private, err = feature.NewSpace(s, pl.Encoding, private)
	return err
}

// settleOutput replaces automatic class weights and output. Where the label is public, weights that
// balance the classes cost nothing.
func (pl *Plan) settleOutput() error {
	free := pl.scope == dp.PrivateFeatures && pl.Sensitivity == Tight
	if pl.ClassWeights == AutoWeights {
		pl.ClassWeights = Declared
		if free && pl.s.Label.Weights == nil {
			pl.ClassWeights = Balanced
		}
	}
	if pl.Output == AutoOutput {
		pl.Output = Votes
		if free && pl.Subroutine != Shape {
			pl.Output = Linear
		}
	}
	if pl.PublicPart == Scores && pl.Output != Linear {
		return &dp.ParamError{Op: "brc", Param: "public-part",
			Want: `must be "answers" where the output is "votes", which adds up answers`, Got: pl.PublicPart}
	}
	return nil
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
	case p.Output != AutoOutput && p.Output != Votes && p.Output != Linear:
		return bad("output", `must be "auto", "votes" or "linear"`, p.Output)
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
	case p.PrivateLabel == LabelDP && !(p.PublicShare > 0 && p.PublicShare < 1):
		return bad("public-share", "must be above 0 and below 1", p.PublicShare)
	}
	return nil
}

// splitEpsilon divides ε among the public classifier, if it costs anything, and the rounds, and writes
// the bill. Each release is charged exactly the part for which its own noise is scaled.
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

// priceLabels plans the public classifier of a private label, with exact noise, as in the rounds.
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

// Terms returns what one Fit protects and its bill.
func (pl *Plan) Terms() guard.Terms {
	return guard.Terms{Op: "brc", Scope: pl.scope, Price: dp.Price{Epsilon: pl.Epsilon}, Bill: slices.Clone(pl.bill), NotPrivate: pl.NotPrivate}
}
