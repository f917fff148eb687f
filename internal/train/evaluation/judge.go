// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"math"
	"slices"
)

// judge evaluates the noisy counts of one partition. Cells are those of one score, divided by whether
// the row's class is the score's own, or those of the scores of two models.
type judge struct {
	counts
	grid   grid
	models int
	all    []float64 // 1 for each cell
	own    []float64 // 1 for each cell of the score's own class
	unit   *pairs    // all pairs of a row of its own class and another row
}

// newJudge evaluates partition k of r.
func newJudge(r *Release, k int) *judge {
	j := &judge{counts: counts{n: slices.Clone(r.Cells[k]), variance: r.Variance}, grid: pointGrid(r.Cuts, r.Scores), models: r.Models}
	for i := range j.n {
		j.all, j.own = append(j.all, 1), append(j.own, float64(i%2))
	}
	j.hold(r, k)
	j.unit = newPairs(len(j.n), j.isOwn, func(int, int) float64 { return 1 })
	return j
}

// hold adjusts the counts to the sums that are public.
func (j *judge) hold(r *Release, k int) {
	switch {
	case r.Bins != nil:
		held := make([][]int, len(r.Bins))
		for b := range held {
			held[b] = []int{2 * b, 2*b + 1}
		}
		j.holdSums(held, r.Bins)
	case r.Classes != nil:
		of := k // the class that the score is of
		if len(r.Levels) == 2 {
			of = r.Positive
		}
		var held [2][]int
		for i := range j.n {
			held[i%2] = append(held[i%2], i)
		}
		sums := []float64{0, r.Classes[of]}
		for class, rows := range r.Classes {
			if class != of {
				sums[0] += rows
			}
		}
		j.holdSums(held[:], sums)
	case r.Units > 0:
		every := make([]int, len(j.n))
		for i := range every {
			every[i] = i
		}
		j.holdSums([][]int{every}, []float64{float64(r.Units)})
	}
}

func (j *judge) isOwn(cell int) bool { return cell%2 == 1 }

// score returns the cell of one model's score.
func (j *judge) score(model, cell int) int {
	cell /= 2
	switch {
	case j.models == 1:
		return cell
	case model == 0:
		return cell / j.grid.cells()
	}
	return cell % j.grid.cells()
}

// eachCell makes a vector over the cells, from a function of a model's score and of whether the class
// is its own.
func (j *judge) eachCell(model int, value func(score int, own bool) float64) []float64 {
	out := make([]float64, len(j.n))
	for i := range out {
		out[i] = value(j.score(model, i), j.isOwn(i))
	}
	return out
}

func indicator(x bool) float64 {
	if x {
		return 1
	}
	return 0
}

// rightFrom marks the rows that are predicted correctly if the rows from a cell on are predicted to be
// of its own class. foundFrom marks those of its own class among them, predictedFrom all that are
// predicted so.
func (j *judge) rightFrom(model, cell int) []float64 {
	return j.eachCell(model, func(s int, own bool) float64 { return indicator(own == (s >= cell)) })
}

func (j *judge) foundFrom(model, cell int) []float64 {
	return j.eachCell(model, func(s int, own bool) float64 { return indicator(own && s >= cell) })
}

func (j *judge) predictedFrom(model, cell int) []float64 {
	return j.eachCell(model, func(s int, _ bool) float64 { return indicator(s >= cell) })
}

func (j *judge) costFrom(model, cell int, c Costs) []float64 {
	return j.eachCell(model, func(s int, own bool) float64 {
		switch {
		case own && s < cell:
			return c.FalseNegative
		case !own && s >= cell:
			return c.FalsePositive
		}
		return 0
	})
}

// loss returns each cell's log loss.
func (j *judge) loss(model int) []float64 {
	return j.spreadCells(model, j.grid.rowLoss, j.grid.lossSlope)
}

// spreadCells returns a mean over each cell's rows, from its mean over even scores and its slope. Within a cell the density
// of scores is linear, with the slope between the neighbouring cells.
func (j *judge) spreadCells(model int, mean, slope func(k int, own bool) float64) []float64 {
	g := &j.grid
	var values [2][]float64
	for own := range values {
		v := make([]float64, g.cells())
		for k := range v {
			v[k] += mean(k, own == 1)
			if !g.smooth(k) {
				continue
			}
			w := g.width(k)
			apart := g.width(k) + (g.width(k-1)+g.width(k+1))/2
			moved := slope(k, own == 1) * w * w * w / 12 / apart
			v[k+1] += moved / g.width(k+1)
			v[k-1] -= moved / g.width(k-1)
		}
		values[own] = v
	}
	return j.eachCell(model, func(s int, own bool) float64 {
		if own {
			return values[1][s]
		}
		return values[0][s]
	})
}

// lossWidth is the standard error of the total log loss that is due to the uneven distribution of
// scores within cells.
func (j *judge) lossWidth(model int) float64 { return j.cellWidth(model, j.grid.lossSlope) }

// cellWidth is lossWidth for a mean with this slope.
func (j *judge) cellWidth(model int, slope func(k int, own bool) float64) float64 {
	sum := make([]float64, j.grid.cells())
	for i, n := range j.n {
		s := j.score(model, i)
		if j.grid.single(s) {
			continue
		}
		sum[s] += n * slope(s, j.isOwn(i)) * j.grid.width(s)
	}
	return unevenLoss * math.Sqrt(dot(sum, sum))
}

// How unevenly scores may be distributed within their cells, as standard deviations: of the mean
// score, as a share of the cell's width, and of the share of the pairs within one cell that are
// ordered correctly.
const (
	unevenLoss = 0.04
	unevenGain = 0.03
	// For two models, which have fewer cells.
	unevenPairGain = 0.06
)

