// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices of one combination.
type Params struct {
	Epsilon    dp.Epsilon `json:"epsilon_nano"`          // ε of all releases, per party; no default
	NotPrivate bool       `json:"not_private,omitempty"` // without noise, for comparison; Epsilon must then be 0
	Parties    int        `json:"parties"`               // M, public: the number of parties asked, in [1, 65536]
	Method     Method     `json:"method"`
	Form       Form       `json:"form"`  // Soft and Majority
	Shape      Shape      `json:"shape"` // Statistic
	Mode       Mode       `json:"mode"`  // Output
	Loss       Loss       `json:"loss"`  // Huber with Output and two levels only
	Width      float64    `json:"width"` // half-width h of the Huber-hinge, in [0.01, 100]; unused by Logistic
	// Reg is the coefficient of ½‖w‖² on the mean loss of rows of length at most 1, in [2^-26, 2^20];
	// 0 means DefaultReg. Average does not use it.
	Reg      float64          `json:"reg"`
	Encoding feature.Encoding `json:"encoding"`
	// Queries is the number of rows that NoisyMax answers, each for ε/Queries; 0 for other methods.
	Queries int `json:"queries"`
	// Bound is the length B to which Average clips the coefficients for scaled rows, in [2^-10, 2^10].
	Bound float64 `json:"bound"`
}

// Method is the way in which votes are combined to a classifier.
type Method string

const (
	Soft     Method = "soft"
	Majority Method = "majority"
	Average  Method = "average"
	NoisyMax Method = "noisy-max"
)

// Form is the form of the release.
type Form string

const (
	Statistic Form = "statistic" // the mean of vote × row; the fit costs nothing more
	Output    Form = "output"    // the minimum, as printed in the paper
)

// Shape is the covariance of a statistic's noise.
type Shape string

const (
	// Rows gives the noise the shape of the rows in the auxiliary table: it is small in directions in
	// which rows are. It is in no direction larger than Ball.
	Rows Shape = "rows"
	// Ball gives the same noise in every direction.
	Ball Shape = "ball"
)

// Mode is the way in which the noise of Output is scaled.
type Mode string

const (
	Tight   Mode = "tight"   // from the loss and the auxiliary table
	Printed Mode = "printed" // from the paper's constants, 2/(Mλ) and 2/λ
)

// Loss is a loss of the margin.
type Loss string

const (
	Logistic Loss = "logistic" // softmax if the label has more than two levels
	Huber    Loss = "huber"    // Huber-hinge: a support vector machine
)

// Defaults returns default choices, without ε and the number of parties.
func Defaults() Params {
	return Params{Method: Soft, Form: Statistic, Shape: Rows, Mode: Tight, Loss: Logistic, Width: 0.5,
		Encoding: feature.OneHot, Bound: 8}
}

const (
	maxParties = 1 << 16
	maxDim     = 1 << 12
	minReg     = 0x1p-26
	maxReg     = 0x1p20
	mostRidge  = 8 // largest value of DefaultReg
	minWidth   = 0.01
	maxWidth   = 100
	minBound   = 0x1p-10
	maxBound   = 0x1p10
	maxVotes   = 0x1p46 // votes of all parties, rows and levels
)

// Plan is a checked Params with the bill. It holds no votes.
type Plan struct {
	Params
	s     *schema.Schema
	rows  int // of the auxiliary table; 0 if unknown
	space *feature.Space
	bill  []dp.Event
}

const (
	statisticLabel = "mean of votes times rows"
	coefsLabel     = "coefficients"
	averageLabel   = "mean of the parties' coefficients"
	answerLabel    = "answer to a query"
)

