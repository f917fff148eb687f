// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// levelRounds is a fit on its way.
type levelRounds struct {
	pl    *LevelsPlan
	tab   engine.Table
	exit  *mech.Exit
	start *levelStart
	score *engine.LevelScores // of the model so far
	free  []int               // private columns that may still be picked
	turn  []int               // the column of each round
	fit   []levelShape        // by private column
}

// levelShape is what has been learnt about one private column.
type levelShape struct {
	used     bool
	steps    [][]float64 // by level, then bin; nats
	variance [][]float64 // of steps
	weight   float64     // what they count for in the model
	spread   float64     // how far apart the steps of a row's level and of others are, nats
}

func newLevelRounds(ctx context.Context, pl *LevelsPlan, tab engine.Table, st *levelStart, exit *mech.Exit) (*levelRounds, error) {
	r := &levelRounds{pl: pl, tab: tab, exit: exit, start: st, score: tab.LevelScores(st.scores), fit: make([]levelShape, len(pl.private))}
	for k := range st.shapes {
		if err := r.score.Add(ctx, &st.shapes[k], 1); err != nil {
			return nil, err
		}
	}
	for k := range pl.private {
		r.free = append(r.free, k)
	}
	return r, nil
}

// cells makes all rounds of cells. Rows count once in each, whatever the score:
// a column is measured alone, and what columns say twice is left to weigh and
// boost.
func (r *levelRounds) cells(ctx context.Context) error {
	all, err := r.tab.LevelCells(ctx, r.pl.private)
	if err != nil {
		return err
	}
	for t := range r.pl.rules.rounds {
		k := t
		if r.pl.rules.picks {
			if k, err = r.pick(ctx, t); err != nil {
				return err
			}
		}
		r.turn = append(r.turn, k)
		c := r.release(t, &all[k])
		sh := &r.fit[k]
		sh.used, sh.weight = true, r.pl.rules.believed
		sh.steps, sh.variance = c.shares(r.start.share, r.pl.private[k].Ordered())
		sh.spread = c.spread(r.start.share, sh.steps)
		if err := r.score.Add(ctx, r.shape(k), sh.weight); err != nil {
			return err
		}
	}
	return nil
}

// shape is the steps of column k before they are weighed.
func (r *levelRounds) shape(k int) *feature.LevelShape {
	return &feature.LevelShape{Bins: r.pl.private[k], Steps: r.fit[k].steps}
}

// pick chooses the column whose cells are furthest from what the score expects,
// ½·Σ |rows − expected rows| over bins and levels, and takes it off the list.
func (r *levelRounds) pick(ctx context.Context, t int) (int, error) {
	scores := make([]mech.Ratio, len(r.free))
	for i, k := range r.free {
		above, below, err := r.score.Residuals(ctx, &r.pl.private[k])
		if err != nil {
			return 0, err
		}
		scores[i] = mech.Ratio{Num: unbalanced(above, below), Den: 2 * engine.WeightOne}
	}
	// A row adds at most 1 to a score, or takes it off, each time it appears or
	// leaves.
	spread := 2 * step(r.pl.s.Relation)
	selector := mech.Selector(mech.NoNoise{})
	if !r.pl.NotPrivate {
		selector = mech.Sized(mech.PermuteAndFlipFor(r.pl.shares[t].pick, spread))
	}
	i := r.exit.Select(pickLabel(t), selector, scores) // 1.4: rows meet noise
	k := r.free[i]
	r.free = slices.Delete(slices.Clone(r.free), i, i+1)
	return k, nil
}

func unbalanced(above, below [][]uint64) (sum int64) {
	for k := range above {
		for b := range above[k] {
			if d := int64(above[k][b]) - int64(below[k][b]); d > 0 {
				sum += d
			} else {
				sum -= d
			}
		}
	}
	return sum
}

// release lets the cells of one column out. A row lies in one bin and has one
// level, so the vector moves by step(relation) in L1 and length(relation) in L2,
// however many levels there are (1.2).
func (r *levelRounds) release(t int, cells *engine.LevelCells) *levelCells {
	levels, n := len(cells.Rows), len(cells.Rows[0])
	values := make([]mech.Ratio, 0, levels*n)
	for _, rows := range cells.Rows {
		for _, x := range rows {
			values = append(values, mech.Ratio{Num: int64(x), Den: 1})
		}
	}
	pl, p := r.pl, r.pl.shares[t].cells
	out := r.exit.Release(cellsLabel(t), pl.noise(p, length(pl.s.Relation), len(values)), values...) // 1.4: rows meet noise
	c := &levelCells{variance: p.noiseVariance(step(pl.s.Relation), length(pl.s.Relation))}
	for k := range levels {
		c.rows = append(c.rows, out[k*n:][:n])
		if r.start.totals != nil {
			meet(c.rows[k], r.start.totals[k])
		}
	}
	return c
}

