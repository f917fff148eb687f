// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/model/metrics"
)

func near(a, b, off float64) bool { return math.Abs(a-b) <= off*(1+math.Abs(b)) }

// The threshold is a cut, whatever it is, and a score lies between the cuts around its cell.
func TestGrid(t *testing.T) {
	for _, threshold := range []float64{1e-12, 0.0003, 0.2, 0.5, 0.77, 1 - 1e-12} {
		for _, cells := range []int{2, minCells, 23, maxCells} {
			g := newGrid(cells, threshold, false)
			if g.cells() != cells || !slices.Contains(g.cuts, threshold) || !slices.IsSorted(g.cuts) || !slices.IsSorted(g.edges) {
				t.Errorf("%d cells at %g: %v", cells, threshold, g.cuts)
			}
			for _, score := range []float64{0, 1e-300, 0.1, threshold, math.Nextafter(threshold, 0), 0.5, 0.9, 1, math.NaN()} {
				k := g.cell(score)
				if k < 0 || k >= cells || k > 0 && !(score >= g.cuts[k-1]) || k+1 < cells && score >= g.cuts[k] {
					t.Errorf("%d cells at %g: score %g is in cell %d", cells, threshold, score, k)
				}
			}
		}
	}
}

// Each of few scores is in a cell of its own, and the threshold is a cut even if all are on one side.
func TestFewScoresHaveCellsOfTheirOwn(t *testing.T) {
	points := []float64{0.1, 0.25, 0.5, 0.50001, 0.9}
	for _, threshold := range []float64{0.001, 0.1, 0.2, 0.5, 0.500001, 0.95} {
		g := newPointGrid(points, threshold)
		at := slices.Index(g.cuts, threshold)
		if at < 0 || !slices.IsSorted(g.cuts) || g.cells() != len(g.points) {
			t.Fatalf("at %g: cuts %v, scores %v", threshold, g.cuts, g.points)
		}
		for k, p := range g.points {
			if g.cell(p) != k || (k > at) != (p >= threshold) || g.smooth(k) || !g.single(k) ||
				!near(g.rowLoss(k, true), -math.Log(p), 1e-9) || !near(g.rowLoss(k, false), -math.Log1p(-p), 1e-9) {
				t.Errorf("at %g: score %g is in cell %d of %v", threshold, p, g.cell(p), g.cuts)
			}
		}
	}
}

// Scores of 0 and 1 have cells of their own, which count for their exact log loss.
func TestSureScoresHaveTheirCells(t *testing.T) {
	g := newGrid(8, 0.5, true)
	want := -math.Log(sureScore)
	if g.cells() != 10 || g.cell(0) != 0 || g.cell(1e-12) != 1 || g.cell(1-1e-12) != 8 || g.cell(1) != 9 ||
		!near(g.rowLoss(0, true), want, 1e-9) || !near(g.rowLoss(9, false), want, 1e-9) ||
		g.rowLoss(0, false) > 2*sureScore || g.rowLoss(9, true) > 2*sureScore || g.smooth(1) || g.smooth(8) || !g.smooth(2) {
		t.Errorf("cells %d, losses %g and %g", g.cells(), g.rowLoss(0, true), g.rowLoss(9, false))
	}
	plain := newGrid(8, 0.5, false)
	if !slices.Equal(g.cuts[1:8], plain.cuts) || !slices.Equal(g.edges[1:10], plain.edges) {
		t.Error("the other cells must be the same")
	}
}

