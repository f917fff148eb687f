// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"encoding/json"
	"math"
	"slices"
	"sort"
)

// Report holds the numbers that follow from the noisy counts.
type Report struct {
	Release *Release
	// Threshold is the score from which on rows are predicted positive. If costs were given it is
	// chosen by them, and the numbers that depend on it have intervals that are valid for all cuts
	// together.
	Threshold float64
	Chosen    bool
	Numbers   []Number
	// Points holds the numbers at each cut of the scores, Calibration those of groups of cells.
	Points      []Point
	Calibration []Group
}

// Number is an estimate under its JSON name.
type Number struct {
	Name string
	Estimate
}

// Point holds the results at one threshold.
type Point struct {
	Threshold float64
	Numbers   []Number
}

// Group is a group of neighbouring cells of scores, from From to below To.
type Group struct {
	From, To float64
	Share    Estimate // of rows of the positive class
}

// Find returns the number with the given name.
func (r *Report) Find(name string) (Estimate, bool) {
	for _, n := range r.Numbers {
		if n.Name == name {
			return n.Estimate, true
		}
	}
	return Estimate{}, false
}

// Report computes the numbers. costs chooses the threshold for a label of two classes, and may be nil.
func (r *Release) Report(costs *Costs) (*Report, error) {
	if costs != nil {
		if err := costs.Check(len(r.Levels), r.Models); err != nil {
			return nil, err
		}
	}
	out := &Report{Release: r, Threshold: r.Threshold}
	switch {
	case len(r.Levels) > 2:
		out.judgeClasses()
	case r.Models == 2:
		out.judgePair()
	default:
		out.judgeOne(costs)
	}
	return out, nil
}

func (r *Report) add(name string, q question, critical float64) {
	r.Numbers = append(r.Numbers, Number{name, q.estimate(critical)})
}

// firstPredicted returns the first cell of scores that the threshold predicts to be positive.
func (r *Release) firstPredicted() int { return sort.SearchFloat64s(r.Cuts, r.Threshold) + 1 }

// judgeOne evaluates one model of two classes.
func (r *Report) judgeOne(costs *Costs) {
	j := newJudge(r.Release, 0)
	from := r.Release.firstPredicted()
	critical := criticals{}
	if costs != nil {
		r.Chosen = true
		from = j.cheapest(*costs)
		r.Threshold = cutAt(r.Release.Cuts, from)
		critical = j.criticalOf(costs, "accuracy", "precision", "recall", "predicted_rate", costName)
	}
	r.add("auc", j.auc(0), pointwise)
	r.add("log_loss", j.logLoss(0), pointwise)
	r.add("positive_rate", j.shareOf(j.own, j.all), pointwise)
	r.Numbers = append(r.Numbers, j.atCell(from, costs, critical)...)
	r.add("pr_auc", j.smooth(averagePrecision, 0, 1), pointwise)
	r.add("lift_at_10_percent", j.smooth(liftOfTop, 0, 10), pointwise)
	for k, cut := range r.Release.Cuts {
		r.Points = append(r.Points, Point{cut, j.atCell(k+1, costs, critical)})
	}
	r.calibrate(j)
}

// cutAt returns the score at which a cell begins; 1 beyond the last cell.
func cutAt(cuts []float64, cell int) float64 {
	switch {
	case cell == 0:
		return 0
	case cell > len(cuts):
		return 1
	}
	return cuts[cell-1]
}

// criticals holds the number of standard deviations of an interval, for the names of numbers that
// depend on a threshold. Numbers without an entry have pointwise intervals.
type criticals map[string]float64

func (c criticals) of(name string) float64 {
	if x, ok := c[name]; ok {
		return x
	}
	return pointwise
}

// thresholdCells returns the numbers that depend on the threshold, each as a name, the cells that are
// counted or paid, and the cells of the rows among which they are.
func (j *judge) thresholdCells(from int, costs *Costs) (names []string, a, b [][]float64) {
	found, predicted := j.foundFrom(0, from), j.predictedFrom(0, from)
	names = []string{"accuracy", "precision", "recall", "predicted_rate"}
	a = [][]float64{j.rightFrom(0, from), found, found, predicted}
	b = [][]float64{j.all, predicted, j.own, j.all}
	if costs != nil {
		names, a, b = append(names, costName), append(a, j.costFrom(0, from, *costs)), append(b, j.all)
	}
	return names, a, b
}

