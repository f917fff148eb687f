// SPDX-License-Identifier: Apache-2.0

package printed

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// run is one run of Algorithm 2.
type run struct {
	Params
	tab     *dataset.Table
	classes int
	weights *Weights
	most    float64 // public bound on weights in this round: W_t
	exit    *mech.Exit
}

// base is a kind of base classifier: fit learns a member from a group of owners
// and says which class it answers for each row.
type base interface {
	fit(ctx context.Context, group []int, trace *Round) (answers func(row int) uint8, err error)
	// keep appends the member that was fitted last, with its vote.
	keep(vote float64)
	model() *model.Model
}

// Run trains on the rows of a table.
func Run(ctx context.Context, tab *dataset.Table, p Params) (*model.Model, error) {
	if err := p.settleRounds(tab); err != nil {
		return nil, err
	}
	r := &run{
		Params: p, tab: tab, classes: tab.Schema.Classes(), most: 1, exit: mech.NewExit(p.Source),
	}
	sum := InTheClear
	if p.Holders > 0 {
		sum = OverShares(p.Holders, p.Source)
	}
	r.weights = NewWeights(tab.Rows, r.classes, p.Owners, sum)
	var b base
	var err error
	switch p.Classifier {
	case Stump:
		b, err = newStumps(r)
	default:
		b, err = newLinear(r)
	}
	if err != nil {
		return nil, err
	}
	order := make([]int, p.Owners) // line 9: a random group, no owner twice
	for i := range order {
		order[i] = i
	}
	rng.Shuffle(p.Source, len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	for m := range p.Rounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		trace := Round{Round: m + 1, Chosen: -1}
		answers, err := b.fit(ctx, order[m*p.Group:(m+1)*p.Group], &trace)
		if err != nil {
			return nil, err
		}
		if err := r.reweighRows(ctx, answers, &trace); err != nil {
			return nil, err
		}
		if trace.Vote > 0 {
			b.keep(trace.Vote)
		}
		if p.Trace != nil {
			p.Trace(trace)
		}
	}
	out := b.model()
	out.Learner = "printed-" + string(p.Classifier)
	out.Privacy = r.privacyStatement()
	return out, nil
}

// reweighRows is lines 11 to 21.
func (r *run) reweighRows(ctx context.Context, answers func(int) uint8, t *Round) error {
	miss := make([]bool, r.tab.Rows)
	for i := range miss {
		miss[i] = answers(i) != r.tab.Labels[i]
	}
	err, vote, growth, failed := r.weights.Update(ctx, miss)
	if failed != nil {
		return failed
	}
	t.Err, t.Vote = err, vote
	if vote > 0 { // the sum is released, and so is what a weight can be at most
		r.most = math.Max(1, math.Min(r.WeightCap, r.most*math.Exp(vote)/growth))
	}
	return nil
}

// rowShare is a row's weight over the public bound, in [0, 1].
func (r *run) rowShare(row int) float64 { return math.Min(r.weights.Of[row], r.most) / r.most }

// sumReports is Algorithm 4 for a group: it adds up the perturbed vectors of owners; fill writes
// owner o's to x, which is zero before.
func (r *run) sumReports(ctx context.Context, dim int, group []int,
	fill func(o int, x []float64) error) ([]float64, error) {
	total, x := make([]float64, dim), make([]float64, dim)
	var tally response.Tally
	var law response.VectorLaw
	if r.Perturb == nil {
		var err error
		if law, err = response.VectorLawFor(r.Mechanism, r.Epsilon, dim); err != nil {
			return nil, err
		}
		tally = response.NewTally(law)
	}
	for k, o := range group {
		if k%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		clear(x)
		if err := fill(o, x); err != nil {
			return nil, err
		}
		if r.Perturb != nil {
			for j, v := range r.Perturb(x) {
				total[j] += v
			}
			continue
		}
		rep, err := r.exit.Perturb("printed", law, x)
		if err != nil {
			return nil, err
		}
		law.Add(&tally, rep)
	}
	if r.Perturb == nil {
		return law.Sum(tally), nil
	}
	return total, nil
}

func (r *run) ownerRows(o int) (from, to int) { return r.weights.ownerRows(o) }

func (r *run) privacyStatement() model.Privacy {
	p := model.Privacy{
		Scope: dp.Nothing, Relation: dp.ReplaceOne, Unit: r.tab.Schema.Unit, NotPrivate: true,
		Statement: fmt.Sprintf("Trained by Algorithm 2 of Wang and Chang, as printed. One vector of each owner was perturbed "+
			"at epsilon %s; what else owners sent was not, so there is no guarantee for an owner.", r.Epsilon),
		Unprotected: []string{"the exact sums of weighted errors of all owners in every round, and what differences of " +
			"them tell about one owner"},
		Seeded: r.Source.Seeded(),
	}
	if r.Holders > 0 {
		p.Statement += fmt.Sprintf(" What an owner added to those sums was shared among %d holders.", r.Holders)
	}
	switch r.Classifier {
	case Stump:
		p.Unprotected = append(p.Unprotected,
			"which label is the majority in each branch at each owner; of an owner of one record this is its label and "+
				"its branch")
	case Centroid:
		p.Unprotected = append(p.Unprotected, "the label of every owner, sent beside its perturbed sample")
	}
	if r.Perturb != nil {
		p.Unprotected = append(p.Unprotected,
			"the vectors themselves as far as the experiment's own mechanism does not protect them")
	}
	return p
}

// spaceOf adds a feature space of some columns to a model.
func spaceOf(m *model.Model, tab *dataset.Table, cols []int) (*feature.Space, int, error) {
	sp, err := feature.NewSpace(tab.Schema, feature.OneHot, cols)
	if err != nil {
		return nil, 0, err
	}
	m.Spaces = append(m.Spaces, model.SpecOf(tab.Schema, sp))
	return sp, len(m.Spaces) - 1, nil
}