// A form of pairs that counts ties by half is the area under the curve of the cells.
func TestPairsAreTheAreaUnderTheCurve(t *testing.T) {
	src := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		cells := 2 + src.IntN(6)
		j := &judge{grid: newGrid(cells, 0.5, false), models: 1}
		var truth []uint8
		var scores []float64
		for i := range 2 * cells {
			rows := 1 + src.IntN(4)
			j.n, j.all = append(j.n, float64(rows)), append(j.all, 1)
			for range rows {
				truth, scores = append(truth, uint8(i%2)), append(scores, float64(i/2)/float64(cells))
			}
		}
		value := func(a, b int) float64 {
			switch {
			case a/2 > b/2:
				return 1
			case a/2 == b/2:
				return 0.5
			}
			return 0
		}
		order := newPairs(len(j.n), j.isOwn, value)
		unit := newPairs(len(j.n), j.isOwn, func(int, int) float64 { return 1 })
		q := j.pairRatio(order, unit, newPairErrors(&j.counts, order, unit), 0, 1)
		r, err := metrics.Evaluate(truth, scores, []string{"no", "yes"}, 1, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		if e := q.estimate(pointwise); !near(e.Value, *r.AUC, 1e-12) {
			t.Fatalf("the area is %g, want %g", e.Value, *r.AUC)
		}
	}
}

// Straight densities within a cell are ordered as they are said to be: the correction for rows of one
// cell is the integral over both densities.
func TestOrderWithinACell(t *testing.T) {
	g := newGrid(16, 0.5, false)
	const k, s, u = 7, 0.6, -0.4 // relative slopes over the cell
	n := make([]float64, 32)
	for d := -1; d <= 1; d++ {
		n[2*(k+d)+1], n[2*(k+d)] = 100*(1+s*float64(d)), 80*(1+u*float64(d))
	}
	pairs := 0.0
	for a := range 16 {
		for b := range 16 {
			pairs += n[2*a+1] * n[2*b] * g.order(a, b)
		}
	}
	want := 0.0
	const steps = 3 * 1200
	below := 0.0 // of the other class
	for i := range steps {
		x := -1.5 + 3*(float64(i)+0.5)/steps
		own, other := 100*(1+s*x)*3/steps, 80*(1+u*x)*3/steps
		want += own * (below + other/2)
		below += other
	}
	if !near(pairs, want, 0.02) {
		t.Errorf("%g pairs, want %g", pairs, want)
	}
}

// Over all signs of unit noise the mean of a form is the true form, and the mean of its estimated
// variance the true one, to rounding.
func TestPairErrorsOverAllNoise(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 2))
	for range 20 {
		const cells = 8
		order := newPairs(cells, func(i int) bool { return i%2 == 1 }, func(a, b int) float64 { return src.Float64() })
		unit := newPairs(cells, func(i int) bool { return i%2 == 1 }, func(a, b int) float64 { return 1 })
		truth := make([]float64, cells)
		for i := range truth {
			truth[i] = float64(src.IntN(10))
		}
		const theta = 0.3
		value := func(n []float64) float64 { return (dot(order.gradient(n), n) - theta*dot(unit.gradient(n), n)) / 2 }
		errors := newPairErrors(&counts{n: truth}, order, unit)
		mean, square, estimated, sampled := 0.0, 0.0, 0.0, 0.0
		for signs := range 1 << cells {
			c := counts{n: slices.Clone(truth), variance: 1}
			for i := range c.n {
				c.n[i] += float64(2*(signs>>i&1) - 1)
			}
			d := value(c.n) - value(truth)
			q := c.pairRatio(order, unit, errors, 0, 1)
			if !near(q.first-theta*q.second, value(c.n), 1e-9) {
				t.Fatalf("the form is %g, want %g", q.first-theta*q.second, value(c.n))
			}
			mean += d / (1 << cells)
			square += d * d / (1 << cells)
			estimated += q.noise.at(theta) / (1 << cells)
			sampled += q.sampling.at(theta) / (1 << cells)
		}
		gradient := make([]float64, cells)
		a, b := order.gradient(truth), unit.gradient(truth)
		for i := range gradient {
			gradient[i] = a[i] - theta*b[i]
		}
		exact := counts{n: truth}
		if !near(mean, 0, 1e-9) || !near(estimated, square, 1e-9) || !near(sampled, exact.sampling(gradient, gradient), 1e-9) {
			t.Fatalf("bias %g; variance %g, estimated %g; of rows %g, estimated %g", mean, square, estimated,
				exact.sampling(gradient, gradient), sampled)
		}
	}
}

