// SPDX-License-Identifier: Apache-2.0

package attack

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/stats"
	"github.com/discreet-dp/discreet/internal/release/dossier"
)

// Interval is a number with an interval of about 95 %, over trainings.
type Interval struct{ Value, Low, High float64 }

// Curve measures how well one method distinguishes members from others, in trainings from which it did
// not learn.
type Curve struct {
	AUC Interval
	// Advantage is TPR − FPR at the threshold that was best in the learning runs.
	Advantage Interval
	Points    []Point // in the order of Rates
}

// Point is one threshold, chosen so that the false positive rate in the learning runs was Rate.
type Point struct {
	Rate     float64
	FPR, TPR Interval
}

// Rates are the false positive rates at which an attack is measured, as releases expect them.
var Rates = dossier.Rates

// MostTPR is the largest true positive rate that an (ε, δ) guarantee allows at a false positive rate.
func MostTPR(epsilon, delta, fpr float64) float64 {
	return min(math.Exp(epsilon)*fpr+delta, 1-math.Exp(-epsilon)*(1-delta-fpr), 1)
}

// MostAdvantage is the largest TPR − FPR that it allows.
func MostAdvantage(epsilon, delta float64) float64 {
	return (math.Expm1(epsilon) + 2*delta) / (math.Exp(epsilon) + 1)
}

// MostAUC is the largest area under the curve of TPR against FPR that it allows: under the polygon
// from (0, δ) by the diagonal to (1 − δ, 1).
func MostAUC(epsilon, delta float64) float64 {
	f := (1 - delta) / (1 + math.Exp(epsilon)) // where the two lines of MostTPR meet, at TPR 1 − f
	return f*(delta+1-f)/2 + (1-delta-f)*(2-f)/2 + delta
}

// judged is one sighting reduced to a number: a larger number is evidence for a member.
type judged struct {
	run    int
	member bool
	score  float64
}

// attackTargets attacks the targets from from to until, and learns from the first runs. alpha is the
// total failure probability of the bounds of all its targets.
func attackTargets(runs [][]sighting, taught, from, until int, delta, alpha float64) Kind {
	k := Kind{Targets: until - from}
	var loss, ratio [2][]judged // of teachers, and measured
	for i := from; i < until; i++ {
		weigh := learnRatios(runs, taught, i)
		var own [2][]judged
		for r, run := range runs {
			half := 0
			if r >= taught {
				half = 1
			}
			s := run[i]
			loss[half] = append(loss[half], judged{r, s.member, s.seen[0]})
			own[half] = append(own[half], judged{r, s.member, weigh(r, s.seen)})
		}
		k.Bound = max(k.Bound, exposedBound(own[0], own[1], delta, alpha/float64(until-from)))
		ratio[0], ratio[1] = append(ratio[0], own[0]...), append(ratio[1], own[1]...)
	}
	k.Loss, k.Ratio = measureCurve(loss[0], loss[1]), measureCurve(ratio[0], ratio[1])
	return k
}

// learnRatios scores a run by what the learning runs show about target i. A measured run is scored by
// all of them, and a learning run by those of other folds, so that thresholds chosen by its score are
// not too optimistic.
func learnRatios(runs [][]sighting, taught, i int) func(run int, seen [2]float64) float64 {
	const folds = 5
	var by [folds + 1]func([2]float64) float64
	for f := range by {
		by[f] = learnRatio(runs[:taught], i, func(run int) bool { return f == folds || run%folds != f })
	}
	return func(run int, seen [2]float64) float64 {
		if run < taught {
			return by[run%folds](seen)
		}
		return by[folds](seen)
	}
}

// learnRatio returns the log-likelihood ratio of two normal distributions with a common covariance,
// fitted to the sightings of target i as a member and as a non-member in some runs.
func learnRatio(all [][]sighting, i int, use func(run int) bool) func([2]float64) float64 {
	var mean [2][2]float64
	var n [2]float64
	var runs [][]sighting
	for r, run := range all {
		if use(r) {
			runs = append(runs, run)
		}
	}
	for _, run := range runs {
		w := worldIndex(run[i].member)
		n[w]++
		for v, x := range run[i].seen {
			mean[w][v] += x
		}
	}
	for w := range mean {
		for v := range mean[w] {
			mean[w][v] /= max(n[w], 1)
		}
	}
	var c [3]float64 // covariance: 00, 01, 11
	for _, run := range runs {
		m := mean[worldIndex(run[i].member)]
		a, b := run[i].seen[0]-m[0], run[i].seen[1]-m[1]
		c[0], c[1], c[2] = c[0]+a*a, c[1]+a*b, c[2]+b*b
	}
	// A little more of each variance: two confidences may move as one.
	floor := 1e-6*(c[0]+c[2]) + 1e-300
	c[0], c[2] = c[0]+floor, c[2]+floor
	det := c[0]*c[2] - c[1]*c[1]
	d := [2]float64{mean[1][0] - mean[0][0], mean[1][1] - mean[0][1]}
	total := n[0] + n[1]
	u := [2]float64{total * (c[2]*d[0] - c[1]*d[1]) / det, total * (c[0]*d[1] - c[1]*d[0]) / det}
	return func(x [2]float64) (sum float64) {
		for v := range x {
			sum += u[v] * (x[v] - (mean[0][v]+mean[1][v])/2)
		}
		return sum
	}
}