// atCell estimates these numbers for a threshold.
func (j *judge) atCell(from int, costs *Costs, critical criticals) (out []Number) {
	names, a, b := j.thresholdCells(from, costs)
	for i, name := range names {
		if name == costName {
			out = append(out, Number{name, j.costAt(from, *costs, critical.of(name))})
			continue
		}
		q := j.shareOf(a[i], b[i])
		out = append(out, Number{name, q.estimate(critical.of(name))})
	}
	return out
}

// cheapest returns the cell from which on predicting positive costs least.
func (j *judge) cheapest(c Costs) (best int) {
	lowest := math.Inf(1)
	for k := range j.grid.cells() + 1 {
		if cost := dot(j.costFrom(0, k, c), j.n); cost < lowest {
			best, lowest = k, cost
		}
	}
	return best
}

// criticalOf makes the intervals of each named number valid at all thresholds together.
func (j *judge) criticalOf(costs *Costs, named ...string) criticals {
	paths := map[string][][]float64{}
	for k := range j.grid.cells() + 1 {
		names, a, b := j.thresholdCells(k, costs)
		for i, name := range names {
			if slices.Contains(named, name) {
				paths[name] = append(paths[name], j.deviation(a[i], b[i]))
			}
		}
	}
	out := criticals{}
	for name, xs := range paths {
		out[name] = j.simultaneous(xs)
	}
	return out
}

// deviation is the deviation of a from its share of b.
func (j *judge) deviation(a, b []float64) []float64 {
	t := 0.0
	if second := dot(b, j.n); second > 0 {
		t = max(0, dot(a, j.n)/second)
	}
	out := make([]float64, len(a))
	for i := range a {
		out[i] = a[i] - t*b[i]
	}
	return out
}

// CostBand returns the cost per row at each cut, with intervals that are valid together.
func (r *Release) CostBand(costs Costs) []Estimate {
	j := newJudge(r, 0)
	critical := j.criticalOf(&costs, costName).of(costName)
	out := make([]Estimate, len(r.Cuts))
	for k := range out {
		out[k] = j.costAt(k+1, costs, critical)
	}
	return out
}

const costName = "cost"

func (j *judge) costAt(from int, c Costs, critical float64) Estimate {
	q := j.ratio(j.costFrom(0, from, c), j.all, 0, max(c.FalsePositive, c.FalseNegative))
	return q.estimate(critical)
}

// calibrationGroups is the largest number of groups of cells in a calibration.
const calibrationGroups = 10

func (r *Report) calibrate(j *judge) {
	cells := j.grid.cells()
	each := (cells + calibrationGroups - 1) / calibrationGroups
	for from := 0; from < cells; from += each {
		to := min(from+each, cells)
		in := j.eachCell(0, func(s int, _ bool) float64 { return indicator(s >= from && s < to) })
		own := j.eachCell(0, func(s int, own bool) float64 { return indicator(own && s >= from && s < to) })
		q := j.shareOf(own, in)
		r.Calibration = append(r.Calibration, Group{cutAt(r.Release.Cuts, from), cutAt(r.Release.Cuts, to), q.estimate(pointwise)})
	}
}

// judgePair evaluates two models on the same rows.
func (r *Report) judgePair() {
	j := newJudge(r.Release, 0)
	from := r.Release.firstPredicted()
	gain := j.aucGain()
	r.add("auc_difference", gain, pointwise)
	loss := j.gain(j.loss(0), j.loss(1), j.maxLoss())
	loss.width = math.Hypot(j.lossWidth(0), j.lossWidth(1))
	r.add("log_loss_difference", loss, pointwise)
	r.add("accuracy_difference", j.gain(j.rightFrom(0, from), j.rightFrom(1, from), 1), pointwise)
	for model, name := range []string{"first", "second"} {
		r.add("auc_"+name, j.auc(model), pointwise)
		r.add("log_loss_"+name, j.logLoss(model), pointwise)
		r.add("accuracy_"+name, j.shareOf(j.rightFrom(model, from), j.all), pointwise)
	}
}