// Where sums are held, noise moves a number by what the projection leaves of it, and its mean moves a
// form of pairs by the bias that is taken off.
func TestHeldSumsOverAllNoise(t *testing.T) {
	truth := []float64{5, 2, 7, 1}
	held, sums := [][]int{{0, 1}, {2, 3}}, []float64{7, 8}
	order := newPairs(4, func(i int) bool { return i%2 == 1 }, func(a, b int) float64 { return float64(a+2*b) / 9 })
	unit := newPairs(4, func(i int) bool { return i%2 == 1 }, func(int, int) float64 { return 1 })
	x := []float64{1, -2, 0.5, 3}
	square, first := 0.0, 0.0
	var q question
	for signs := range 16 {
		c := counts{n: slices.Clone(truth), variance: 1}
		for i := range c.n {
			c.n[i] += float64(2*(signs>>i&1) - 1)
		}
		c.holdSums(held, sums)
		for k, cells := range held {
			if sum := c.n[cells[0]] + c.n[cells[1]]; !near(sum, sums[k], 1e-12) {
				t.Fatalf("a sum is %g, want %g", sum, sums[k])
			}
		}
		d := dot(x, c.n) - dot(x, truth)
		square += d * d / 16
		if !near(c.noise(x, x), 1*dot(c.project(x), x), 1e-12) {
			t.Fatal("noise is not of the projection")
		}
		q = c.pairRatio(order, unit, newPairErrors(&c, order, unit), 0, 1)
		first += q.first / 16
	}
	c := counts{n: truth, variance: 1, held: held}
	if want := dot(order.gradient(truth), truth) / 2; !near(square, c.noise(x, x), 1e-12) || !near(first, want, 1e-12) {
		t.Errorf("variance %g, want %g; form %g, want %g", square, c.noise(x, x), first, want)
	}
}

// With a variance that does not depend on θ the interval is the usual one, and of a share it is
// Wilson's.
func TestIntervalsInClosedForm(t *testing.T) {
	q := question{first: 30, second: 100, noise: quadratic{25}, high: 1}
	if e := q.estimate(2); !near(e.Low, 0.2, 1e-9) || !near(e.High, 0.4, 1e-9) || e.Value != 0.3 {
		t.Errorf("got %v, want 0.3 (0.2 to 0.4)", e)
	}
	for _, k := range []float64{0, 7, 30, 100} {
		q := question{first: k, second: 100, share: true, high: 1}
		z := pointwise
		mid := (k + z*z/2) / (100 + z*z)
		half := z / (100 + z*z) * math.Sqrt(k*(100-k)/100+z*z/4)
		if e := q.estimate(z); !near(e.Low, max(0, mid-half), 1e-8) || !near(e.High, min(1, mid+half), 1e-8) {
			t.Errorf("%g of 100: %v, want %g to %g", k, e, mid-half, mid+half)
		}
	}
	// Nothing is known of a share of rows that there may not be.
	q = question{first: 0, second: 1, noise: quadratic{100, 0, 100}, high: 1}
	if e := q.estimate(2); e.Low != 0 || e.High != 1 {
		t.Errorf("got %v, want everything", e)
	}
	q = question{first: -5, second: -1, noise: quadratic{100, 0, 100}, high: 1}
	if e := q.estimate(2); e.Known || e.Low != 0 || e.High != 1 {
		t.Errorf("got %v, want no value", e)
	}
	// Counts beyond every θ are at the nearest.
	q = question{first: 150, second: 100, noise: quadratic{1}, high: 1}
	if e := q.estimate(2); e.Low != 1 || e.High != 1 || e.Value != 1 {
		t.Errorf("got %v, want 1", e)
	}
	// A number lies in its interval, also where the counts are beyond the limit and do not allow it.
	q = question{first: 101, second: 100, noise: quadratic{0.25}, share: true, high: 1}
	if e := q.estimate(pointwise); e.Value != e.High || e.High < 0.98 || e.High >= 1 {
		t.Errorf("got %v, want the end of the interval", e)
	}
}

