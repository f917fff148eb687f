// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"math"
	"slices"
)

// event is an event that occurs in a run or not: a statistic on one side of a threshold, or exactly
// equal to it.
type event struct {
	stat   statistic
	op     string // ">=", "<=" or "=="
	at     float64
	likely int     // the side on which it was more frequent
	shows  float64 // the bound estimated from the runs on which it was chosen
}

func (e *event) happenedIn(run []float64) bool { return e.holdsAt(e.stat.of(run)) }

func (e *event) holdsAt(x float64) bool {
	switch e.op {
	case ">=":
		return x >= e.at
	case "<=":
		return x <= e.at
	}
	return x == e.at
}

func (e *event) String() string { return fmt.Sprintf("%s %s %.6g", e.stat.name, e.op, e.at) }

// chooseEvent returns the event with the largest expected bound when it is counted in half as many
// further runs. It learns statistics on one half of out and tries thresholds on the other, so that a
// choice among many does not look better than it is. Any choice is valid.
func chooseEvent(p *Pair, out [2][]float64, opts Options) *event {
	width := len(p.Outputs)
	half := len(out[0]) / width / 2 * width
	first := [2][]float64{out[0][:half], out[1][:half]}
	out = [2][]float64{out[0][half:], out[1][half:]}
	n := len(out[0]) / width
	best := &event{shows: math.Inf(-1), stat: statistic{p.Outputs[0], func(run []float64) float64 { return run[0] }},
		op: ">="}
	z := normalQuantile(opts.Alpha / 2)
	var values [2][]float64
	for side := range values {
		values[side] = make([]float64, n)
	}
	for _, st := range listStatistics(p, first) {
		for side, v := range values {
			for i := range v {
				v[i] = st.of(out[side][i*width:][:width])
			}
			slices.Sort(v)
		}
		scanThresholds(st, values, opts.Delta, z, best)
	}
	return best
}

// scanThresholds tries thresholds of one statistic: about two thousand, evenly spaced over the runs,
// all of the outermost values, and every value that many runs share.
func scanThresholds(st statistic, v [2][]float64, delta, z float64, best *event) {
	n := len(v[0])
	stride, ends := max(1, n/1000), min(n, 300)
	var i [2]int // runs below the current value
	for last := -1; i[0] < n || i[1] < n; {
		x := math.Inf(1)
		for side := range v {
			if i[side] < n {
				x = min(x, v[side][i[side]])
			}
		}
		j := i // runs up to and including it
		for side := range v {
			for j[side] < n && v[side][j[side]] == x {
				j[side]++
			}
		}
		below, upTo := i[0]+i[1], j[0]+j[1]
		i = j
		if upTo-last < stride && upTo > ends && below < 2*n-ends {
			continue
		}
		last = upTo
		for likely := range 2 {
			try := func(op string, k0, k1 int) {
				if shows := estimateBound(k0, k1, n, delta, z); shows > best.shows {
					*best = event{stat: st, op: op, at: x, likely: likely, shows: shows}
				}
			}
			a, b := likely, 1-likely
			try("<=", j[a], j[b])
			equal := [2]int{countLargest(v[0][:j[0]], x), countLargest(v[1][:j[1]], x)}
			try(">=", n-j[a]+equal[a], n-j[b]+equal[b])
			try("==", equal[a], equal[b])
		}
	}
}

// countLargest returns how many of the largest values of the sorted v equal x.
func countLargest(v []float64, x float64) int {
	first, _ := slices.BinarySearch(v, x)
	return len(v) - first
}

// estimateBound estimates the bound from an event that occurred k0 times in n runs on one side and k1
// times on the other, by variance-stabilised limits. It is cheap and smooth, and used only to choose
// an event.
func estimateBound(k0, k1, n int, delta, z float64) float64 {
	sin2 := func(x float64) float64 {
		s := math.Sin(min(max(x, 0), math.Pi/2))
		return s * s
	}
	shift := z / (2 * math.Sqrt(float64(n)))
	lower := sin2(math.Asin(math.Sqrt(float64(k0)/float64(n))) - shift)
	upper := sin2(math.Asin(math.Sqrt((float64(k1)+1)/(float64(n)+1))) + shift)
	if !(lower > delta) {
		return math.Inf(-1)
	}
	return math.Log((lower - delta) / upper)
}

// normalQuantile returns the number of standard deviations that a normal variable exceeds with
// probability tail.
func normalQuantile(tail float64) float64 { return math.Sqrt2 * math.Erfcinv(2*tail) }
