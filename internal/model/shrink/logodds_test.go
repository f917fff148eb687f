// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The sums over doublings of the weight are the integrals that they stand for, to the roughness of
// their density, and exact against a density of the same steps.
func TestLikelihoodsAreTheirIntegrals(t *testing.T) {
	const least = 2.0
	stepped := func(w, top float64) float64 { // the density as it is taken
		from := 0.0
		for edge := least; from < top; edge = 2*edge + least {
			if w < edge {
				return math.Ln2 / (edge - from)
			}
			from = edge
		}
		return 1 / (from + least)
	}
	for _, c := range []struct{ p, q cell }{
		{cell{30, 10}, cell{12, 7}}, {cell{-5, 10}, cell{40, 10}}, {cell{-8, 6}, cell{-3, 9}},
		{cell{0, 5}, cell{0, 5}}, {cell{200, 20}, cell{0, 4}},
	} {
		for _, share := range []float64{0.02, 0.3, 0.5, 0.9} {
			laplaceSum, gaussianSum := 0.0, 0.0
			const width = 2e-3
			for k := range 500_000 {
				w := (float64(k) + 0.5) * width
				x, y := (c.p.value-w*share)/c.p.deviation, (c.q.value-w*(1-share))/c.q.deviation
				mass := width * stepped(w, weightTop(c.p, c.q))
				laplaceSum += mass * math.Exp(-math.Sqrt2*(math.Abs(x)+math.Abs(y)))
				gaussianSum += mass * math.Exp(-(x*x+y*y)/2)
			}
			if got, want := integrateLaplace(c.p, c.q, share, least),
				math.Log(laplaceSum/(2*c.p.deviation*c.q.deviation)); math.Abs(got-want) > 1e-3 {
				t.Errorf("laplace(%v, %v, %g) = %g, the integral %g", c.p, c.q, share, got, want)
			}
			if got, want := integrateGaussian(c.p, c.q, share, least)+math.Log(math.Pi/2)/2,
				math.Log(gaussianSum/(c.p.deviation*c.q.deviation)); math.Abs(got-want) > 1e-3 {
				t.Errorf("gaussian(%v, %v, %g) = %g, the integral %g", c.p, c.q, share, got, want)
			}
		}
	}
}

// Two cells that hold nothing say next to nothing about the share, however unlike their noise is.
func TestEmptyCellsSayNothing(t *testing.T) {
	for _, gaussian := range []bool{false, true} {
		c := Cells{Positive: []float64{0}, Negative: []float64{0}, Noise: Noise{50, 4, gaussian}}
		want := c.computeLogLikelihood(0, 0)
		for _, theta := range []float64{-4, -1, 2} {
			if got := c.computeLogLikelihood(0, theta); math.Abs(got-want) > 0.2 {
				t.Errorf("gaussian %v: %g at log-odds %g, %g at 0", gaussian, got, theta, want)
			}
		}
	}
}

// Cells that hold many rows of either class say what they hold, though one class's noise is ten
// times that of the other.
func TestFullCellsAreNotDrawnToTheQuieterClass(t *testing.T) {
	for _, gaussian := range []bool{false, true} {
		c := Cells{Positive: []float64{300}, Negative: []float64{30}, Noise: Noise{30, 3, gaussian}}
		best, at := math.Inf(-1), 0.0
		for g := range gridLen {
			if x := c.computeLogLikelihood(0, logOddsAt(g)); x > best {
				best, at = x, logOddsAt(g)
			}
		}
		if math.Abs(at-math.Log(10)) > 0.15 {
			t.Errorf("gaussian %v: cells of 300 and 30 rows say %.2f nats", gaussian, at)
		}
	}
}