// Plan checks p against the schema of the auxiliary table and prices one combination; it fails with a
// *dp.ParamError. rows is the number of rows of the auxiliary table, or 0 if unknown; it does not
// affect the price.
func (p Params) Plan(s *schema.Schema, rows int) (*Plan, error) {
	for _, err := range []error{p.checkParams(s, rows), learn.Unweighted("combine", s),
		learn.Unconstrained("combine", s)} {
		if err != nil {
			return nil, err
		}
	}
	sp, err := feature.NewSpace(s, p.Encoding, s.Features())
	if err != nil {
		return nil, err
	}
	pl := &Plan{Params: p, s: s, rows: rows, space: sp}
	if pl.outputLength() > maxDim {
		return nil, &dp.ParamError{Op: "combine", Param: "schema",
			Want: fmt.Sprintf("must have at most %d coefficients, one per feature, the intercept's and level beyond the first",
				maxDim), Got: pl.outputLength(), Hint: "ordinal encoding has one feature per column"}
	}
	return pl, pl.price()
}

func (p Params) checkParams(s *schema.Schema, rows int) error {
	bad := dp.RefuseFor("combine")
	ballots := p.Method == Soft || p.Method == Majority
	switch { // written so that NaN fails
	case p.NotPrivate && p.Epsilon != 0:
		return bad("epsilon", "must be inf when combining without privacy", p.Epsilon)
	case !p.NotPrivate && (p.Epsilon < 1 || p.Epsilon > dp.MaxEpsilon):
		return bad("epsilon", fmt.Sprintf("must be > 0 and at most %s", dp.MaxEpsilon), p.Epsilon)
	case p.Parties < 1 || p.Parties > maxParties:
		return bad("parties", fmt.Sprintf("must be from 1 to %d: the number of parties that were asked, whether or not they answered", maxParties),
			p.Parties)
	case !ballots && p.Method != Average && p.Method != NoisyMax:
		return bad("method", `must be "soft", "majority", "average" or "noisy-max"`, p.Method)
	case p.Form != Statistic && p.Form != Output:
		return bad("form", `must be "statistic" or "output"`, p.Form)
	case p.Shape != Rows && p.Shape != Ball:
		return bad("shape", `must be "rows" or "ball"`, p.Shape)
	case p.Mode != Tight && p.Mode != Printed:
		return bad("mode", `must be "tight" or "printed"`, p.Mode)
	case p.Loss != Logistic && p.Loss != Huber:
		return bad("loss", `must be "logistic" or "huber"`, p.Loss)
	case p.Loss == Huber && !(ballots && p.Form == Output && s.Classes() == 2):
		return bad("loss", `may be "huber" with form output and two levels only: other losses have no such statistic`, p.Loss)
	case p.Loss == Huber && !(p.Width >= minWidth && p.Width <= maxWidth):
		return bad("width", "must be from 0.01 to 100", p.Width)
	case p.Reg != 0 && !(p.Reg >= minReg && p.Reg <= maxReg):
		return bad("reg", "must be from 2^-26 to 2^20, or 0 for the default rule", p.Reg)
	case p.Method == Average && s.Classes() != 2:
		return bad("method", `may be "average" for a label of two levels only`, p.Method)
	case !(p.Bound >= minBound && p.Bound <= maxBound):
		return bad("bound", "must be from 2^-10 to 2^10", p.Bound)
	case p.Method == NoisyMax && (p.Queries < 1 || rows > 0 && p.Queries > rows):
		return bad("queries", "must be at least 1 and at most the rows of the auxiliary table", p.Queries)
	case p.Method != NoisyMax && p.Queries != 0:
		return bad("queries", `must not be given unless the method is "noisy-max"`, p.Queries)
	case learn.Unweighted("combine", s) != nil:
		return learn.Unweighted("combine", s)
	case len(s.Features()) == 0:
		return bad("schema", "must have a column that is not ignored", 0)
	case rows < 0 || rows > maxRows:
		return bad("rows", fmt.Sprintf("must be at most %d", maxRows), rows)
	case float64(rows)*float64(p.Parties)*float64(s.Classes()) > maxVotes: // sums of votes must fit 63 bits
		return bad("rows", "must be fewer: rows × parties × levels must be at most 2^46", rows)
	}
	return nil
}

