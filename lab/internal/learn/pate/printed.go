// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// fitPrinted is section 7 as it reads: teachers of disjoint parts, each a logistic
// regression on the private columns; for every training row the noisy winner of
// their votes about it; a student of the public columns and that winner. What
// the section leaves open is settled in evidence/guarantees/pate.md. Nothing in this
// file protects anything.
func (pl *Plan) fitPrinted(ctx context.Context, g *engine.Groups, of *guard.Guard,
	exit *mech.Exit) (*model.Model, error) {
	r := newRoll(g, pl.private, pl.s.Label.Positive, mech.L1, nil)
	r.dealRows(of.Coins())
	teachers, err := pl.fitTeachers(ctx, r, pl.countTeachers(len(r.rows)))
	if err != nil {
		return nil, err
	}
	votes := countVotes(pl.private, g, teachers)
	winners := make([]bool, len(r.rows))
	for i := range r.rows {
		yes := votes[r.rows[i].group]
		winners[i] = pl.releaseMajority(i, yes, len(teachers)-yes, exit)
	}
	low, high, sign, err := pl.printedStudent(ctx, r, winners)
	if err != nil {
		return nil, err
	}
	m := &model.Model{
		Learner: "pate", Schema: pl.s.Part(pl.modelColumns()), Privacy: pl.privacyStatement(of),
		Spaces: []model.SpaceSpec{model.SpecOf(pl.s, pl.public), model.SpecOf(pl.s, pl.private)},
	}
	// A student with the answer a = ±1 among its features answers by one of two
	// thresholds on the public columns, the lower one where a speaks for it: the
	// majority of the two thresholds and a, which is the majority of the teachers.
	all := float64(len(teachers))
	students := &model.Votes{Members: []model.Member{{Space: 0, Threshold: low, Vote: all},
		{Space: 0, Threshold: high, Vote: all}}}
	for _, t := range teachers {
		students.Members = append(students.Members, model.Member{Space: 1, Threshold: t, Vote: sign})
	}
	m.Classifier = students
	return m, nil
}

// releaseMajority lets the noisy majority about a row out: Laplace noise on both counts,
// each sized for one teacher's vote (Papernot and others 2017), which is the
// mistake: the row's own cells decide all of them.
func (pl *Plan) releaseMajority(i, yes, no int, exit *mech.Exit) bool {
	noise := mech.Sized(mech.LaplaceFor(pl.VoteEpsilon, 1, 2))
	out := exit.Release(fmt.Sprintf("votes about row %d", i+1), noise, mech.Ratio{Num: int64(yes), Den: 1},
		mech.Ratio{Num: int64(no), Den: 1})
	return out[0] >= out[1]
}

// ownQueryLoss is the exact privacy loss of one printed query about the row
// whose cells it is made of: K teachers to none against none to K. The noise of
// the two counts differs by more than K with probability q = e^(-x)(2+x)/4,
// x = Kε.
func ownQueryLoss(teachers int, eps dp.Epsilon) float64 {
	x := float64(teachers) * eps.Float()
	q := math.Exp(-x) * (2 + x) / 4
	return math.Log1p(-q) - (math.Log((2+x)/4) - x)
}

// fitTeachers fits every teacher to its part.
func (pl *Plan) fitTeachers(ctx context.Context, r *roll, k int) ([]feature.Threshold, error) {
	out := make([]feature.Threshold, k)
	n := len(r.rows)
	for t := range k {
		rows := r.rows[n*t/k : n*(t+1)/k]
		groups := make([]int, len(rows))
		pos, neg := make([]float64, len(rows)), make([]float64, len(rows))
		for i := range rows {
			groups[i] = int(rows[i].group)
			if rows[i].positive {
				pos[i] = 1
			} else {
				neg[i] = 1
			}
		}
		part := &engine.Groups{Cols: pickRows(r.groups.Cols, pl.private.Columns, groups), Len: len(rows)}
		best, err := logistic.FitGroups(ctx, pl.private, part, pos, neg, 1/float64(len(rows)), nil)
		if err != nil {
			return nil, err
		}
		out[t] = logistic.Threshold(best.Coef)
	}
	return out, nil
}

func pickRows(cols []column.Column, which, rows []int) []column.Column {
	out := make([]column.Column, len(cols))
	for _, j := range which {
		out[j] = cols[j].Pick(rows)
	}
	return out
}

// countVotes counts the teachers for the positive label, per group.
func countVotes(sp *feature.Space, g *engine.Groups, teachers []feature.Threshold) []int {
	s := feature.NewScorer(sp, teachers)
	words := s.Words()
	answers := make([]uint64, g.Len*words)
	s.Bind(g.Cols).Answers(0, answers)
	yes := make([]int, g.Len)
	for i := range yes {
		for t := range teachers {
			yes[i] += int(answers[i*words+t/64] >> (t % 64) & 1)
		}
	}
	return yes
}

// printedStudent fits the public columns with the winner as one more feature,
// ±1, and returns the student as two thresholds on the public columns, with the
// sign of the winner's coefficient.
func (pl *Plan) printedStudent(ctx context.Context, r *roll,
	winners []bool) (low, high feature.Threshold, sign float64, err error) {
	s := *pl.s
	at := len(s.Columns)
	s.Columns = append(slices.Clone(s.Columns), schema.Column{Name: "winning label", Kind: schema.Number,
		Lower: -1, Upper: 1})
	sp, err := feature.NewSpace(&s, pl.Encoding, append(slices.Clone(pl.public.Columns), at))
	if err != nil {
		return low, high, 0, err
	}
	groups, codes := make([]int, len(r.rows)), make([]uint32, len(r.rows))
	pos, neg := make([]float64, len(r.rows)), make([]float64, len(r.rows))
	for i := range r.rows {
		groups[i] = int(r.rows[i].group)
		if winners[i] {
			codes[i] = 1
		}
		if r.rows[i].positive {
			pos[i] = 1
		} else {
			neg[i] = 1
		}
	}
	g := &engine.Groups{Cols: append(pickRows(r.groups.Cols, pl.public.Columns, groups),
		column.Column{Codes: column.Narrow(codes, 2), Values: []float64{-1, 1}}), Len: len(r.rows)}
	best, err := logistic.FitGroups(ctx, sp, g, pos, neg, 1/float64(len(r.rows)), nil)
	if err != nil {
		return low, high, 0, err
	}
	d := pl.public.Width()
	worth, bias := best.Coef[d], best.Coef[d+1]
	shifted := func(by float64) feature.Threshold {
		return logistic.Threshold(append(slices.Clone(best.Coef[:d]), bias+by))
	}
	return shifted(math.Abs(worth)), shifted(-math.Abs(worth)), math.Copysign(1, worth), nil
}