// Independent numbers stay within as the product says, and equal ones as one does.
func TestWalksStayWithin(t *testing.T) {
	one := math.Erf(2.5 / math.Sqrt2)
	for _, n := range []int{0, 1, 5, 40} {
		if got, want := stayWithin(2.5, make([]float64, n)), math.Pow(one, float64(n+1)); !near(got, want, 2e-3*float64(n+1)) {
			t.Errorf("%d numbers stay with %g, want %g", n+1, got, want)
		}
	}
	// The chance that two normal numbers with correlation 0.8 both lie within 1, by quadrature.
	both := 0.0
	const steps = 2000
	for i := range steps {
		x := -1 + 2*(float64(i)+0.5)/steps
		inner := (math.Erf((1-0.8*x)/0.6/math.Sqrt2) + math.Erf((1+0.8*x)/0.6/math.Sqrt2)) / 2
		both += math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) * inner * 2 / steps
	}
	if got := stayWithin(1, []float64{0.8}); !near(got, both, 2e-3) {
		t.Errorf("two numbers stay with %g, want %g", got, both)
	}
	if got := normalCritical(func(c float64) float64 { return math.Erfc(c / math.Sqrt2) }); !near(got, 1.959964, 1e-4) {
		t.Errorf("the normal quantile is %g", got)
	}
	if r := math.Sqrt(1 - walkStep*walkStep/4); !near(stayWithin(3, []float64{r}), stayWithin(3, nil), 1e-3) {
		t.Error("a step below walkStep must not count")
	}
}

// The nearest vector without a negative number, against one found by bisection.
func TestPositiveParts(t *testing.T) {
	src := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		x, total := make([]float64, 1+src.IntN(8)), 0.0
		for i := range x {
			x[i] = 10 * src.NormFloat64()
			total += x[i]
		}
		low, high := -1000.0, 1000.0
		sum := func(c float64) (s float64) {
			for _, v := range x {
				s += max(0, v-c)
			}
			return s
		}
		for range 100 {
			if mid := (low + high) / 2; sum(mid) > max(0, total) {
				low = mid
			} else {
				high = mid
			}
		}
		for i, v := range positiveParts(x) {
			want := max(0, x[i]-high)
			if total <= 0 {
				want = 0
			}
			if !near(v, want, 1e-9) {
				t.Fatalf("%v becomes %g at %d, want %g", x, v, i, want)
			}
		}
	}
}

// The first cell that is predicted positive costs least, by trying all.
func TestCheapestThreshold(t *testing.T) {
	src := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		j := &judge{grid: newGrid(6, 0.5, false), models: 1}
		for range 12 {
			j.n, j.all = append(j.n, float64(src.IntN(20)-3)), append(j.all, 1)
		}
		c := Costs{1 + src.Float64(), 1 + 3*src.Float64()}
		lowest := math.Inf(1)
		for from := range 7 {
			cost := 0.0
			for k := range 6 {
				if k >= from {
					cost += c.FalsePositive * j.n[2*k]
				} else {
					cost += c.FalseNegative * j.n[2*k+1]
				}
			}
			lowest = min(lowest, cost)
		}
		if got := dot(j.costFrom(0, j.cheapest(c), c), j.n); !near(got, lowest, 1e-12) {
			t.Fatalf("the threshold costs %g, want %g", got, lowest)
		}
	}
}

