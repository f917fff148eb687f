// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
)

// Fit refuses an empty table, charges acct, then reads the rows once (twice with a public part).
// After the charge it can fail for a fault of the engine or a cancelled context only (1.6): one
// class or one row trains like anything else.
func (pl *Plan) Fit(ctx context.Context, g *guard.Guard) (*model.Model, error) {
	g.DrawRows() // G-PERSONS-2
	in := extend.Open(g)
	tab, err := in.OneRow()
	if err != nil {
		return nil, fmt.Errorf("pate: %w", err)
	}
	var student []float64
	if pl.public != nil {
		if student, err = pl.fitStudent(ctx, tab); err != nil {
			return nil, fmt.Errorf("pate: student: %w", err)
		}
	}
	groups, err := tab.Groups(ctx, pl.joint.Columns)
	if err != nil {
		return nil, fmt.Errorf("pate: %w", err)
	}
	if pl.Form == Printed {
		m, err := pl.fitPrinted(ctx, groups, g, in.SpendAll())
		if err != nil {
			return nil, fmt.Errorf("pate: printed form: %w", err)
		}
		return m, nil
	}
	var score func(g int) float64
	if pl.public != nil {
		score = linearScore(pl.public, groups.Cols, student)
	}
	r := newRoll(groups, pl.private, pl.s.Label.Positive, pl.voteNorm(), score)
	k := pl.countTeachers(len(r.rows))
	if k < len(r.rows) { // a part of one row is the same whoever has it
		r.dealRows(g.Coins())
	}
	ans, err := pl.releaseAnswer(r.sumVotes(k), in)
	if err != nil {
		return nil, fmt.Errorf("pate: %w", err)
	}
	coef, level, err := pl.weighAnswer(r, ans, k < len(r.rows), in)
	if err != nil {
		return nil, fmt.Errorf("pate: %w", err)
	}
	return pl.buildModel(student, coef, level, g), nil
}

// releaseAnswer releases the sum of the teachers' votes, and keeps of each number what
// stands out of its noise (a positive-part James-Stein estimate, free).
func (pl *Plan) releaseAnswer(sum []int64, in guard.Inside) ([]float64, error) {
	values := make([]mech.Ratio, len(sum))
	for f, v := range sum {
		values[f] = mech.Ratio{Num: v, Den: one}
	}
	out, err := in.Release(votesLabel, pl.noiseFor(pl.votes, votesMove, len(values)), values...) // 1.3: rows meet noise
	if err != nil || pl.NotPrivate {
		return out, err
	}
	variance := pl.noiseVariance()
	for f, v := range out {
		if v != 0 {
			out[f] *= max(0, 1-variance/(v*v))
		}
	}
	return out, nil
}

// voteNorm is what votes are one long in.
func (pl *Plan) voteNorm() mech.Norm {
	if pl.Noise == Gaussian {
		return mech.L2
	}
	return mech.L1
}

// noiseVariance is that of the noise on each number of the votes.
func (pl *Plan) noiseVariance() float64 {
	if pl.Noise == Gaussian {
		return votesMove * votesMove / (2 * pl.votes.rho.Float())
	}
	scale := votesMove / pl.votes.eps.Float()
	return 2 * scale * scale
}

const (
	// votesMove bounds by how much replacing a row moves the sum of votes, in
	// the norm of the noise: it is in one part, and a vote is at most 1 long (1.2).
	votesMove = 2
	// firstMove and secondMove do it for the two sums of the curvature: a row's
	// first term lies in [−1/4, 1/4], its second in [0, 1/4]. slopeMove is that of
	// a sum of terms in [−1/2, 1/2].
	firstMove, secondMove, slopeMove = 0.5, 0.25, 1.0
)

