// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Classifier is the base classifier of section 3.5.
type Classifier string

const (
	Stump    Classifier = "stump"    // 3.5.3, from perturbed cross tables
	Centroid Classifier = "centroid" // 3.5.1, from perturbed samples
	Logistic Classifier = "logistic" // 3.5.2, from perturbed local classifiers
)

// Params are the choices of one run.
type Params struct {
	Classifier Classifier
	// Mechanism perturbs vectors: a name of response.VectorLaws, "" for piecewise.
	Mechanism string
	Epsilon   dp.Epsilon // of one perturbed vector
	// Owners share the rows evenly, in order; 0: every row is an owner. Centroids
	// need that.
	Owners int
	Rounds int // M, at least 1
	// Group is |H|, how many owners report in a round; 0: Owners/Rounds. Groups are
	// disjoint, so Rounds·Group must not exceed Owners.
	Group int
	Bins  int // a number is cut into at most so many; 0: 8. Stumps only
	// Reg is the ridge of an owner's own logistic regression on its mean loss; 0:
	// 0.1. Clip bounds the coefficients that are reported; 0: 1/Reg, which no
	// coefficient exceeds.
	Reg, Clip float64
	// WeightCap bounds the weight of a record, in mean weights; 0: 4.
	WeightCap float64
	// Holders compute the sums of lines 11, 12 and 18 from shares, each of which says nothing; 0: sums in the clear.
	Holders int
	// Perturb, if it is given, takes the place of the mechanism: a vector in
	// [-1, 1] in, an unbiased estimate of it out. Experiments use it for the
	// continuous mechanisms of the paper, and for none at all.
	Perturb func(x []float64) []float64
	// Source is the randomness; nil: the system's.
	Source rng.Source
	// Trace is told each round as it ends.
	Trace func(Round)
}

// Round is what happened in one round. Exact is not released by anyone.
type Round struct {
	Round int
	// Of stumps: the criterion (5) for every binary attribute, as the group's exact
	// tables and the perturbed ones have it, and the attribute that was chosen.
	Attributes   []Attribute
	Exact, Noisy []float64
	Chosen       int
	Err, Vote    float64 // exact weighted error of all owners; 0: the member was dropped
}

// Attribute is a binary question about a column: whether a number is at least
// Edge, or a category has the code Code.
type Attribute struct {
	Column int // index into the schema's Columns
	Number bool
	Edge   float64
	Code   int
}

func (p *Params) settleRounds(tab *dataset.Table) error {
	const op = "boost"
	if p.Owners == 0 {
		p.Owners = tab.Rows
	}
	if p.Mechanism == "" {
		p.Mechanism = response.VectorLaws()[0]
	}
	if p.Bins == 0 {
		p.Bins = 8
	}
	if p.Reg == 0 {
		p.Reg = 0.1
	}
	if p.Clip == 0 {
		p.Clip = 1 / p.Reg
	}
	if p.WeightCap == 0 {
		p.WeightCap = 4
	}
	if p.Source == nil {
		p.Source = rng.System()
	}
	switch {
	case p.Classifier != Stump && p.Classifier != Centroid && p.Classifier != Logistic:
		return &dp.ParamError{Op: op, Param: "classifier", Want: "must be stump, centroid or logistic", Got: p.Classifier}
	case tab.Schema.Label.Weights != nil:
		return &dp.ParamError{Op: op, Param: "weights", Want: "must not be given for the label: every sample counts once",
			Got: tab.Schema.Label.Weights}
	case slices.ContainsFunc(tab.Schema.Columns, func(c schema.Column) bool { return c.Monotone != schema.Free }):
		return &dp.ParamError{Op: op, Param: "monotone", Want: "must not be given for every column: nothing here is held to it"}
	case p.Owners < 1 || p.Owners > tab.Rows:
		return &dp.ParamError{Op: op, Param: "owners", Want: "must be at least 1 and at most the number of rows",
			Got: p.Owners}
	case p.Classifier == Centroid && p.Owners != tab.Rows:
		return &dp.ParamError{Op: op, Param: "owners",
			Want: "must be the rows: owners of several samples would report as often", Got: p.Owners}
	case p.Rounds < 1:
		return &dp.ParamError{Op: op, Param: "rounds", Want: "must be at least 1", Got: p.Rounds}
	case p.Holders < 0:
		return &dp.ParamError{Op: op, Param: "holders", Want: "must be at least 0", Got: p.Holders}
	case p.Bins < 2:
		return &dp.ParamError{Op: op, Param: "bins", Want: "must be at least 2", Got: p.Bins}
	case !(p.Reg > 0) || !(p.Clip > 0):
		return &dp.ParamError{Op: op, Param: "reg", Want: "and clip must be positive", Got: p.Reg}
	case !(p.WeightCap >= 1):
		return &dp.ParamError{Op: op, Param: "weight cap", Want: "must be at least 1", Got: p.WeightCap}
	}
	if p.Group == 0 {
		p.Group = p.Owners / p.Rounds
	}
	if p.Group < 1 || p.Group > p.Owners/p.Rounds {
		return &dp.ParamError{Op: op, Param: "group", Want: "must be at least 1 and at most owners over rounds", Got: p.Group}
	}
	return nil
}
