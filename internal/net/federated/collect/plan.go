// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params are the public choices from which a task is planned.
type Params struct {
	Schema     *schema.Schema
	Mode       wire.Mode // "" for local
	Classifier wire.Classifier
	Mechanism  string // a name of package response, or "" for the more accurate of oue and grr
	Epsilon    dp.Epsilon
	// Owners is the expected number of participants; it need not be exact.
	Owners int
	// Rounds is the number of boosting rounds, 1 to wire.MaxRounds; 0 chooses it by the number of
	// owners.
	Rounds int
	Nonce  string // see wire.Task
}

// Plan makes a task from public choices.
func Plan(p Params) (*wire.Task, error) {
	const op = "local"
	switch {
	case p.Schema == nil:
		return nil, dp.Refuse(op, "schema", "must be given", nil)
	case p.Owners < 1:
		return nil, dp.Refuse(op, "owners", "must be at least 1", p.Owners)
	case p.Rounds < 0 || p.Rounds > wire.MaxRounds:
		return nil, dp.Refuse(op, "rounds", "must be from 1 to 1000", p.Rounds)
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

// listQuestions makes a question for every column that is not ignored.
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
	// The numbers of bins of a number, and the effective owners per question from which many bins are
	// used.
	fewBins, manyBins, worthManyBins = 4, 8, 1200
	// One owner in ten measures the error.
	tableShare, errorShare = 9, 1
	// The effective owners per question from which a second round is used; a third needs twice as
	// many.
	worthARound   = 5000
	manyCentroids = 8
	// The same for a secret sum, as owners times ε divided by questions.
	worthASum = 2000
	// The largest weight of a record that centroids get wrong, relative to a right one.
	centroidCap = 8
)

// roundsFor returns the number of rounds for this number of owners. Stumps get few rounds, because
// each round has fewer owners and so more noise. Centroids get many once there are enough owners,
// because many are needed to correct each other.
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

// effectiveOwners is the number of owners who would reveal as much about a question without noise: the
// number asked, divided by the variance of a report and of the choice of owners.
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
