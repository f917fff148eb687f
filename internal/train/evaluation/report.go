// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"encoding/json"
	"math"
	"sort"
)

// Report holds the numbers that follow from the noisy counts.
type Report struct {
	Release *Release
	// Model is the SHA-256 of the model's file, in hexadecimal; "" if it is not known or there are two.
	Model string
	// Threshold is the score from which on rows are predicted positive. If it was chosen from the
	// counts, the numbers that depend on it have intervals that are valid for all cuts together.
	Threshold float64
	Chosen    bool
	Numbers   []Number
	// Points holds the numbers at each cut of the scores, Calibration those of groups of cells, whose
	// intervals hold together: a number's at all cuts, and those of all groups.
	Points      []Point
	Calibration []Group
	Groups      []ByGroup // of rows, if the release has any
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

// Report computes the numbers.
func (r *Release) Report(choice Choice) (*Report, error) {
	if err := choice.Check(len(r.Levels), r.Models); err != nil {
		return nil, err
	}
	out := &Report{Release: r, Threshold: r.Threshold}
	switch {
	case len(r.Levels) > 2:
		out.judgeClasses()
	case r.Models == 2:
		out.judgePair()
	default:
		out.judgeOne(choice)
	}
	return out, nil
}

func (r *Report) add(name string, q question, critical float64) {
	r.Numbers = append(r.Numbers, Number{name, q.estimate(critical)})
}

// firstPredicted returns the first cell of scores that the threshold predicts to be positive.
func (r *Release) firstPredicted() int { return sort.SearchFloat64s(r.Cuts, r.Threshold) + 1 }

// judgeOne evaluates one model of two classes.
func (r *Report) judgeOne(choice Choice) {
	all := r.Release.overall()
	j := newJudge(all, 0)
	from, ways := all.firstPredicted(), 1
	joint := j.criticalOf(choice.Costs)
	at := criticals{}
	if choice.given() {
		r.Chosen, at, ways = true, joint, j.grid.cells()+1
		if from = j.nearestRate(choice.Rate); choice.Costs != nil {
			from = j.cheapest(*choice.Costs)
		}
		r.Threshold = cutAt(all.Cuts, from)
	}
	r.add("auc", j.auc(0), pointwise)
	r.add("log_loss", j.logLoss(0), pointwise)
	r.add("positive_rate", j.shareOf(j.own, j.all), pointwise)
	r.Numbers = append(r.Numbers, j.atCell(from, choice.Costs, at)...)
	r.add("pr_auc", j.smooth(averagePrecision, 0, 1), pointwise)
	r.add("lift_at_10_percent", j.smooth(liftOfTop, 0, 10), pointwise)
	r.add("score_minus_rate", j.scoreMinusRate(), pointwise)
	for k, cut := range all.Cuts {
		r.Points = append(r.Points, Point{cut, j.atCell(k+1, choice.Costs, joint)})
	}
	r.calibrate(j)
	r.judgeGroups(from, ways)
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

// thresholdNumber is a number that depends on the threshold: a·n / b·n, from low to high.
type thresholdNumber struct {
	name      string
	a, b      []float64
	low, high float64
}

// share reports whether a counts some of b's rows.
func (t *thresholdNumber) share() bool { return t.name != costName && t.name != benefitName }

// thresholdNumbers are the numbers if rows from a cell on are predicted positive. The net benefit is that of Vickers and
// Elkin (2006): true positives less false ones, which weigh as the odds of the threshold say, per row.
func (j *judge) thresholdNumbers(from int, costs *Costs) []thresholdNumber {
	found, predicted := j.foundFrom(0, from), j.predictedFrom(0, from)
	wrong := j.eachCell(0, func(s int, own bool) float64 { return indicator(!own && s >= from) })
	missed := j.eachCell(0, func(s int, own bool) float64 { return indicator(own && s < from) })
	passed := j.eachCell(0, func(s int, own bool) float64 { return indicator(!own && s < from) })
	out := []thresholdNumber{{"accuracy", j.rightFrom(0, from), j.all, 0, 1}, {"precision", found, predicted, 0, 1},
		{"recall", found, j.own, 0, 1}, {"predicted_rate", predicted, j.all, 0, 1},
		{"true_positives", found, j.all, 0, 1}, {"false_positives", wrong, j.all, 0, 1},
		{"false_negatives", missed, j.all, 0, 1}, {"true_negatives", passed, j.all, 0, 1}}
	if at := cutAt(j.grid.cuts, from); at > 0 && at < 1 {
		odds := at / (1 - at)
		benefit := j.eachCell(0, func(s int, own bool) float64 {
			switch {
			case s < from:
				return 0
			case own:
				return 1
			}
			return -odds
		})
		out = append(out, thresholdNumber{benefitName, benefit, j.all, -odds, 1})
	}
	if costs != nil {
		out = append(out, thresholdNumber{costName, j.costFrom(0, from, *costs), j.all, 0,
			max(costs.FalsePositive, costs.FalseNegative)})
	}
	return out
}

// atCell estimates these numbers for a threshold.
func (j *judge) atCell(from int, costs *Costs, critical criticals) (out []Number) {
	for _, t := range j.thresholdNumbers(from, costs) {
		q := j.ratio(t.a, t.b, t.low, t.high)
		q.share = t.share()
		e := q.estimate(critical.of(t.name))
		if t.name == benefitName {
			e = j.limitBenefit(e, critical.of(t.name))
		}
		out = append(out, Number{t.name, e})
	}
	return out
}

// limitBenefit cuts an estimate of a net benefit at the share of positive rows, which it cannot exceed. Of an interval
// twice as wide as that, which high odds make, no value is told.
func (j *judge) limitBenefit(e Estimate, critical float64) Estimate {
	q := j.shareOf(j.own, j.all)
	rate := q.estimate(critical)
	e.High = min(e.High, rate.High)
	e.Low = min(e.Low, e.High)
	e.Value = max(e.Low, min(e.Value, rate.Value, e.High))
	e.Known = e.Known && rate.Known && e.High-e.Low <= 2*rate.High
	return e
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

// nearestRate returns the cell from which on the share that is predicted positive is nearest to rate.
func (j *judge) nearestRate(rate float64) (best int) {
	rows, nearest := dot(j.all, j.n), math.Inf(1)
	for k := range j.grid.cells() + 1 {
		if off := math.Abs(dot(j.predictedFrom(0, k), j.n) - rate*rows); off < nearest {
			best, nearest = k, off
		}
	}
	return best
}

// criticalOf makes the intervals of each number that depends on the threshold valid at all thresholds together.
func (j *judge) criticalOf(costs *Costs) criticals {
	paths := map[string][][]float64{}
	for k := range j.grid.cells() + 1 {
		for _, t := range j.thresholdNumbers(k, costs) {
			paths[t.name] = append(paths[t.name], j.deviation(t.a, t.b))
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

const (
	costName    = "cost"
	benefitName = "net_benefit"
)

// calibrationGroups is the largest number of groups of cells in a calibration.
const calibrationGroups = 10

func (r *Report) calibrate(j *judge) {
	cells := j.grid.cells()
	each := (cells + calibrationGroups - 1) / calibrationGroups
	critical := together((cells + each - 1) / each)
	for from := 0; from < cells; from += each {
		to := min(from+each, cells)
		in := j.eachCell(0, func(s int, _ bool) float64 { return indicator(s >= from && s < to) })
		own := j.eachCell(0, func(s int, own bool) float64 { return indicator(own && s >= from && s < to) })
		q := j.shareOf(own, in)
		r.Calibration = append(r.Calibration, Group{cutAt(r.Release.Cuts, from), cutAt(r.Release.Cuts, to), q.estimate(critical)})
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
	if r.Model != "" {
		out["model_sha256"] = r.Model
	}
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
	if r.Groups != nil {
		by := make([]map[string]any, len(r.Groups))
		for i, g := range r.Groups {
			by[i] = numbersJSON(g.Numbers)
			by[i]["group"], by[i]["told"] = g.Name, g.Told
		}
		out["by"], out["groups"] = rel.By, by
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
