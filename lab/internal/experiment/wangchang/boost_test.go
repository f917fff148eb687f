// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// TestBoostingByHand: three classes, four rows, one mistake. The error is 1/4,
// so the vote is ln 3 + ln 2, and the mistaken row weighs six times the others.
func TestBoostingByHand(t *testing.T) {
	b := newBoosting(labelled{y: []uint8{0, 1, 2, 2}, classes: 3}, labelled{y: []uint8{0, 1}})
	b.addClassifier([]uint8{0, 1, 2, 1}, []uint8{0, 2})
	if want := []float64{4.0 / 9, 4.0 / 9, 4.0 / 9, 24.0 / 9}; !alike(b.Of, want) {
		t.Errorf("weights %v, want %v", b.Of, want)
	}
	if v := math.Log(6); !alike(b.votes, []float64{v, 0, 0, 0, 0, v}) {
		t.Errorf("votes %v", b.votes)
	}
	if e := b.errorRate([]uint8{0, 1}); e != 0.5 {
		t.Errorf("error %g", e)
	}
	// Two mistakes with 28 of 36 by weight: worse than guessing among three.
	before := slices.Clone(b.Of)
	b.addClassifier([]uint8{0, 2, 2, 1}, []uint8{1, 1})
	if !slices.Equal(b.Of, before) || b.votes[1] != 0 {
		t.Error("a classifier that guesses got a vote")
	}
	// No mistake at all has a finite vote.
	b.addClassifier([]uint8{0, 1, 2, 2}, []uint8{0, 1})
	if v := b.votes[0]; math.IsInf(v, 0) || !(v > math.Log(6)) {
		t.Errorf("votes %v", b.votes)
	}
}

func alike(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
}

// TestCentroids compares both readings with sums as the paper writes them.
func TestCentroids(t *testing.T) {
	l := rows(40, 3, 2, "centroids")
	weight := make([]float64, 40)
	for i := range weight {
		weight[i] = float64(i%4) + 0.5 // up to 3.5, cut at 3
	}
	group := []int{3, 5, 8, 13, 21, 34, 1}
	for _, byWeight := range []bool{false, true} {
		got := perturbCentroids(l, group, weight, 3, nil, byWeight, nil)
		for k := range got {
			want, by := make([]float64, 3), 0.0
			for _, i := range group {
				if int(l.y[i]) != k {
					continue
				}
				w := min(weight[i], 3)
				addScaled(want, w, row(l, i))
				if byWeight {
					by += w
				} else {
					by++
				}
			}
			for j := range want {
				want[j] /= by
			}
			if !alike(got[k], want) {
				t.Errorf("class %d, by weight %v: %v, want %v", k, byWeight, got[k], want)
			}
		}
	}
	// A perturbed centroid surrounds the exact one: a mean of 400 is within six
	// of its standard errors.
	exact := perturbCentroids(l, group, weight, 3, nil, false, nil)
	law := continuous.Piecewise(3, 4)
	src := replay.Seeded(1, "centroids")
	const runs = 400
	mean := make([]float64, 3)
	count := 0.0
	for range runs {
		addScaled(mean, 1.0/runs, perturbCentroids(l, group, weight, 3, law, false, src)[1])
	}
	for _, i := range group {
		count += float64(l.y[i])
	}
	for j, x := range mean {
		if math.Abs(x-exact[1][j]) > 6*3*math.Sqrt(law.Variance(1)/count/runs) {
			t.Errorf("coordinate %d: mean %g, want %g", j, x, exact[1][j])
		}
	}
}

func TestNearestIsTheNaiveOne(t *testing.T) {
	l := rows(200, 4, 2, "nearest")
	places := rows(5, 4, 2, "places")
	var c [][]float64
	for i := range 5 {
		c = append(c, row(places, i))
	}
	for i, got := range nearestClass(l.Rows, c) {
		least := make([]float64, 5)
		for k := range c {
			for j, x := range row(l, i) {
				least[k] += (x - c[k][j]) * (x - c[k][j])
			}
		}
		if least[got]-slices.Min(least) > 1e-12 {
			t.Errorf("row %d: centroid %d at %g, the nearest is at %g", i, got, least[got], slices.Min(least))
		}
	}
}

// table2x2 is an attribute's cross table, weighted, as the paper defines it.
func table2x2(b bits, rows []int, weight []float64, j int) (s [2][2]float64) {
	for _, i := range rows {
		s[b.is[i*b.d+j]][b.y[i]] += weight[i]
	}
	return s
}

