// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Model returns the classifier, once the task is done. st is the part of its privacy statement that
// the aggregator cannot know.
func (a *Aggregator) Model(st Statement) (*model.Model, error) {
	if a.round != nil {
		return nil, fmt.Errorf("aggregator: the task is not done")
	}
	cols := a.modelColumns()
	if a.task.Classifier == wire.Stump { // others read all columns, were it with coefficients of 0
		cols = a.leafColumns()
	}
	m := &model.Model{Learner: "local-" + string(a.task.Classifier), Schema: a.task.Schema.Part(cols),
		Privacy: a.privacyStatement(st)}
	switch a.task.Classifier {
	case wire.Stump:
		return m, a.writeStumps(m)
	case wire.Logistic:
		return m, a.writeLogistic(m)
	default:
		return m, a.writeCentroids(m)
	}
}

// spaceOf adds a feature space to the model.
func (a *Aggregator) spaceOf(m *model.Model, cols []int) (*feature.Space, int, error) {
	sp, err := feature.NewSpace(a.task.Schema, feature.OneHot, cols)
	if err != nil {
		return nil, 0, err
	}
	m.Spaces = append(m.Spaces, model.SpecOf(a.task.Schema, sp))
	return sp, len(m.Spaces) - 1, nil
}

// writeStumps writes the sum of all members' leaves as stumps. A number has one stump per edge, which
// adds the step from the bin below; a category has one per code. The prior is a stump that always
// answers yes.
func (a *Aggregator) writeStumps(m *model.Model) error {
	K := a.task.Schema.Classes()
	zero := make([]float64, K)
	base := append([]float64(nil), a.prior...)
	out := &model.Ballots{Link: model.Softmax}
	add := func(space int, th feature.Threshold, yes []float64) {
		out.Members = append(out.Members, model.Ballot{Space: space, Weight: 1,
			Stump: &model.Stump{Threshold: th, Yes: yes, No: zero}})
	}
	for k, j := range a.leafColumns() {
		q := slices.Index(a.modelColumns(), j)
		sp, at, err := a.spaceOf(m, []int{j})
		if err != nil {
			return err
		}
		if k == 0 {
			add(at, feature.Threshold{Coef: make([]float64, sp.Width()), Bias: 1}, base)
		}
		sum := a.sumLeaves(q)
		switch {
		case sum == nil:
		case a.isNumber(q):
			for k := range K {
				base[k] += sum[0][k]
			}
			for e, edge := range a.task.Questions[q].Edges {
				_, x := sp.Number(0, edge)
				step := make([]float64, K)
				for k := range K {
					step[k] = sum[e+1][k] - sum[e][k]
				}
				add(at, feature.Threshold{Coef: []float64{1}, Bias: -x}, step)
			}
		default:
			for c, leaf := range sum {
				coef := make([]float64, sp.Width())
				coef[c] = 1
				add(at, feature.Threshold{Coef: coef, Bias: -0.5}, leaf)
			}
		}
	}
	m.Classifier = out
	return nil
}

// writeLogistic writes the sum of all members as one linear function per level.
func (a *Aggregator) writeLogistic(m *model.Model) error {
	K := a.task.Schema.Classes()
	sp, at, err := a.spaceOf(m, a.modelColumns())
	if err != nil {
		return err
	}
	out := &model.Linear{Space: at, Link: model.Softmax, Coef: make([][]float64, K),
		Bias: append([]float64(nil), a.prior...)}
	for k := range K {
		out.Coef[k] = make([]float64, sp.Width())
	}
	for q := range a.task.Questions {
		sum := a.sumLeaves(q)
		if sum == nil {
			continue
		}
		f, _ := sp.Block(q)
		if !a.isNumber(q) {
			for c, leaf := range sum {
				for k, x := range leaf {
					out.Coef[k][f+c] = x
				}
			}
			continue
		}
		x := a.binCentres(q)
		for k := range K {
			// The scores lie on a line: any two bins tell it.
			last := len(x) - 1
			if last > 0 {
				out.Coef[k][f] = (sum[last][k] - sum[0][k]) / (x[last] - x[0])
			}
			out.Bias[k] += sum[0][k] - out.Coef[k][f]*x[0]
		}
	}
	m.Classifier = out
	return nil
}

// writeCentroids writes a single centroid member as the linear functions that it compares, and several
// as votes.
func (a *Aggregator) writeCentroids(m *model.Model) error {
	sp, at, err := a.spaceOf(m, a.modelColumns())
	if err != nil {
		return err
	}
	K := a.task.Schema.Classes()
	switch len(a.members) {
	case 0:
		l := &model.Linear{Space: at, Link: model.Softmax, Coef: make([][]float64, K), Bias: a.prior}
		for k := range K {
			l.Coef[k] = make([]float64, sp.Width())
		}
		m.Classifier = l
	case 1:
		c := a.members[0].Argmax
		m.Classifier = &model.Linear{Space: at, Link: model.Softmax, Coef: c.Coef, Bias: c.Bias}
	default:
		ballots := &model.Ballots{Link: model.Share}
		for _, b := range a.members {
			ballots.Members = append(ballots.Members,
				model.Ballot{Space: at, Weight: b.Vote, Argmax: &model.Argmax{Coef: b.Argmax.Coef, Bias: b.Argmax.Bias}})
		}
		m.Classifier = ballots
	}
	return nil
}

func (a *Aggregator) modelColumns() []int {
	cols := make([]int, len(a.task.Questions))
	for q := range cols {
		cols[q] = a.task.Column(q)
	}
	return cols
}

// leafColumns returns the columns for which the ensemble has leaves. If there are none, it returns the
// first column, for the stump of the prior.
func (a *Aggregator) leafColumns() (cols []int) {
	for q, j := range a.modelColumns() {
		if a.sumLeaves(q) != nil {
			cols = append(cols, j)
		}
	}
	if cols == nil {
		return a.modelColumns()[:1]
	}
	return cols
}
