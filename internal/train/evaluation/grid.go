// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"math"
	"sort"
)

// reach is the log-odds at which the first and the last cell end. Scores beyond it belong to these
// cells.
const reach = 8.0

// sureScore replaces scores of 0 in log loss, and 1 - sureScore replaces scores of 1 (package
// metrics).
const sureScore = 1e-15

// grid divides scores into cells of equal width in log-odds. If scores may be exactly 0 or 1, like
// shares of votes, two additional cells hold these. If a model has few distinct scores, each has its
// own cell.
type grid struct {
	cuts        []float64 // scores, increasing; a score at a cut is in the cell above
	edges       []float64 // log-odds: -reach, those of the cuts, reach
	first, last int       // the cells between those of 0 and 1
	points      []float64 // the only score of each cell; nil if cells have several
}

// newPointGrid makes a cell for each of some increasing scores, with cuts between them and one cut at
// the threshold in (0, 1). If all scores are on one side of the threshold, the cell on the other side
// has no rows.
func newPointGrid(points []float64, threshold float64) grid {
	above := sort.SearchFloat64s(points, threshold) // the first that is predicted positive
	switch above {
	case 0:
		points, above = append([]float64{threshold / 2}, points...), 1
	case len(points):
		points = append(points[:len(points):len(points)], (threshold+1)/2)
	}
	var cuts []float64
	for k := 1; k < len(points); k++ {
		cuts = append(cuts, points[k-1]+(points[k]-points[k-1])/2)
	}
	cuts[above-1] = threshold
	return pointGrid(cuts, points)
}

// pointGrid makes the grid with these cuts and scores, which may be nil.
func pointGrid(cuts, points []float64) grid {
	g := gridOf(cuts)
	g.points = points
	return g
}

// newGrid makes a grid of the given number of cells, at least 2, with one cut at the threshold in (0,
// 1). If sure is set, it adds cells for 0 and 1.
func newGrid(cells int, threshold float64, sure bool) grid {
	var g grid
	at, nearest := logOdds(threshold), math.Inf(1)
	moved := 0
	for k := 1; k < cells; k++ {
		z := reach * (2*float64(k)/float64(cells) - 1)
		g.cuts = append(g.cuts, logistic(z))
		if d := math.Abs(z - at); d < nearest {
			moved, nearest = k-1, d
		}
	}
	g.cuts[moved] = max(2*sureScore, min(1-2*sureScore, threshold))
	if sure {
		g.cuts = append(append([]float64{sureScore}, g.cuts...), 1-sureScore)
	}
	return gridOf(g.cuts)
}

// gridOf makes the grid with these cuts.
func gridOf(cuts []float64) grid {
	g := grid{cuts: cuts, last: len(cuts)}
	inner := cuts
	if len(cuts) > 2 && cuts[0] == sureScore {
		g.first, g.last, inner = 1, len(cuts)-1, cuts[1:len(cuts)-1]
	}
	g.edges = []float64{min(-reach, logOdds(inner[0])-1)}
	for _, c := range inner {
		g.edges = append(g.edges, logOdds(c))
	}
	g.edges = append(g.edges, max(reach, g.edges[len(inner)]+1))
	if g.first > 0 {
		g.edges = append(append([]float64{math.Inf(-1)}, g.edges...), math.Inf(1))
	}
	return g
}

// smooth reports whether the density of scores in a cell is assumed to be linear: the cell has
// neighbours on both sides that hold more than one score.
func (g *grid) smooth(k int) bool { return g.points == nil && k > g.first && k < g.last }

// single reports whether all rows of a cell have one score.
func (g *grid) single(k int) bool { return g.points != nil || k < g.first || k > g.last }

// mostOrder bounds how far the share of correctly ordered pairs in a cell can differ from one half, if
// scores are calibrated. The log-odds in a cell differ by at most w, so that the ratio of the two
// classes' densities varies by a factor of at most e^w. The share differs most if both classes lie at
// the ends of the cell, with tanh(w/4) more of one class at one end than of the other.
func (g *grid) mostOrder(k int) float64 { return math.Tanh(g.width(k)/4) / 2 }

// cells is the number of cells.
func (g *grid) cells() int { return len(g.cuts) + 1 }

// cell returns the cell of a score.
func (g *grid) cell(score float64) int {
	return sort.Search(len(g.cuts), func(k int) bool { return !(score >= g.cuts[k]) })
}

// width returns the width of a cell in log-odds.
func (g *grid) width(k int) float64 { return g.edges[k+1] - g.edges[k] }

func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z)) }

func logOdds(p float64) float64 { return math.Log(p / (1 - p)) }

// rowLoss is the mean log loss of scores spread evenly over a cell, for the positive class or the
// other.
func (g *grid) rowLoss(k int, positive bool) float64 {
	loss := func(z float64) float64 {
		if positive {
			z = -z
		}
		return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z)))
	}
	a, b := g.edges[k], g.edges[k+1]
	if g.points != nil {
		return loss(logOdds(max(sureScore, min(1-sureScore, g.points[k]))))
	}
	if g.single(k) {
		return loss(max(logOdds(sureScore), min(-logOdds(sureScore), a+b)))
	}
	return (loss(a) + 4*loss((a+b)/2) + loss(b)) / 6 // Simpson's rule
}

// meanScore is the mean of scores spread evenly over a cell.
func (g *grid) meanScore(k int) float64 {
	a, b := g.edges[k], g.edges[k+1]
	switch {
	case g.points != nil:
		return g.points[k]
	case g.single(k):
		return indicator(k > g.last)
	}
	soft := func(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }
	return (soft(b) - soft(a)) / (b - a)
}

// scoreSlope is the derivative of the score at the middle of a cell, times the cell's width.
func (g *grid) scoreSlope(k int) float64 {
	p := logistic((g.edges[k] + g.edges[k+1]) / 2)
	return p * (1 - p)
}

// lossSlope is the derivative of the log loss at the middle of a cell, times the cell's width.
func (g *grid) lossSlope(k int, positive bool) float64 {
	p := logistic((g.edges[k] + g.edges[k+1]) / 2)
	if positive {
		return p - 1
	}
	return p
}
