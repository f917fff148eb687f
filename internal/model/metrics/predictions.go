// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"math"
	"slices"
)

// predictions are checked arguments of Evaluate.
type predictions struct {
	K        int
	truth    []uint8
	scores   []float64
	positive int
	// threshold is the score from which on rows are predicted positive if the label has two levels.
	threshold float64
}

// classScore returns the score of a level in row i.
func (p *predictions) classScore(i, level int) float64 {
	switch {
	case p.K > 2:
		return p.scores[i*p.K+level]
	case level == p.positive:
		return p.scores[i]
	}
	return 1 - p.scores[i]
}

// predictClass returns the level predicted for row i.
func (p *predictions) predictClass(i int) int {
	if p.K == 2 {
		if p.scores[i] >= p.threshold {
			return p.positive
		}
		return 1 - p.positive
	}
	best := 0
	for k := range p.K {
		if p.classScore(i, k) > p.classScore(i, best) {
			best = k
		}
	}
	return best
}

func (p *predictions) countConfusion(levels []string) Confusion {
	c := Confusion{Labels: slices.Clone(levels), Counts: make([][]int, p.K)}
	for k := range c.Counts {
		c.Counts[k] = make([]int, p.K)
	}
	for i, k := range p.truth {
		c.Counts[k][p.predictClass(i)]++
	}
	return c
}

func (c *Confusion) computeAccuracies() (plain, balanced float64) {
	right, rows, levels := 0, 0, 0
	for k, counts := range c.Counts {
		n := 0
		for _, m := range counts {
			n += m
		}
		right, rows = right+counts[k], rows+n
		if n > 0 {
			levels++
			balanced += float64(counts[k]) / float64(n)
		}
	}
	return float64(right) / float64(rows), balanced / float64(levels)
}

func (p *predictions) computeAUC() *float64 {
	if p.K == 2 {
		return p.aucOf(p.positive)
	}
	sum := 0.0
	for k := range p.K {
		one := p.aucOf(k)
		if one == nil {
			return nil
		}
		sum += *one
	}
	mean := sum / float64(p.K)
	return &mean
}

// aucOf counts, in whole numbers, the pairs of a row of the level and another row that the scores
// order correctly. A tie counts half (Mann and Whitney's U).
func (p *predictions) aucOf(level int) *float64 {
	type row struct {
		score float64
		of    bool
	}
	rows := make([]row, len(p.truth))
	for i, k := range p.truth {
		rows[i] = row{p.classScore(i, level), int(k) == level}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.score, b.score) })
	var halves, below, all uint64 // half pairs; rows not of the level so far; rows of it
	for from := 0; from < len(rows); {
		var of, others uint64
		to := from
		for ; to < len(rows) && rows[to].score == rows[from].score; to++ {
			if rows[to].of {
				of++
			} else {
				others++
			}
		}
		halves += of * (2*below + others)
		below += others
		all += of
		from = to
	}
	if all == 0 || below == 0 {
		return nil
	}
	auc := float64(halves) / 2 / float64(all) / float64(below)
	return &auc
}

func (p *predictions) logLoss() float64 {
	sum := 0.0
	for i, k := range p.truth {
		sum -= math.Log(min(max(p.classScore(i, int(k)), clip), 1-clip))
	}
	return sum / float64(len(p.truth))
}

// calibrate returns the calibration error, and its bins.
func (p *predictions) calibrate() (expected float64, curve []Bin) {
	curve = make([]Bin, bins)
	// Of each bin, the sum of the scores less the rows they should amount to.
	var gap [bins]float64
	for i, k := range p.truth {
		level := p.positive
		if p.K > 2 {
			level = p.predictClass(i)
		}
		s := p.classScore(i, level)
		bin := min(int(s*bins), bins-1) // a score of 1 is in the last bin
		gap[bin] += s
		curve[bin].Rows++
		curve[bin].Score += s
		if int(k) == level {
			gap[bin]--
			curve[bin].Share++
		}
	}
	sum := 0.0
	for i, g := range gap {
		sum += math.Abs(g)
		if n := float64(curve[i].Rows); n > 0 {
			curve[i].Score, curve[i].Share = curve[i].Score/n, curve[i].Share/n
		}
	}
	return sum / float64(len(p.truth)), curve
}