func worldIndex(member bool) int {
	if member {
		return 1
	}
	return 0
}

// measureCurve chooses thresholds by the learning runs and counts in the measured runs.
func measureCurve(taught, measured []judged) (c Curve) {
	c.AUC = blockAUC(measured)
	steps := listThresholds(taught)
	best, top := 0.0, math.Inf(1)
	for _, s := range steps {
		if gain := s.tpr - s.fpr; gain > best {
			best, top = gain, s.at
		}
	}
	t, f := shareAbove(measured, top, true), shareAbove(measured, top, false)
	half := math.Hypot(t.High-t.Low, f.High-f.Low) / 2
	c.Advantage = Interval{t.Value - f.Value, max(t.Value-f.Value-half, -1), min(t.Value-f.Value+half, 1)}
	for _, want := range Rates {
		at := math.Inf(1)
		for _, s := range steps {
			if s.fpr <= want {
				at = s.at
			}
		}
		c.Points = append(c.Points, Point{want, shareAbove(measured, at, false), shareAbove(measured, at, true)})
	}
	return c
}

// step is a threshold with its rates: scores of at least at count as members.
type step struct{ at, fpr, tpr float64 }

// listThresholds lists the thresholds from the highest score down, one for each score.
func listThresholds(all []judged) (steps []step) {
	ordered := slices.Clone(all)
	slices.SortFunc(ordered, func(a, b judged) int { return cmp.Compare(b.score, a.score) })
	var count, total [2]float64
	for _, j := range ordered {
		total[worldIndex(j.member)]++
	}
	for i, j := range ordered {
		count[worldIndex(j.member)]++
		if i+1 == len(ordered) || ordered[i+1].score != j.score {
			steps = append(steps, step{j.score, count[0] / max(total[0], 1), count[1] / max(total[1], 1)})
		}
	}
	return steps
}

// shareAbove is the share of members, or of others, with a score of at least at. Its interval is the
// wider of the exact binomial one and a normal one that treats the targets of one training as
// dependent.
func shareAbove(all []judged, at float64, members bool) Interval {
	hits, of := map[int]float64{}, map[int]float64{}
	var k, n float64
	for _, j := range all {
		if j.member != members {
			continue
		}
		of[j.run]++
		n++
		if j.score >= at {
			hits[j.run]++
			k++
		}
	}
	if n == 0 {
		return Interval{0, 0, 1}
	}
	p, square := k/n, 0.0
	for run, m := range of {
		d := hits[run] - p*m
		square += d * d
	}
	wide := 1.96 * math.Sqrt(square) / n
	low, high := stats.Lower(int(k), int(n), 0.025), stats.Upper(int(k), int(n), 0.025)
	return Interval{p, max(min(low, p-wide), 0), min(max(high, p+wide), 1)}
}

// rankProbability is the probability that a member scores higher than a non-member; ties count half.
func rankProbability(all []judged) float64 {
	var area, fpr, tpr float64
	for _, s := range listThresholds(all) {
		area += (s.fpr - fpr) * (s.tpr + tpr) / 2
		fpr, tpr = s.fpr, s.tpr
	}
	return area
}

// blockAUC is the mean over ten blocks of trainings, with Student's interval. It uses blocks because
// trainings are independent, but targets of one training are not.
func blockAUC(all []judged) Interval {
	const blocks, student = 10, 2.262 // t at 97.5 % with 9 degrees of freedom
	parts := make([][]judged, blocks)
	for _, j := range all {
		parts[j.run%blocks] = append(parts[j.run%blocks], j)
	}
	var sum, square float64
	for _, p := range parts {
		a := rankProbability(p)
		sum += a
		square += a * a
	}
	mean := sum / blocks
	half := student * math.Sqrt(max(square/blocks-mean*mean, 0)/(blocks-1))
	return Interval{mean, max(mean-half, 0), min(mean+half, 1)}
}

// exposedBound is the lower bound on ε from one target. Of the thresholds in both directions it uses
// the most promising one in the learning runs, and counts in the measured runs, which are independent
// of each other.
func exposedBound(taught, measured []judged, delta, alpha float64) float64 {
	count := func(all []judged, at float64) (k, n [2]int) {
		for _, j := range all {
			w := worldIndex(j.member)
			n[w]++
			if j.score >= at {
				k[w]++
			}
		}
		return k, n
	}
	bounds := func(k, n [2]int, alpha float64) [2]float64 { // scores at least as high, and lower
		if n[0] == 0 || n[1] == 0 {
			return [2]float64{}
		}
		return [2]float64{
			stats.EpsilonLowerBound(k[1], n[1], k[0], n[0], delta, alpha),
			stats.EpsilonLowerBound(n[0]-k[0], n[0], n[1]-k[1], n[1], delta, alpha),
		}
	}
	most, at, way := -1.0, 0.0, 0
	steps := listThresholds(taught)
	for i := 0; i < len(steps); i += 1 + len(steps)/64 {
		k, n := count(taught, steps[i].at)
		for w, b := range bounds(k, n, 0.05) { // chosen at leisure, counted at alpha
			if b > most {
				most, at, way = b, steps[i].at, w
			}
		}
	}
	k, n := count(measured, at)
	return bounds(k, n, alpha)[way]
}