// spread is the standard deviation of the steps over the levels, by the shares
// that the steps give them, in the mean square over the rows of the bins.
func (c *levelCells) spread(share []float64, steps [][]float64) float64 {
	sum, all := 0.0, 1e-9
	for b := range steps[0] {
		var rows, mean, square float64
		for k, pi := range share {
			q := pi * math.Exp(steps[k][b])
			rows += c.rows[k][b]
			mean += float64(q * steps[k][b])
			square += float64(q * steps[k][b] * steps[k][b])
		}
		rows = math.Max(rows, 1)
		all += rows
		sum += float64(rows * math.Max(0, square-float64(mean*mean)))
	}
	return math.Max(math.Sqrt(sum/all), 1e-3)
}

// The prior of what a column's steps count for.
const trustDeviation = 0.3

// slopeSpreads is how far one row may move a slope, in spreads of its column;
// what says more is shortened.
const slopeSpreads = 1.5

// weigh measures, column by column, how much the steps should count: columns
// that say the same thing share one say. It releases how the likelihood of the
// labels changes with the weight, and how that change falls off; a row's part of
// the two is at most 1 in L1 after division by most, and it may be of either
// sign, so that they move by step(relation) in L1 and in L2 (1.2).
func (r *levelRounds) weigh(ctx context.Context) error {
	pl := r.pl
	for t, k := range r.turn {
		sh := &r.fit[k]
		most := slopeSpreads * sh.spread
		slope, err := r.score.Slope(ctx, r.shape(k), most)
		if err != nil {
			return err
		}
		moves := step(pl.s.Relation)
		out := r.exit.Release(trustLabel(t), pl.noise(pl.trust[t], moves, 2), // 1.4: rows meet noise
			mech.Ratio{Num: slope.Gain, Den: engine.WeightOne}, mech.Ratio{Num: slope.HalfCurve, Den: engine.WeightOne})
		gain, curve := most*out[0], math.Max(2*most*out[1], 1e-3)
		// gain = curve·change + noise, and change has a normal prior. The curve
		// is also what sampling adds to the variance.
		variance := most*most*pl.trust[t].noiseVariance(moves, moves) + curve
		change := float64(curve*gain/variance) / (1/(trustDeviation*trustDeviation) + float64(curve*curve/variance))
		change = math.Max(change, -sh.weight) // a column never speaks against what it says
		sh.weight += change
		if err := r.score.Add(ctx, r.shape(k), change); err != nil {
			return err
		}
	}
	return nil
}

// boost measures what is left over, column by column, and adds it. A row adds
// 1 − p(y) for its level and p(k) against every other: at most 2 in all, so after
// division by 2 the vector moves by step(relation) in L1 and by less than
// length(relation) in L2 (1.2).
func (r *levelRounds) boost(ctx context.Context) error {
	pl := r.pl
	for t := range pl.rules.boosts * len(pl.private) {
		k := t % len(pl.private)
		bins := &pl.private[k]
		above, below, err := r.score.Residuals(ctx, bins)
		if err != nil {
			return err
		}
		levels, n := len(above), len(above[0])
		var values []mech.Ratio
		for _, of := range [][][]uint64{above, below} {
			for _, cells := range of {
				for _, x := range cells {
					values = append(values, mech.Ratio{Num: int64(x), Den: 2 * engine.WeightOne})
				}
			}
		}
		out := r.exit.Release(restLabel(t), pl.noise(pl.rest[t], length(pl.s.Relation), len(values)), values...) // 1.4: rows meet noise
		for i := range out {
			out[i] *= 2
		}
		change := &feature.LevelShape{Bins: *bins}
		for i := range levels {
			deviation := 2 * math.Sqrt(pl.rest[t].noiseVariance(step(pl.s.Relation), length(pl.s.Relation)))
			c := cells{positive: out[i*n:][:n], negative: out[(levels+i)*n:][:n], noise: noise{positive: deviation, negative: deviation}}
			steps, variance := normal(c, bins)
			for b := range steps {
				// All levels step at once, each against all others (Friedman,
				// Hastie and Tibshirani 2000, algorithm 6), and part of the way.
				steps[b] *= pl.rules.stride * float64(levels-1) / float64(levels)
			}
			change.Steps = append(change.Steps, steps)
			r.fit[k].variance[i] = variance
		}
		if err := r.score.Add(ctx, change, 1); err != nil {
			return err
		}
		r.fit[k].add(change.Steps)
	}
	return nil
}

// add puts steps on top of those there are, which count in full from now on.
func (sh *levelShape) add(steps [][]float64) {
	for k := range steps {
		for b := range steps[k] {
			sh.steps[k][b] = float64(sh.weight*sh.steps[k][b]) + steps[k][b]
		}
	}
	sh.weight = 1
}
