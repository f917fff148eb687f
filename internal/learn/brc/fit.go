// SPDX-License-Identifier: Apache-2.0

package brc

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Fit reads the rows once (twice with a public part). It can fail only for a fault of the engine or a
// cancelled context (1.7): a table with one class, one row or an error of 1 trains like any other.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	sub := pl.newSubroutine()
	list := sub.listAll(g.Coins()) // 1.1: before any row is read
	q := mistakes.Question{Space: pl.private, List: list, C1: pl.C1, C2: pl.C2, Paper: pl.Sensitivity == Paper,
		Classes: pl.weighsClasses()}
	shapes, _ := sub.(*shapes)
	if shapes != nil {
		q.Shapes = shapes.drawn
	}
	rows, err := mistakes.Read(g, q)
	if err != nil {
		return nil, fmt.Errorf("brc: %w", err)
	}
	pub, err := newPublicSide(ctx, pl, g)
	if err != nil {
		return nil, fmt.Errorf("brc: %w", err)
	}
	units, err := pl.weighClasses(g, rows, pub)
	if err != nil {
		return nil, fmt.Errorf("brc: %w", err)
	}
	if pub != nil {
		if err := pub.fitClassifier(ctx); err != nil {
			return nil, fmt.Errorf("brc: %w", err)
		}
	}
	out := &release{pl: pl, units: units}
	for t := range pl.Rounds {
		k, err := pl.chooseClassifier(t, sub, rows) // line 5
		if err != nil {
			return nil, fmt.Errorf("brc: %w", err)
		}
		werr, err := rows.Error(errLabel(t), pl.shares[t].err, k) // line 6
		if err != nil {
			return nil, fmt.Errorf("brc: %w", err)
		}
		vote := 0.5 - werr // line 12
		// Line 7 compares noisy against public: nothing here is unpaid (1.5).
		if pub != nil && math.Abs(0.5-pub.err) > math.Abs(vote) {
			out.appendVoter(pl.public, pub.classifier, 0.5-pub.err)
			if err := pub.reweighRows(ctx, 0.5-pub.err); err != nil { // lines 8-10
				return nil, fmt.Errorf("brc: %w", err)
			}
			continue
		}
		if shapes != nil {
			shapes.castVote(out, k, vote)
		} else {
			out.appendVoter(pl.private, list[k], vote)
		}
		if err := rows.Reweigh(k, math.Exp(vote)); err != nil { // lines 12-19
			return nil, fmt.Errorf("brc: %w", err)
		}
	}
	m, err := out.buildModel(g)
	if err != nil {
		return nil, fmt.Errorf("brc: %w", err)
	}
	return m, nil
}

// release collects the parts of the model: released values and public facts. Everything from here on
// is post-processing.
type release struct {
	pl      *Plan
	units   classUnit
	spaces  []*feature.Space
	members []model.Member
}

// appendVoter appends a voter; a space is added to the model with its first voter.
func (r *release) appendVoter(sp *feature.Space, h feature.Threshold, vote float64) {
	at := slices.Index(r.spaces, sp)
	if at < 0 {
		at = len(r.spaces)
		r.spaces = append(r.spaces, sp)
	}
	r.members = append(r.members, model.Member{Space: at, Threshold: h, Vote: vote})
}

func (r *release) buildModel(g *guard.Guard) (*model.Model, error) {
	m := &model.Model{
		Learner:    "brc",
		Schema:     r.pl.s.Part(r.usedColumns()),
		Privacy:    learn.State(g, r.pl.claimName()),
		Classifier: &model.Votes{Members: r.members},
	}
	if r.pl.Output == Linear {
		if err := r.sumMembers(m); err != nil {
			return nil, err
		}
	}
	for _, sp := range r.spaces {
		m.Spaces = append(m.Spaces, model.SpecOf(r.pl.s, sp))
	}
	return m, nil
}

// sumMembers combines the voters into one linear classifier, over one space of all their columns.
func (r *release) sumMembers(m *model.Model) error {
	all, err := feature.NewSpace(r.pl.s, r.pl.Encoding, r.usedColumns())
	if err != nil {
		return err
	}
	sum := &model.Logistic{Coef: make([]float64, all.Width())}
	for _, v := range r.members {
		sp := r.spaces[v.Space]
		for k, col := range sp.Columns {
			from, width := sp.Block(k)
			to, _ := all.Block(slices.Index(all.Columns, col))
			for f := range width {
				sum.Coef[to+f] += v.Vote * v.Coef[from+f]
			}
		}
		sum.Bias += v.Vote * v.Bias
	}
	if r.pl.ClassWeights == Balanced {
		r.returnToBaseRate(sum)
	}
	r.spaces, m.Classifier = []*feature.Space{all}, sum
	return nil
}

// returnToBaseRate moves the log-odds of equally frequent classes to those of the classes as they are. The
// threshold moves along, so that no predicted class does.
func (r *release) returnToBaseRate(l *model.Logistic) {
	positive := r.pl.s.Label.Positive
	pos, neg := float64(r.units[1-positive]), float64(r.units[positive]) // weights are inverse to shares
	if pos != neg {
		l.Bias += math.Log(pos / neg)
		l.Threshold = pos / (pos + neg)
	}
}

// usedColumns returns the columns that the voters read, in the schema's order.
func (r *release) usedColumns() (cols []int) {
	for _, sp := range r.spaces {
		cols = append(cols, sp.Columns...)
	}
	slices.Sort(cols)
	return slices.Compact(cols)
}

func (pl *Plan) claimName() string {
	switch {
	case pl.scope == dp.PrivateFeatures:
		return "brc: G-BRC-1"
	case pl.labels != nil:
		return "brc: G-BRC-4"
	case pl.s.Relation == dp.ReplaceOne:
		return "brc: G-BRC-2"
	default:
		return "brc: G-BRC-3"
	}
}
