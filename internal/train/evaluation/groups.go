// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"math"
	"slices"
)

// ByGroup is what the rows of one group say. Intervals of all numbers of all groups hold together.
type ByGroup struct {
	Name string
	// Told reports whether the released counts show that the group has rows. Otherwise it has no Numbers.
	Told    bool
	Numbers []Number
}

// overall is the release of all groups together.
func (r *Release) overall() *Release {
	if r.Groups == nil {
		return r
	}
	sum := func(all []float64) []float64 {
		out := make([]float64, len(all)/len(r.Groups))
		for i, x := range all {
			out[i%len(out)] += x
		}
		return out
	}
	out := *r
	out.Cells, out.Variance = [][]float64{sum(r.Cells[0])}, r.Variance*float64(len(r.Groups))
	if r.Bins != nil {
		out.Bins = sum(r.Bins)
	}
	return &out
}

// group is the release of one group. What is public of all rows is not known of its own.
func (r *Release) group(g int) *Release {
	of := func(all []float64) []float64 {
		n := len(all) / len(r.Groups)
		return all[g*n:][:n]
	}
	out := *r
	out.Cells, out.Units, out.Classes = [][]float64{of(r.Cells[0])}, 0, nil
	if r.Bins != nil {
		out.Bins = of(r.Bins)
	}
	return &out
}

// judgeGroups evaluates each group at the cell from which on rows are predicted positive. ways is the number of cells
// among which it was chosen, 1 for none.
func (r *Report) judgeGroups(from, ways int) {
	var names []string
	ask := func(j *judge) (questions []question) {
		names = names[:0]
		add := func(name string, q question) { names, questions = append(names, name), append(questions, q) }
		add("accuracy", j.shareOf(j.rightFrom(0, from), j.all))
		add("positive_rate", j.shareOf(j.own, j.all))
		add("predicted_rate", j.shareOf(j.predictedFrom(0, from), j.all))
		add("recall", j.shareOf(j.foundFrom(0, from), j.own))
		add("score_minus_rate", j.scoreMinusRate())
		add("auc", j.auc(0))
		return questions
	}
	for g, name := range r.Release.Groups {
		j := newJudge(r.Release.group(g), 0)
		questions := ask(j)
		// One more question of each group is whether it has rows.
		critical := together(ways * len(r.Release.Groups) * (len(questions) + 1))
		out := ByGroup{Name: name, Told: dot(j.all, j.n) > critical*math.Sqrt(max(0, j.noise(j.all, j.all)))}
		if out.Told && dot(j.all, j.n) >= leastOfGroup {
			for i, q := range questions {
				out.Numbers = append(out.Numbers, Number{names[i], q.estimate(critical)})
			}
		}
		out.Told = out.Numbers != nil
		r.Groups = append(r.Groups, out)
	}
}

// leastOfGroup is the least number of rows of which anything is told: the law of fewer is far from normal.
const leastOfGroup = 20

// together is the half-width, in standard deviations, of so many intervals that hold together, whatever they have in
// common (Bonferroni).
func together(n int) float64 {
	return normalCritical(func(c float64) float64 { return float64(n) * math.Erfc(c/math.Sqrt2) })
}

// scoreMinusRate asks for the mean score minus the share of rows of its own class: 0 for calibrated scores.
func (j *judge) scoreMinusRate() question {
	g := &j.grid
	mean := func(k int, _ bool) float64 { return g.meanScore(k) }
	slope := func(k int, _ bool) float64 { return g.scoreSlope(k) }
	excess := j.spreadCells(0, mean, slope)
	for i, own := range j.own {
		excess[i] -= own
	}
	q := j.ratio(excess, j.all, -1, 1)
	q.width = j.cellWidth(0, slope)
	return q
}

// withoutGroup lists the groups of which nothing is told.
func (r *Report) withoutGroup() (names []string) {
	for _, g := range r.Groups {
		if !g.Told {
			names = append(names, g.Name)
		}
	}
	return slices.Clip(names)
}
