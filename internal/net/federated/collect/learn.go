// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"math"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// learnCandidate makes a candidate, the last member, from the tables of the open slot.
func (a *Aggregator) learnCandidate() error {
	a.tables = a.collectTables()
	total := estimateTotals(a.tables)
	if a.prior == nil {
		a.prior = centredLogs(total)
	}
	shapes, means := make([]wire.Shape, len(a.tables)), make([][]float64, len(a.tables))
	for i := range a.tables {
		means[i] = a.tables[i].cellMeans(total, &a.round.Asks[i], a.marginals[a.round.Asks[i].Question])
		if q := a.round.Asks[i].Question; a.marginals[q] == nil {
			a.marginals[q] = means[i]
		}
		shapes[i] = a.scoreCells(&a.round.Asks[i], &a.tables[i], total)
	}
	var m wire.Member
	if a.task.Classifier == wire.Centroid {
		c, err := a.nearestCentroid(shapes, means)
		if err != nil {
			return err
		}
		m.Argmax = c
	} else {
		m.Shapes = shapes
	}
	for i := range shapes {
		if a.task.Classifier == wire.Logistic {
			a.fitLine(&shapes[i], means[i])
		}
		centreScores(&shapes[i], means[i])
	}
	a.margin = scaleShapes(shapes, means)
	a.members = append(a.members, m)
	return nil
}

func centredLogs(x []float64) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k] = math.Log(v)
	}
	centreValues(out)
	return out
}

// scoreCells scores the preference of each level for a cell as if all levels were equally frequent:
// the logarithm of the level's share in the cell divided by the mean share of all levels.
func (a *Aggregator) scoreCells(ask *wire.Ask, t *table, total []float64) wire.Shape {
	K := t.levels
	cells := a.task.Cells(ask.Question)
	out := wire.Shape{Question: ask.Question, Leaves: make([][]float64, cells)}
	for c := range out.Leaves {
		out.Leaves[c] = make([]float64, K)
	}
	if t.reports == 0 {
		return out
	}
	shares := t.cellShares(total)
	mean := t.averageLevels(shares)
	ordered := len(ask.Groups) == 0 && a.isNumber(ask.Question) && t.cells > 2
	leaves := make([]float64, t.cells*K)
	diff, noise := make([]float64, t.cells), make([]float64, t.cells)
	for k := range K {
		for c := range diff {
			diff[c] = shares[c*K+k] - mean[c]
			noise[c] = t.noiseVariance(mean[c], k, total)
		}
		for c, u := range relativeDeviations(diff, mean, noise, ordered, float64(K-1)) {
			leaves[c*K+k] = math.Log1p(u)
		}
	}
	for c := range out.Leaves {
		g := c
		if len(ask.Groups) > 0 {
			g = ask.Groups[c]
		}
		copy(out.Leaves[c], leaves[g*K:(g+1)*K])
	}
	return out
}

// noiseVariance returns the variance of share − mean of level k in a cell with that mean, due to the
// law and to the random choice of owners.
func (t *table) noiseVariance(mean float64, k int, total []float64) (sum float64) {
	K := float64(t.levels)
	for l := range t.levels {
		n := total[l] * t.reports
		part := 1 / K
		if l == k {
			part = 1 - 1/K
		}
		sum += part * part * (t.variance/(n*n) + mean/n)
	}
	return sum + 1e-15
}

// cellMeans returns the cells' shares, averaged over levels, for every cell of ask's question. Cells
// that ask combines are separated in proportion to marginal, the estimate of an earlier round, or
// evenly if that is 0.
func (t *table) cellMeans(total []float64, ask *wire.Ask, marginal []float64) []float64 {
	mean := t.averageLevels(t.cellShares(total))
	if len(ask.Groups) == 0 {
		return mean
	}
	size, mass := make([]float64, t.cells), make([]float64, t.cells)
	for c, g := range ask.Groups {
		size[g]++
		mass[g] += marginal[c]
	}
	out := make([]float64, len(ask.Groups))
	for c, g := range ask.Groups {
		out[c] = mean[g] / size[g]
		if mass[g] > 0 {
			out[c] = mean[g] * marginal[c] / mass[g]
		}
	}
	return out
}

func (a *Aggregator) isNumber(q int) bool {
	return a.task.Schema.Columns[a.task.Column(q)].Kind == schema.Number
}