// Bins without rows lean to neither class, though the noise of the rarer one is twelve times
// that of the other: on the mean over 200 draws within .4 of 0, where a density of the weight alone
// had 2.3.
func TestEmptyBinsLeanToNoClass(t *testing.T) {
	src := replay.Seeded(4, "empty bins")
	draw := func(scale float64) float64 {
		u := float64(src.Uint64()>>11)/(1<<53) - 0.5
		return -math.Copysign(scale*math.Log(1-2*math.Abs(u)), u)
	}
	const scale, rarer = 60, 0.08
	empty := 0.0
	for range 200 {
		c := Cells{Noise: Noise{Positive: math.Sqrt2 * scale, Negative: math.Sqrt2 * scale * rarer}}
		for _, rows := range []float64{100, 900, 900, 100, 0, 0, 0, 0} {
			c.Positive = append(c.Positive, rows+draw(scale))
			c.Negative = append(c.Negative, rows+draw(scale*rarer))
		}
		steps, _ := c.averageWalks([][]int{{0, 1, 2}})
		empty += steps[7] / 200
	}
	if math.Abs(empty) > 0.4 {
		t.Errorf("an empty bin steps by %.2f on the mean", empty)
	}
}

// Far from what a cell allows, likelihoods are tiny and still comparable.
func TestLikelihoodsOfCertainCells(t *testing.T) {
	for what, of := range map[string]func(p, q cell, share, least float64) float64{"laplace": integrateLaplace,
		"gaussian": integrateGaussian} {
		last := math.Inf(-1)
		for g := range gridLen {
			x := of(cell{1e5, 40}, cell{-1e5, 40}, 1/(1+math.Exp(-logOddsAt(g))), 1)
			if !(x > last) || math.IsInf(x, 0) {
				t.Fatalf("%s: %g at log-odds %g, %g before", what, x, logOddsAt(g), last)
			}
			last = x
		}
	}
	for _, loud := range []bool{false, true} {
		c := Cells{Positive: []float64{1e9, 1e9}, Negative: []float64{0, 3e8}, Noise: Noise{1, 1, loud}}
		steps, variance := c.averageWalks([][]int{{0, 1}})
		if math.Abs(steps[0]-logOddsAt(gridLen-1)) > 0.01 || math.Abs(steps[1]-math.Log(1/.3)) > gridStep ||
			math.IsNaN(variance[0]+variance[1]) {
			t.Errorf("certain cells became %v ± %v", steps, variance)
		}
	}
}

// The chain, and the bins around a common value, are the sums over all that the
// bins could be, weighed by the prior as it is written down.
func TestWalkIsTheSumOverAllPaths(t *testing.T) {
	c := Cells{Positive: []float64{40, 5, 90}, Negative: []float64{60, -2, 20}, Noise: Noise{12, 15, false}}
	like := c.computeLikelihoods()
	near := func(x, y int, jump float64) float64 { // not normalised
		return math.Exp(-math.Abs(logOddsAt(x)-logOddsAt(y)) / jump)
	}
	const jump = 0.25
	fall := math.Exp(-gridStep / jump)
	step := func(x, y int) float64 {
		return (1-anywhere)*(1-fall)/(1+fall)*near(x, y, jump) + anywhere/gridLen
	}
	offset := func(x int) float64 {
		sum := 0.0
		for g := range gridLen {
			sum += math.Exp(-math.Abs(logOddsAt(g)) / jump)
		}
		return (1-anywhere)*math.Exp(-math.Abs(logOddsAt(x))/jump)/sum + anywhere/gridLen
	}
	for what, of := range map[string]struct {
		got   posterior
		prior func(x, y, z int) float64
	}{
		"along": {like.posteriorOfWalk(jump, []int{0, 1, 2}), func(x, y, z int) float64 {
			return step(x, y) * step(y, z) / gridLen
		}},
		"around": {like.posteriorAround(jump), nil},
	} {
		var want [3]grid
		all := 0.0
		var offsets grid
		for g := range offsets {
			offsets[g] = offset(g)
		}
		for x := range gridLen {
			for y := range gridLen {
				for z := range gridLen {
					m := like[0][x] * like[1][y] * like[2][z]
					if of.prior != nil {
						m *= of.prior(x, y, z)
					} else {
						m *= offsets[x] * offsets[y] * offsets[z]
					}
					want[0][x] += m
					want[1][y] += m
					want[2][z] += m
					all += m
				}
			}
		}
		for b := range want {
			mean, square := 0.0, 0.0
			for g, m := range want[b] {
				mean += m / all * logOddsAt(g)
				square += m / all * logOddsAt(g) * logOddsAt(g)
			}
			if math.Abs(of.got.mean[b]-mean) > 1e-10 || math.Abs(of.got.square[b]-square) > 1e-10 {
				t.Errorf("%s: bin %d has a mean of %g and a mean square of %g, want %g and %g", what, b, of.got.mean[b],
					of.got.square[b], mean, square)
			}
		}
		if math.Abs(of.got.evidence-math.Log(all)) > 1e-9 {
			t.Errorf("%s: evidence %g, want %g", what, of.got.evidence, math.Log(all))
		}
	}
}