// judgeClasses evaluates one model of more than two classes.
func (r *Report) judgeClasses() {
	k := len(r.Release.Levels)
	judges := make([]*judge, k)
	for class := range judges {
		judges[class] = newJudge(r.Release, class)
	}
	// The mean over the classes. Their noise is independent, the rows they were drawn with are the
	// same: deviations from these add up at most.
	auc := question{second: 1, high: 1}
	drawn := 0.0
	for _, j := range judges {
		q := j.auc(0)
		if !(q.second > 0) {
			auc.noise[0] = math.Inf(1)
			continue
		}
		t := max(0, min(1, q.first/q.second))
		auc.first += t / float64(k)
		scale := 1 / (q.second * float64(k))
		auc.noise[0] += max(0, q.noise.at(t)) * scale * scale
		drawn += math.Sqrt(max(0, q.sampling.at(t))) * scale
		auc.width = math.Hypot(auc.width, q.width*scale)
	}
	auc.sampling[0] = drawn * drawn
	r.add("auc", auc, pointwise)

	// Each row has one cell in which it is of the score's own class.
	all := counts{variance: r.Release.Variance}
	var loss, own []float64
	width := 0.0
	for _, j := range judges {
		first := len(all.n)
		all.n = append(all.n, j.n...)
		for _, cells := range j.held {
			moved := make([]int, len(cells))
			for i, c := range cells {
				moved[i] = c + first
			}
			all.held = append(all.held, moved)
		}
		for i, x := range j.loss(0) {
			loss, own = append(loss, x*j.own[i]), append(own, j.own[i])
		}
		width = math.Hypot(width, j.lossWidth(0))
	}
	q := all.ratio(loss, own, 0, judges[0].maxLoss())
	q.width = width
	if r.Release.Units > 0 { // the number of rows is known better than by adding up noisy ones
		q = all.meanOf(loss, own, float64(r.Release.Units), judges[0].maxLoss())
		q.width = width
	}
	r.add("log_loss", q, pointwise)

	right := newJudge(&Release{Levels: r.Release.Levels, Cuts: r.Release.Cuts, Models: 1, Units: r.Release.Units,
		Cells: [][]float64{r.Release.Cells[k]}, Variance: r.Release.Variance}, 0)
	r.add("accuracy", right.shareOf(right.own, right.all), pointwise)
}

// meanOf asks for a·n over a known number of rows, each of which is in one cell of own.
func (c *counts) meanOf(a, own []float64, rows, high float64) question {
	q := question{first: dot(a, c.n), second: rows, noise: quadratic{c.noise(a, a)}, high: high}
	q.sampling = spread(c.sampling, a, own)
	return q
}

// MarshalJSON writes each number under its name, and its interval under its name and "_interval".
func (r *Report) MarshalJSON() ([]byte, error) {
	out := numbersJSON(r.Numbers)
	rel := r.Release
	out["private"], out["epsilon"], out["delta"] = true, rel.Epsilon.Float(), rel.Delta.Float()
	out["confidence"], out["counted"] = Confidence, rel.Counted
	if rel.Units > 0 {
		name := "rows"
		if rel.Persons {
			name = "persons"
		}
		out[name] = rel.Units
	}
	if len(rel.Levels) == 2 {
		out["positive"], out["threshold"], out["threshold_chosen"] = rel.Levels[rel.Positive], r.Threshold, r.Chosen
	}
	if r.Points != nil {
		points := make([]map[string]any, len(r.Points))
		for i, p := range r.Points {
			points[i] = numbersJSON(p.Numbers)
			points[i]["threshold"] = p.Threshold
		}
		groups := make([]map[string]any, len(r.Calibration))
		for i, g := range r.Calibration {
			groups[i] = numbersJSON([]Number{{"share", g.Share}})
			groups[i]["from"], groups[i]["to"] = g.From, g.To
		}
		out["points"], out["calibration"] = points, groups
	}
	return json.Marshal(out)
}

func numbersJSON(numbers []Number) map[string]any {
	out := map[string]any{}
	for _, n := range numbers {
		out[n.Name] = nil
		if n.Known {
			out[n.Name] = n.Value
		}
		out[n.Name+"_interval"] = []float64{n.Low, n.High}
	}
	return out
}