func TestCosts(t *testing.T) {
	if c, err := ParseCosts("1:2.5"); err != nil || *c != (Costs{1, 2.5}) {
		t.Error(c, err)
	}
	for _, text := range []string{"", "1", "1:", ":1", "0:1", "1:-1", "NaN:1", "1:Inf", "1:2:3", "a:b"} {
		if _, err := ParseCosts(text); err == nil || !strings.Contains(err.Error(), "costs must be") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func small() *Release {
	return &Release{Version: version, Label: "y", Levels: []string{"no", "yes"}, Positive: 1, Models: 1, Threshold: 0.5,
		Cuts: newGrid(8, 0.5, false).cuts, Variance: 8, Units: 400, Cells: [][]float64{slices.Repeat([]float64{30.5, 19.5}, 8)}}
}

// What is chosen by costs is said, and its intervals are wider.
func TestCostsWidenIntervals(t *testing.T) {
	r := small()
	plain, err := r.Report(Choice{})
	if err != nil {
		t.Fatal(err)
	}
	chosen, err := r.Report(Choice{Costs: &Costs{1, 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	cost, ok := chosen.Find("cost")
	if !ok || !chosen.Chosen || chosen.Threshold != 1 || cost.Value > 1e-6 {
		t.Errorf("free false negatives: %+v, cost %v", chosen.Threshold, cost)
	}
	for i, p := range plain.Points {
		for k, n := range p.Numbers {
			if w := chosen.Points[i].Numbers[k]; w.Name != n.Name || w.High-w.Low < n.High-n.Low {
				t.Errorf("%s at %g: %v is not wider than %v", n.Name, p.Threshold, w.Estimate, n.Estimate)
			}
		}
	}
	text, err := json.Marshal(chosen)
	if err != nil || !strings.Contains(string(text), `"threshold_chosen":true`) || !strings.Contains(string(text), `"auc_interval":[`) {
		t.Error(string(text), err)
	}
	for _, bad := range []Choice{{Costs: &Costs{0, 1}}, {Costs: &Costs{1, math.NaN()}}, {Costs: &Costs{math.Inf(1), 1}}, {Rate: 1},
		{Rate: math.NaN()}, {Costs: &Costs{1, 1}, Rate: 0.5}} {
		if _, err := r.Report(bad); err == nil {
			t.Errorf("%v is no choice", bad)
		}
	}
}

func TestReleasesOfOthersAreRefused(t *testing.T) {
	for name, change := range map[string]func(*Release){
		"another version": func(r *Release) { r.Version++ }, "one level": func(r *Release) { r.Levels = r.Levels[:1] },
		"a cell less":   func(r *Release) { r.Cells[0] = r.Cells[0][1:] },
		"no cuts":       func(r *Release) { r.Cuts = nil },
		"equal cuts":    func(r *Release) { r.Cuts[1] = r.Cuts[0] },
		"no threshold":  func(r *Release) { r.Threshold = 0 },
		"variance":      func(r *Release) { r.Variance = -1 },
		"classes":       func(r *Release) { r.Classes = []float64{1} },
		"bins":          func(r *Release) { r.Bins = []float64{1} },
		"positive":      func(r *Release) { r.Positive = 2 },
		"three models":  func(r *Release) { r.Models = 3 },
		"negative rows": func(r *Release) { r.Units = -1 },
		"a group less":  func(r *Release) { r.By, r.Groups = "sex", []string{"a", "b"} },
		"nameless":      func(r *Release) { r.Groups = []string{"a"} },
		"no groups":     func(r *Release) { r.By = "sex" },
	} {
		r := small()
		change(r)
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Unmarshal(text); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

// No text makes a reader fail in another way than by an error, and what is read can be reported.
func FuzzRelease(f *testing.F) {
	text, err := small().Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	grouped := small()
	grouped.By, grouped.Groups, grouped.Cells = "sex", []string{"a", "b"}, [][]float64{slices.Repeat(grouped.Cells[0], 2)}
	if text, err = grouped.Marshal(); err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"discreet_evaluation":1,"levels":["a","b","c"],"models":1,"threshold":0.5,"cuts":[0.5],"cells":[[1,2,3,4]]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Unmarshal(text)
		if err != nil {
			return
		}
		if len(r.Cells)*len(r.Cells[0]) > 1000 {
			return // reports of many cells take long
		}
		if _, err := r.Report(Choice{}); err != nil {
			t.Fatal(err)
		}
	})
}