// Pure noise is shrunk; a clear signal is left almost alone, and so is a jump
// beside bins that are level.
func TestSmoothShrinksNoiseAndKeepsSignals(t *testing.T) {
	quiet := Cells{Positive: []float64{300, 250, 350, 280}, Negative: []float64{260, 330, 290, 300},
		Noise: Noise{400, 400, false}}
	loud := Cells{Positive: []float64{9000, 2000, 500, 5000}, Negative: []float64{3000, 6000, 4500, 5000},
		Noise: Noise{7, 7, false}}
	jump := Cells{Positive: []float64{5000, 10, 400}, Negative: []float64{5000, 5, 20}, Noise: Noise{60, 60, false}}
	for what, bins := range map[string]feature.Bins{"ordered": {Edges: []float64{1, 2, 3}},
		"levels":          feature.NewGroups(0, nil, 4),
		"pair":            feature.Cross(feature.NewGroups(0, nil, 2), feature.Bins{Edges: []float64{1}}),
		"pair of numbers": feature.Cross(feature.Bins{Edges: []float64{1}}, feature.Bins{Edges: []float64{1}})} {
		for _, gaussian := range []bool{false, true} {
			quiet.Noise.Gaussian, loud.Noise.Gaussian, jump.Noise.Gaussian = gaussian, gaussian, gaussian
			steps, variance := LogOdds(&quiet, &bins)
			for b, s := range steps {
				if math.Abs(s) > 0.3*math.Sqrt(variance[b])+0.05 || math.Abs(s) > 0.3 {
					t.Errorf("%s: noise became a step of %g ± %g in bin %d", what, s, math.Sqrt(variance[b]), b)
				}
			}
			steps, _ = LogOdds(&loud, &bins)
			for b, s := range steps {
				if want := math.Log(loud.Positive[b] / loud.Negative[b]); math.Abs(s-want) > 0.1 {
					t.Errorf("%s: bin %d has log-odds %g, smoothed to %g", what, b, want, s)
				}
			}
			if bins.Second == nil {
				if steps, _ = LogOdds(&jump, &bins); math.Abs(steps[0]) > 0.05 || steps[2] < 1 {
					t.Errorf("%s: a jump became %v", what, steps)
				}
			}
		}
	}
}

// Amounts are estimated as if there were no marks, and a mark moves none of them.
func TestMarksAreEstimatedOnTheirOwn(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Kind: schema.Number, Lower: 0, Upper: 4, Missing: true,
		Special: []float64{96}}}}
	bins := feature.NewBins(s, 0, []float64{1, 2, 3})
	amounts := bins.WithoutMarks()
	for _, noise := range []Noise{{}, {Positive: 5, Negative: 5}, {Positive: 5, Negative: 5, Gaussian: true}} {
		c := &Cells{[]float64{10, 20, 30, 40, 300, 0}, []float64{40, 30, 20, 10, 0, 300}, noise}
		steps, variance := LogOdds(c, &bins)
		want, _ := LogOdds(&Cells{c.Positive[:4], c.Negative[:4], noise}, &amounts)
		if len(steps) != 6 || len(variance) != 6 || !slices.Equal(steps[:4], want) {
			t.Errorf("%+v: %v, want %v first", noise, steps, want)
		}
		if !(steps[4] > 1) || !(steps[5] < -1) {
			t.Errorf("%+v: marks have %v", noise, steps[4:])
		}
	}
}
