// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"github.com/discreet-dp/discreet/internal/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices from which a task is planned.
type Params struct {
	Schema     *schema.Schema
	Mode       wire.Mode // "" for local
	Classifier wire.Classifier
	Mechanism  string // a name of package response, or "" for the better of oue and grr
	Epsilon    dp.Epsilon
	// Owners is the expected number of participants; it need not be exact.
	Owners int
	// Rounds of boosting, 1 to wire.MaxRounds; 0 takes as many as the owners are
	// worth.
	Rounds int
	Nonce  string // see wire.Task
}

// Plan makes a task of public choices.
func Plan(p Params) (*wire.Task, error) {
	const op = "local"
	switch {
	case p.Schema == nil:
		return nil, &dp.ParamError{Op: op, Param: "schema", Want: "must be given"}
	case p.Owners < 1:
		return nil, &dp.ParamError{Op: op, Param: "owners", Want: "must be at least 1", Got: p.Owners}
	case p.Rounds < 0 || p.Rounds > wire.MaxRounds:
		return nil, &dp.ParamError{Op: op, Param: "rounds", Want: "must be from 1 to 1000", Got: p.Rounds}
	}
	if p.Mode == "" {
		p.Mode = wire.Local
	}
	t := &wire.Task{
		Nonce: p.Nonce, Mode: p.Mode, Classifier: p.Classifier, Mechanism: p.Mechanism, Epsilon: p.Epsilon,
		Schema: p.Schema, WeightCap: 1,
	}
	if p.Classifier == wire.Centroid {
		t.WeightCap = centroidCap
	}
	t.Questions = listQuestions(p, manyBins)
	rounds := max(1, p.Rounds)
	t.Rounds = make([]wire.Shares, rounds)
	for i := range t.Rounds {
		t.Rounds[i] = wire.Shares{Table: tableShare, Error: errorShare}
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	if p.Mode == wire.Local && effectiveOwners(t, p.Owners) < worthManyBins {
		t.Questions = listQuestions(p, fewBins)
	}
	if p.Rounds > 0 {
		return t, t.Check()
	}
	for range roundsFor(t, p.Owners) - 1 {
		t.Rounds = append(t.Rounds, t.Rounds[0])
	}
	return t, t.Check()
}

// listQuestions asks about every column that is not ignored.
func listQuestions(p Params, bins int) (qs []wire.Question) {
	for _, j := range p.Schema.Features() {
		c := &p.Schema.Columns[j]
		q := wire.Question{Column: c.Name}
		if c.Kind == schema.Number {
			q.Edges = feature.Cuts(c, bins)
		}
		qs = append(qs, q)
	}
	return qs
}

// The rules of planning, measured on the project's data sets (evidence/benchmarks).
const (
	// Bins of a number, and what a question must be worth for many.
	fewBins, manyBins, worthManyBins = 4, 8, 1200
	// Of ten owners one measures.
	tableShare, errorShare = 9, 1
	// A second round pays if a question is worth so many owners, a third at
	// twice as many.
	worthARound   = 5000
	manyCentroids = 8
	// The same of a secret sum, in owners times ε over questions.
	worthASum = 2000
	// A record that centroids get wrong weighs at most this many right ones.
	centroidCap = 8
)

// roundsFor is the number of rounds that this number of owners allows: of stumps a few, for a
// round of fewer owners hears more noise; of centroids many, once they are worth
// any, for it takes many to correct each other.
func roundsFor(t *wire.Task, owners int) int {
	if t.Mode == wire.Aggregate { // an owner is in all tables: noise grows with their number
		return min(1+int(float64(owners)*t.Epsilon.Float()/float64(len(t.Questions)*worthASum)), 3)
	}
	more := int(effectiveOwners(t, owners) / worthARound)
	if t.Classifier == wire.Centroid {
		return 1 + min(more, 1)*(manyCentroids-1)
	}
	return min(1+more, 3)
}

// effectiveOwners is the number of owners who would reveal as much about a question if they told the
// truth: those who are asked it, over the variance of a report and of who is
// asked.
func effectiveOwners(t *wire.Task, owners int) float64 {
	worst := 0.0
	for q := range t.Questions {
		law, err := t.Law(t.Cells(q))
		if err != nil {
			panic("aggregator: a checked task has no law: " + err.Error())
		}
		worst = max(worst, law.Variance(0))
	}
	return float64(owners) / float64(len(t.Questions)) / (worst + 1)
}
