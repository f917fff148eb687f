// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

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
	of    *Guard
	limit SlopeLimit
	grids []feature.Grid
	sums  inside.Sealed[[]statistic.GridSums]
}

// GridSlopes adds up, by the cells of each of grids, how the likelihood of the labels rises with the
// score f: see statistic.GridSlopes.
func (g *Guard) GridSlopes(ctx context.Context, f *StepScore, limit SlopeLimit, grids []feature.Grid) (*GridSlopes, error) {
	if !(limit.Most > 0 && limit.Most <= 1) || g.most != 1 {
		return nil, fmt.Errorf("guard: slopes must be cut to a length in (0, 1], of rows that count once")
	}
	sums, err := statistic.GridSlopes{Under: f, Limit: limit, Grids: grids}.Of(ctx, g.table())
	if err != nil {
		return nil, err
	}
	return &GridSlopes{g, limit, grids, inside.Seal(sums)}, nil
}

// Part is the slopes of one grid by cell and then score, and then its curves by cell, each times
// curve: 0, which leaves them out, or a power of two from 2^-10 to 1.
func (s *GridSlopes) Part(grid int, curve float64) (*Sum, error) {
	g, sums := s.of, &s.sums()[grid]
	if half, e := math.Frexp(curve); curve != 0 && (half != 0.5 || e < -9 || e > 1) {
		return nil, fmt.Errorf("guard: curves must count for 0 or a power of two from 2^-10 to 1")
	}
	var values []mech.Ratio
	for _, x := range sums.Slopes {
		values = append(values, mech.Ratio{Num: x, Den: engine.WeightOne})
	}
	if curve > 0 {
		for _, x := range sums.Curves {
			values = append(values, mech.Ratio{Num: x, Den: int64(engine.WeightOne / curve)})
		}
	}
	m := SlopeMoves(g.Schema().Relation, g.terms.Scope, s.limit.Most, curve)
	if s.limit.Norm == SlopesL2 && len(sums.Slopes) > len(sums.Curves) {
		m.L1 = math.Inf(1) // several slopes are not that short in L1
	}
	m.L2 *= roundUp // of the product above
	return &Sum{of: g, values: inside.Seal(values), moves: m}, nil
}

// Lengths scores the grids by the sum over their cells of the length of the slopes there, in the norm
// to which they are cut.
func (s *GridSlopes) Lengths() *Scores {
	return s.scores(1, func(_ *feature.Grid, sums *statistic.GridSums) int64 { return sumLengths(sums, s.limit.Norm) })
}

// scores are those of the grids that move by so many lengths.
func (s *GridSlopes) scores(lengths float64, of func(*feature.Grid, *statistic.GridSums) int64) *Scores {
	values := make([]mech.Ratio, len(s.grids))
	for g := range values {
		values[g] = mech.Ratio{Num: of(&s.grids[g], &s.sums()[g]), Den: engine.WeightOne}
	}
	spread := lengths * LengthSpread(s.of.Schema().Relation, s.limit.Most)
	return &Scores{of: s.of, values: inside.Seal(values), spread: spread}
}

func sumLengths(sums *statistic.GridSums, norm statistic.SlopeNorm) (total int64) {
	width := len(sums.Slopes) / len(sums.Curves)
	for at := 0; at < len(sums.Slopes); at += width {
		sizes, squares := int64(0), 0.0
		for _, x := range sums.Slopes[at : at+width] {
			sizes += max(x, -x)
			squares += float64(x) * float64(x)
		}
		if norm == statistic.SlopesL2 && width > 1 {
			sizes = int64(math.Round(math.Sqrt(squares)))
		}
		total += sizes
	}
	return total
}

// Leads scores the grids by how much the slopes along the product of all columns of a grid are longer
// than along the product of any fewer of them, down to none. The factor of a column is 1 in its first
// part and −1 in others. A lead is the difference of two lengths, so that the difference of two leads
// moves twice as far as that of lengths (3.6).
func (s *GridSlopes) Leads() *Scores { return s.scores(2, leadOf) }

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
	squares := 0.0
	for _, x := range along {
		squares += float64(x) * float64(x)
	}
	return int64(math.Round(math.Sqrt(squares)))
}

// ExactSlopes are those of one grid, without privacy.
func (s *GridSlopes) ExactSlopes(grid int) (*statistic.GridSums, error) {
	if s.of.private {
		return nil, fmt.Errorf("guard: slopes must be measured")
	}
	return &s.sums()[grid], nil
}

// Slopes is the number of slopes of a grid, Curves that of its curves.
func (s *GridSlopes) Slopes(grid int) int { return len(s.sums()[grid].Slopes) }
func (s *GridSlopes) Curves(grid int) int { return len(s.sums()[grid].Curves) }

// GridSums are exact slopes and curves: see statistic.GridSums.
type GridSums = statistic.GridSums