// TestStumpHasTheLeastError goes through all attributes and all leaves.
func TestStumpHasTheLeastError(t *testing.T) {
	l := rows(80, 6, 2, "stumps")
	b := bitsAbove(l)
	weight := make([]float64, 80)
	for i := range weight {
		weight[i] = 0.5 + float64(i%3)
	}
	group := upTo(80)[:60]
	sent := make([]float64, 12)
	b.crossDifferences(group, weight, sent)
	best := math.Inf(1)
	for j := range 6 {
		s := table2x2(b, group, weight, j)
		if math.Abs(sent[j]-(s[0][0]-s[0][1])) > 1e-12 || math.Abs(sent[6+j]-(s[1][0]-s[1][1])) > 1e-12 {
			t.Errorf("attribute %d: %g and %g, want %v", j, sent[j], sent[6+j], s)
		}
		best = min(best, min(s[0][0], s[0][1])+min(s[1][0], s[1][1]))
	}
	got := b.exactStump(group, weight)
	wrong := 0.0
	for i, c := range got.predictRows(b) {
		if i < 60 && c != b.y[i] {
			wrong += weight[i]
		}
	}
	if math.Abs(wrong-best) > 1e-12 {
		t.Errorf("%+v has weighted error %g, the least is %g", got, wrong, best)
	}
	if r := rankAttributes(splitGains(sent)); r[0] != got.attribute || len(r) != 6 {
		t.Errorf("ranking %v, best %d", r, got.attribute)
	}
}

// TestPrintedStump: owners' reports lie in [-1, 1] and add up to the exact
// differences; with next to no noise the printed stump is the exact one.
func TestPrintedStump(t *testing.T) {
	l := rows(400, 5, 2, "printed")
	for i := range l.y { // attribute 3 tells the class but for a few
		if row(l, i)[3] > 0 == (i%9 != 0) {
			l.y[i] = 1
		} else {
			l.y[i] = 0
		}
	}
	b := bitsAbove(l)
	order := upTo(400)
	sent := b.reportedShares(order, 100, onesOf(400), 1)
	exact := make([]float64, 10)
	b.crossDifferences(order, onesOf(400), exact)
	for j, want := range exact {
		got := 0.0
		for o := range 100 {
			v := float64(sent.cells[o*10+j])
			if !(v >= -1 && v <= 1) {
				t.Fatalf("owner %d reports %g", o, v)
			}
			got += v * 4
		}
		if math.Abs(got-want) > 1e-4 {
			t.Errorf("difference %d: %g, want %g", j, got, want)
		}
	}
	want := b.exactStump(order, onesOf(400))
	if got := b.printedStump(order, 100, onesOf(400), 1, continuous.Laplace(10, 1e6),
		replay.Seeded(1, "stump")); got != want || got.attribute != 3 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// With the error as its impurity purestStump is exactStump; Gini's and the entropy's are what
// a table gives by hand: two attributes make as many mistakes, and the second has a pure leaf.
func TestPurestStump(t *testing.T) {
	b := bits{2, nil, nil}
	add := func(n int, first, second, class uint8) {
		for range n {
			b.is, b.y = append(b.is, first, second), append(b.y, class)
		}
	}
	// Class 0 and 1 by the first: 30, 10 and 10, 30; by the second: 20, 0 and 20, 40.
	add(20, 0, 0, 0)
	add(10, 0, 1, 0)
	add(10, 1, 1, 0)
	add(10, 0, 1, 1)
	add(30, 1, 1, 1)
	rows, weight := upTo(len(b.y)), make([]float64, len(b.y))
	for i := range weight {
		weight[i] = 1 + float64(i%3)/10
	}
	if got, want := b.purestStump(rows, weight, math.Min), b.exactStump(rows, weight); got != want {
		t.Errorf("by error: %v, want %v", got, want)
	}
	for i := range weight {
		weight[i] = 1
	}
	// Errors are 20 and 20; Gini's 15 + 15 and 0 + 26.7; entropies 22.5 + 22.5 and 0 + 38.2.
	for _, i := range impurities {
		if got := b.purestStump(rows, weight, i.of); got.attribute != 1 || got.leaf != [2]uint8{0, 1} {
			t.Errorf("%s: %v", i.long, got)
		}
	}
	if got := b.exactStump(rows, weight); got.attribute != 0 {
		t.Errorf("of equal errors the first: %v", got)
	}
}