// weighAnswer settles how much the teachers' answer t is worth to the student: one
// Newton step of a logistic regression of the label on t and a level, from the
// student's score. Of the curvature two noisy sums leave. The slope is free where
// every row has its teacher, since the votes are then the gradient; cut says that
// those of larger parts may have been cut, and the slope leaves with noise too.
// Here a row is asked about itself, and here its own answer is paid for (1.3). It
// returns what to add to the student: the coefficients of pl.private, and the
// level.
func (pl *Plan) weighAnswer(r *roll, ans []float64, cut bool, in guard.Inside) (
	coef []float64, level float64, err error,
) {
	width := pl.private.Width()
	coef = make([]float64, width)
	// Half of what the coefficients allow is more than almost any row has.
	half := pl.private.Reach(ans[:width]) / 2
	rows := float64(r.fullLength()) / (2 * one) // per vote: a residual is twice y − p
	slope, base := 0.0, 0.0
	if half > 0 {
		for f := range coef {
			coef[f] = ans[f] / half
			slope += rows * ans[f] * coef[f]
		}
	}
	if r.level {
		base = rows * ans[width]
	}
	t := linearScore(pl.private, r.groups.Cols, append(slices.Clone(coef), 0))
	// All sums are of integers: the order of the rows depends on private cells.
	var first, second, third, fourth int64
	for i := range r.rows {
		x, p := max(-1, min(1, t(int(r.rows[i].group)))), r.rows[i].p
		spread := p * (1 - p)
		first += int64(math.RoundToEven(one * spread * x))
		second += int64(math.RoundToEven(one * spread * x * x))
		third += int64(math.RoundToEven(x * float64(r.rows[i].residual) / 2))
		fourth += r.rows[i].residual / 2
	}
	room := max(1, float64(r.sumSpreads())) / one
	moves, values := []float64{firstMove, secondMove}, []mech.Ratio{{Num: first, Den: one}, {Num: second, Den: one}}
	if cut {
		moves, values = append(moves, slopeMove), append(values, mech.Ratio{Num: third, Den: one})
	}
	if cut && r.level {
		moves, values = append(moves, slopeMove), append(values, mech.Ratio{Num: fourth, Den: one})
	}
	// 1.3: rows meet noise
	out, err := in.Release(worthLabel, pl.noiseFor(pl.worth, pl.addSensitivities(moves), len(values)), values...)
	if err != nil {
		return nil, 0, err
	}
	if cut {
		slope = out[2]
	}
	if cut && r.level {
		base = out[3]
	}
	mean := max(-1, min(1, out[0]/room))
	curve := room * max(leastSpread, out[1]/room-mean*mean)
	worth := max(0, min(mostWorth, (slope-base*mean)/curve))
	for f := range coef {
		coef[f] *= worth
	}
	return coef, base/room - worth*mean, nil
}

// sumSpreads is Σ p(1−p), which is public: p is what the student says of public columns.
func (r *roll) sumSpreads() (sum int64) {
	for i := range r.rows {
		p := r.rows[i].p
		sum += int64(math.RoundToEven(one * p * (1 - p)))
	}
	return sum
}

// leastSpread is the variance below which no released one is believed: that of
// answers within a tenth of what they can be.
const leastSpread = 0.01

// mostWorth bounds the log-odds that the answer of a typical row may have.
const mostWorth = 8

// addSensitivities is how far several sums move in the norm of the noise.
func (pl *Plan) addSensitivities(moves []float64) (far float64) {
	if pl.Noise == Laplace {
		for _, m := range moves {
			far += m
		}
		return far
	}
	for _, m := range moves {
		far = math.Hypot(far, m)
	}
	return far * (1 + 0x1p-50)
}

func (pl *Plan) noiseFor(p part, moved float64, length int) mech.Mechanism {
	switch {
	case pl.NotPrivate:
		return mech.NoNoise{}
	case pl.Noise == Gaussian:
		return mech.Sized(mech.GaussianFor(p.rho, moved, length))
	}
	return mech.Sized(mech.LaplaceFor(p.eps, moved, length))
}

// buildModel joins the student and the answer to one linear model of the log-odds.
func (pl *Plan) buildModel(student, coef []float64, level float64, g *guard.Guard) *model.Model {
	l := &model.Logistic{Coef: coef, Bias: level}
	if pl.public != nil {
		d := pl.public.Width()
		l = &model.Logistic{Coef: append(slices.Clone(student[:d]), coef...), Bias: student[d] + level}
	}
	return &model.Model{
		Learner: "pate", Schema: pl.s.Part(pl.modelColumns()), Privacy: pl.privacyStatement(g),
		Spaces: []model.SpaceSpec{model.SpecOf(pl.s, pl.joint)}, Classifier: l,
	}
}