func (pl *Plan) price() error {
	one := func(release, mechanism string) {
		pl.bill = []dp.Event{{Release: release, Mechanism: mechanism, Epsilon: pl.Epsilon}}
	}
	switch {
	case pl.NotPrivate:
	case pl.Method == Average:
		one(averageLabel, mech.Gamma{}.Name())
	case pl.Method == NoisyMax:
		parts, err := pl.Epsilon.Split(pl.Queries)
		if err != nil {
			return dp.Refuse("combine", "queries", "must leave each answer at least 1e-9 of epsilon", pl.Queries)
		}
		for _, eps := range parts {
			pl.bill = append(pl.bill, dp.Event{Release: answerLabel, Mechanism: mech.PermuteAndFlip{}.Name(), Epsilon: eps})
		}
	case pl.Form == Output:
		one(coefsLabel, mech.Gamma{}.Name())
	default:
		one(statisticLabel, mech.Gamma{}.Name())
	}
	return nil
}

// Events returns the bill of one combination.
func (pl *Plan) Events() []dp.Event { return slices.Clone(pl.bill) }

// Levels returns K.
func (pl *Plan) Levels() int { return pl.s.Classes() }

// Inputs returns the kind of votes file that the method reads; Probabilities includes Labels.
func (pl *Plan) Inputs() Kind {
	if pl.Method == Average {
		return Coefficients
	}
	return Probabilities
}

// countCoefficients returns the number of coefficients per level, including the intercept.
func (pl *Plan) countCoefficients() int { return pl.space.Width() + 1 }

// outputLength returns the length of the release: the coefficients of all levels except one, since
// only differences between levels matter.
func (pl *Plan) outputLength() int { return pl.countCoefficients() * (pl.Levels() - 1) }

// marginLoss returns the loss of a margin, for two levels.
func (pl *Plan) marginLoss() engine.Loss {
	if pl.Loss == Huber {
		return engine.Loss{Huber: pl.Width}
	}
	return engine.Loss{}
}

// boundCurvature bounds the second derivative of the loss in the coordinates of toHelmert. For softmax
// it is ½ (Böhning 1992).
func (pl *Plan) boundCurvature() float64 {
	if pl.Levels() > 2 {
		return 0.5
	}
	return pl.marginLoss().Curvature()
}

// DefaultReg is the ridge if none is given. It depends on the number of parties, the coefficients
// (width per level, dim in total) and ε (0: no privacy), through the length u of the noise in the mean
// of votes times rows. For shape Rows it is 0.5u² (from a sweep over generated tables) divided by the
// width, because the variance of rows per direction is smaller by that factor. The rules of the other
// forms are those of learners with the same noise (labeldp, erm).
func (p Params) DefaultReg(width, dim int) float64 {
	u := float64(dim) * p.perVote() / p.Epsilon.Float()
	reg := 0.0
	switch {
	case p.Epsilon == 0 || p.Method == NoisyMax:
	case p.Form == Output && u >= 0.02:
		reg = mostRidge
	case p.Form == Output:
		reg = u
	case p.Shape == Ball:
		reg = min(10*u*u, mostRidge)
	default:
		return min(maxReg, max(minReg, max(1e-4, u*u/2)/float64(width)))
	}
	return min(maxReg, max(1e-4, reg))
}

func (pl *Plan) reg() float64 {
	if pl.Reg > 0 {
		return pl.Reg
	}
	return pl.DefaultReg(pl.countCoefficients(), pl.outputLength())
}

// perVote is the largest change of a level's share by one party: 1/M, or 1 if the majority counts.
func (p Params) perVote() float64 {
	if p.Method == Majority {
		return 1
	}
	return 1 / float64(p.Parties)
}

// largestChange is the length, in the coordinates of toHelmert, of the change in one row's shares if a
// whole vote moves from one level to another: 1 for two levels, √2 for more.
func (pl *Plan) largestChange() float64 {
	if pl.Levels() > 2 {
		return math.Sqrt2
	}
	return 1
}