// centreScores centres scores over the levels in each cell, and over the cells for each level, so that
// a shape does not depend on the frequencies of levels.
func centreScores(s *wire.Shape, mean []float64) {
	for _, leaf := range s.Leaves {
		centreValues(leaf)
	}
	for k := range s.Leaves[0] {
		all := 0.0
		for c, leaf := range s.Leaves {
			all += mean[c] * leaf[k]
		}
		for _, leaf := range s.Leaves {
			leaf[k] -= all // the means add up to 1
		}
	}
}

// scaleShapes scales shapes so that the root mean square margin of their sum is typicalMargin,
// assuming that columns are independent. It returns the margin before scaling.
//
// SAMME's vote ln((1−e)/e) is the log-odds of a member with constant margin. Log-odds summed over
// columns are nearly normal with mean ±d²/2 and standard deviation d. A member with such margins has
// the error e = Φ(−d/2), and d is about 1.2 times the vote for any e from 0.1 to 0.5.
func scaleShapes(shapes []wire.Shape, means [][]float64) float64 {
	square := 0.0
	for i, s := range shapes {
		for c, leaf := range s.Leaves {
			K := float64(len(leaf))
			for _, x := range leaf {
				square += K / (K - 1) * means[i][c] * x * x
			}
		}
	}
	margin := math.Sqrt(square)
	unit := margin / typicalMargin
	if !(margin > 0) {
		return 0
	}
	for _, s := range shapes {
		for _, leaf := range s.Leaves {
			for k := range leaf {
				leaf[k] = math.Min(math.Max(leaf[k]/unit, -mostLeaf), mostLeaf)
			}
		}
	}
	return margin
}

const (
	typicalMargin = 1.2 // nats, for a vote of 1
	mostLeaf      = 16  // nats; larger values mean certainty
)

func centreValues(x []float64) {
	mean := 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for k := range x {
		x[k] -= mean
	}
}

// listAsks lists the questions of the rounds after the first. A question is on which side of a
// column's current scores the record is, if there are two sides, and for centroids in which half of a
// number's range. Two cells cost less noise than many; later rounds correct effects that the first
// ones counted twice. In mode aggregate owners share the noise, which is small, so that all cells are
// asked for again.
func (a *Aggregator) listAsks() (asks []wire.Ask) {
	for q := range a.task.Questions {
		ask := wire.Ask{Question: q}
		if a.task.Classifier == wire.Centroid && a.task.Mode == wire.Local && a.isNumber(q) {
			ask.Groups = splitBins(a.marginals[q])
		}
		if sum := a.sumLeaves(q); sum != nil && a.task.Mode == wire.Local {
			groups := groupCells(sum)
			if groups == nil {
				continue
			}
			ask.Groups = groups
		}
		asks = append(asks, ask)
	}
	if len(asks) == 0 {
		for q := range a.task.Questions {
			asks = append(asks, wire.Ask{Question: q})
		}
	}
	return asks
}

// sumLeaves returns the leaves of question q, summed over the members with their votes; nil if no
// member has any.
func (a *Aggregator) sumLeaves(q int) (sum [][]float64) {
	for i := range a.members {
		m := &a.members[i]
		for _, s := range m.Shapes {
			if s.Question != q || m.Vote == 0 {
				continue
			}
			if sum == nil {
				sum = make([][]float64, len(s.Leaves))
				for c := range sum {
					sum[c] = make([]float64, len(s.Leaves[c]))
				}
			}
			for c, leaf := range s.Leaves {
				for k, x := range leaf {
					sum[c][k] += m.Vote * x
				}
			}
		}
	}
	return sum
}

// splitBins groups a number's bins into low and high ones with about equally many records; nil if one
// bin has most of the records.
func splitBins(marginal []float64) []int {
	below, best, cut := 0.0, 0.5, 0
	for c, m := range marginal {
		if d := math.Abs(below - 0.5); d < best {
			best, cut = d, c
		}
		below += m
	}
	if best > 0.4 {
		return nil
	}
	groups := make([]int, len(marginal))
	for c := range groups {
		if c >= cut {
			groups[c] = 1
		}
	}
	return groups
}

// groupCells groups cells by the level with the highest score; nil if it is the same level in all
// cells.
func groupCells(leaves [][]float64) []int {
	number := map[int]int{}
	groups := make([]int, len(leaves))
	for c, leaf := range leaves {
		top := feature.ArgMax(leaf)
		if _, ok := number[top]; !ok {
			number[top] = len(number)
		}
		groups[c] = number[top]
	}
	if len(number) < 2 {
		return nil
	}
	return groups
}
