// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/deepcopy"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// StepScore is some numbers of every row that grow by steps: see statistic.StepScore.
type StepScore = statistic.StepScore

// NewStepScore starts at the given numbers in nats.
func NewStepScore(start []float64) *StepScore { return statistic.NewStepScore(start) }

// ClassSlope is how the log-likelihood of the labels changes along a shape, or along the terms of f from one on if that is nil, and half of how that
// change falls off, each divided by most nats: see statistic.ClassSlope. What a row adds to both is shortened
// to 1 in L1, of either sign.
func (g *Guard) ClassSlope(f *StepScore, sh *feature.LevelShape, from int, most float64) (*Sum, error) {
	r := g.read()
	slope, err := deepcopy.Of(statistic.ClassSlope{Under: f, Along: sh, Most: most, From: from}).Of(g.context(), r.table())
	if err != nil {
		return nil, err
	}
	values := ratios([]int64{slope.Gain, slope.HalfCurve}, engine.WeightOne)
	return g.sum(values, Signed(g.relation()).Times(r.most), false).formed(g.asked(), SlopeView, 0, nil), nil
}

// ClassResiduals are sealed residuals of one column by class and bin.
type ClassResiduals struct {
	of   reading
	rest inside.Sealed[[][]int64] // by class, then bin
}

// ClassResiduals adds up what the labels say beyond the score f: see statistic.ClassResiduals.
func (g *Guard) ClassResiduals(f *StepScore, bins *feature.Bins) (*ClassResiduals, error) {
	r := g.read()
	rest, err := deepcopy.Of(statistic.ClassResiduals{Under: f, Bins: *bins}).Of(g.context(), r.table())
	if err != nil {
		return nil, err
	}
	return &ClassResiduals{r, inside.Seal(rest)}, nil
}

// Distances scores columns by how far their cells are from what the scores expect, ½·Σ |rows −
// expected rows| over bins and classes. A row adds at most 1 to a score, or takes it off, each time it
// appears or leaves (3.4).
func (g *Guard) Distances(columns []*ClassResiduals) (*Scores, error) {
	var values []mech.Ratio
	most := 1
	for _, r := range columns {
		if r.of.core != g.core {
			return nil, fmt.Errorf("guard: scores must be of one guard")
		}
		most = max(most, r.of.most)
		score := mech.Ratio{Den: 2 * engine.WeightOne}
		for _, byBin := range r.rest() {
			score.Num += sumSizes(byBin)
		}
		values = append(values, score)
	}
	return g.scores(values, 2*OneCell(g.relation()).Times(most).L1), nil
}

// SlopeLimit is how long the slopes of a row may be: see statistic.SlopeLimit.
type SlopeLimit = statistic.SlopeLimit

// Norms of slopes: see statistic.SlopeNorm.
const (
	SlopesL1 = statistic.SlopesL1
	SlopesL2 = statistic.SlopesL2
)

// roundUp covers the rounding of a length: a part in 2^40 is far more than a double can be off.
const roundUp = 1 + 0x1p-40

// lengthSlack covers the rounding of the lengths of cells to a unit of 1/engine.WeightOne each.
const lengthSlack = 0x1p-16

// SlopeMoves is how far slopes of rows that are at most most long move, with curves that count for
// curve each: a row appears in one cell; or it leaves one for another, or stays in its own and, if
// its label is protected, may have the opposite slopes there (1.8).
func SlopeMoves(relation dp.Relation, scope dp.Scope, most, curve float64) Moves {
	l1, l2 := most+curve, math.Hypot(most, curve)
	switch {
	case relation == dp.ReplaceOne && scope == dp.PrivateFeatures:
		l1, l2 = 2*l1, math.Sqrt2*l2
	case relation == dp.ReplaceOne:
		l1, l2 = 2*l1, max(math.Sqrt2*l2, math.Hypot(2*most, curve))
	}
	return Moves{l1 * roundUp, l2 * roundUp}
}

// LengthSpread is how far a neighbour moves the difference of two sums of lengths of cells, of slopes
// that are at most most long: each by at most a row's, up or down, each time it appears or leaves (3.5).
func LengthSpread(relation dp.Relation, most float64) float64 {
	return 2 * OneCell(relation).L1 * (most + lengthSlack)
}

// GridSlopes are sealed slopes and curves of rows by the cells of grids.
type GridSlopes struct {
	of    *core
	limit SlopeLimit
	grids []feature.Grid
	sums  inside.Sealed[[]statistic.GridSums]
}