// maxLoss is larger than any cell's log loss.
func (j *judge) maxLoss() float64 {
	return max(j.grid.rowLoss(0, true), j.grid.rowLoss(j.grid.cells()-1, false)) + 1
}

// order is the form that counts the pairs a model orders correctly.
func (j *judge) order(model int) *pairs {
	return newPairs(len(j.n), j.isOwn, func(a, b int) float64 { return j.grid.order(j.score(model, a), j.score(model, b)) })
}

// orderWidth is the standard error of the number of correctly ordered pairs that is due to the width
// of cells.
func (j *judge) orderWidth(model int) float64 {
	own, other := make([]float64, j.grid.cells()), make([]float64, j.grid.cells())
	for i, n := range j.n {
		if j.isOwn(i) {
			own[j.score(model, i)] += n
		} else {
			other[j.score(model, i)] += n
		}
	}
	sum, least := 0.0, unevenGain
	if j.models == 2 {
		least = unevenPairGain
	}
	for k, n := range own {
		if j.grid.single(k) {
			continue
		}
		off := max(0, n) * max(0, other[k]) * max(least, j.grid.mostOrder(k)/math.Sqrt(3))
		sum += off * off
	}
	return math.Sqrt(sum)
}

// auc asks for the area under the ROC curve.
func (j *judge) auc(model int) question {
	o := j.order(model)
	q := j.pairRatio(o, j.unit, newPairErrors(&j.counts, o, j.unit), 0, 1)
	q.width = j.orderWidth(model)
	return q
}

// aucGain asks for the second model's area minus the first one's.
func (j *judge) aucGain() question {
	a, b := j.order(0), j.order(1)
	d := newPairs(len(j.n), j.isOwn, func(x, y int) float64 { return b.s[x][y] - a.s[x][y] })
	q := j.pairRatio(d, j.unit, newPairErrors(&j.counts, d, j.unit), -1, 1)
	q.width = math.Hypot(j.orderWidth(0), j.orderWidth(1))
	return q
}

// logLoss asks for the mean log loss.
func (j *judge) logLoss(model int) question {
	q := j.ratio(j.loss(model), j.all, 0, j.maxLoss())
	q.width = j.lossWidth(model)
	return q
}

// gain asks for the mean difference of two numbers of each row, the second minus the first, within
// ±most.
func (j *judge) gain(first, second []float64, most float64) question {
	d := make([]float64, len(first))
	for i := range d {
		d[i] = second[i] - first[i]
	}
	return j.ratio(d, j.all, -most, most)
}

// smooth asks for a smooth function of the counts that does not change if all counts are multiplied by
// a factor. It uses the function's derivatives.
func (j *judge) smooth(f func(n []float64) float64, low, high float64) question {
	n := make([]float64, len(j.n)) // no count below 0, and the sum of each class kept
	for class := range 2 {
		var of []float64
		for i := class; i < len(j.n); i += 2 {
			of = append(of, j.n[i])
		}
		for k, x := range positiveParts(of) {
			n[2*k+class] = x
		}
	}
	total := dot(j.all, n)
	slopes, step := make([]float64, len(n)), max(1e-3, 1e-5*total)
	for i := range n {
		moved := slices.Clone(n)
		moved[i] += step
		up := f(moved)
		moved[i] = max(0, n[i]-step)
		slopes[i] = (up - f(moved)) / (n[i] + step - moved[i])
	}
	of := counts{n: n, variance: j.variance, held: j.held}
	return question{first: f(n), second: 1, noise: quadratic{j.noise(slopes, slopes)},
		sampling: quadratic{of.sampling(slopes, slopes)}, low: low, high: high}
}

// positiveParts returns the nearest vector of numbers ≥ 0 with the same sum, if that is above 0;
// otherwise 0.
func positiveParts(x []float64) []float64 {
	out := make([]float64, len(x))
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	slices.Reverse(sorted)
	total, cut, sum := 0.0, 0.0, 0.0
	for _, v := range x {
		total += v
	}
	if total <= 0 {
		return out
	}
	for k, v := range sorted {
		sum += v
		if c := (sum - total) / float64(k+1); v > c {
			cut = c
		}
	}
	for i, v := range x {
		out[i] = max(0, v-cut)
	}
	return out
}

// averagePrecision is the area under the curve of precision and recall. Within a cell rows of both classes are found
// evenly, as Davis and Goadrich (2006) interpolate it. So a count near 0 in the highest cells hardly changes the area.
func averagePrecision(n []float64) float64 {
	own, rows, area, total := 0.0, 0.0, 0.0, 0.0
	for i := 1; i < len(n); i += 2 {
		total += n[i]
	}
	for i := len(n) - 1; i > 0; i -= 2 {
		o, r := n[i], n[i]+n[i-1]
		if r > 0 {
			area += o * o / r
		}
		if r > 0 && rows > 0 {
			area += o * (own - rows*o/r) / r * math.Log1p(r/rows)
		}
		own, rows = own+o, rows+r
	}
	if total <= 0 {
		return 0
	}
	return area / total
}

// liftOfTop is the share of rows of its own class among the tenth with the highest scores, divided by
// their share among all rows.
func liftOfTop(n []float64) float64 {
	own, total := 0.0, 0.0
	for i, x := range n {
		total += x
		own += x * float64(i%2)
	}
	if own <= 0 {
		return 1
	}
	left, found := total/10, 0.0
	for i := len(n) - 1; i > 0 && left > 0; i -= 2 {
		if r := n[i] + n[i-1]; r > 0 {
			part := min(1, left/r)
			found, left = found+part*n[i], left-part*r
		}
	}
	return found / own * 10
}