// GridSlopes adds up, by the cells of each of grids, how the likelihood of the labels rises with the
// score f: see statistic.GridSlopes, which refuses rows that do not count once.
func (g *Guard) GridSlopes(f *StepScore, limit SlopeLimit, grids []feature.Grid) (*GridSlopes, error) {
	of := deepcopy.Of(statistic.GridSlopes{Under: f, Limit: limit, Grids: grids})
	sums, err := of.Of(g.context(), g.read().table())
	if err != nil {
		return nil, err
	}
	return &GridSlopes{g.core, limit, of.Grids, inside.Seal(sums)}, nil
}

// Part is the slopes of one grid by cell and then score, and then its curves by cell, each times
// curve: 0, which leaves them out, or a power of two from 2^-10 to 1.
func (s *GridSlopes) Part(grid int, curve float64) (*Sum, error) {
	g, sums := s.of, &s.sums()[grid]
	if half, e := math.Frexp(curve); curve != 0 && (half != 0.5 || e < -9 || e > 1) {
		return nil, fmt.Errorf("guard: curves must count for 0 or a power of two from 2^-10 to 1")
	}
	values := ratios(sums.Slopes, engine.WeightOne)
	if curve > 0 {
		values = append(values, ratios(sums.Curves, int64(engine.WeightOne/curve))...)
	}
	m := SlopeMoves(g.relation(), g.terms.Scope, s.limit.Most, curve)
	if s.limit.Norm == SlopesL2 && len(sums.Slopes) > len(sums.Curves) {
		m.L1 = math.Inf(1) // several slopes are not that short in L1
	}
	m.L2 *= roundUp // of the product above
	return g.sum(values, m, false), nil
}

// Lengths scores the grids by the sum over their cells of the length of the slopes there, in the norm
// to which they are cut.
func (s *GridSlopes) Lengths() *Scores {
	units := make([]int64, len(s.grids))
	for g := range units {
		units[g] = sumLengths(&s.sums()[g], s.limit.Norm)
	}
	return s.of.scores(ratios(units, engine.WeightOne), LengthSpread(s.of.relation(), s.limit.Most))
}

func sumLengths(sums *statistic.GridSums, norm statistic.SlopeNorm) (total int64) {
	width := len(sums.Slopes) / len(sums.Curves)
	for at := 0; at < len(sums.Slopes); at += width {
		if cell := sums.Slopes[at:][:width]; norm == statistic.SlopesL2 {
			total += euclidean(cell)
		} else {
			total += sumSizes(cell)
		}
	}
	return total
}

// sumSizes is Σ |x|.
func sumSizes(x []int64) (sum int64) {
	for _, n := range x {
		sum += max(n, -n)
	}
	return sum
}

// euclidean is the length of x, rounded.
func euclidean(x []int64) int64 {
	squares := 0.0
	for _, n := range x {
		squares += float64(n) * float64(n)
	}
	return int64(math.Round(math.Sqrt(squares)))
}

// LargestLead is the largest over the grids of how much the slopes along the product of all columns
// of a grid are longer than along the product of any fewer of them, down to none. The factor of a
// column is 1 in its first part and −1 in others. A lead is the difference of two lengths, so that it
// moves as far as the difference of two scores of lengths, and so does the largest (1.9).
func (s *GridSlopes) LargestLead() *Sum {
	largest := int64(math.MinInt64)
	for g := range s.grids {
		largest = max(largest, leadOf(&s.grids[g], &s.sums()[g]))
	}
	moves := LengthSpread(s.of.relation(), s.limit.Most)
	return s.of.sum(ratios([]int64{largest}, engine.WeightOne), Moves{moves, moves}, false)
}

func leadOf(g *feature.Grid, sums *statistic.GridSums) int64 {
	all := uint(1)<<len(g.Axes) - 1
	longest := int64(0)
	for columns := range all {
		longest = max(longest, lengthAlong(g, sums, columns))
	}
	return lengthAlong(g, sums, all) - longest
}

// lengthAlong is how long the slopes are together, each times the product of the factors of some
// columns.
func lengthAlong(g *feature.Grid, sums *statistic.GridSums, columns uint) int64 {
	along := make([]int64, len(sums.Slopes)/len(sums.Curves))
	for cell := range sums.Curves {
		factor := int64(1)
		rest := cell
		for k := range g.Axes {
			if columns>>k&1 == 1 && rest%g.Axes[k].Len() > 0 {
				factor = -factor
			}
			rest /= g.Axes[k].Len()
		}
		for k := range along {
			along[k] += factor * sums.Slopes[cell*len(along)+k]
		}
	}
	return euclidean(along)
}

// ExactSlopes are those of one grid, without privacy.
func (s *GridSlopes) ExactSlopes(grid int) (*statistic.GridSums, error) {
	if s.of.private {
		return nil, fmt.Errorf("guard: slopes must be measured")
	}
	return &s.sums()[grid], nil
}

// GridSums are exact slopes and curves: see statistic.GridSums.
type GridSums = statistic.GridSums
