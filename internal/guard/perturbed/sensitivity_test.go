// SPDX-License-Identifier: Apache-2.0

package perturbed

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// What the linear term is sized for: at no point does a replaced row move the
// summed gradient further (rows 13, 15 and 16 of the injected bugs).
func TestOneRowMovesTheGradientNoFurtherThanDeclared(t *testing.T) {
	src, pairs := replay.Seeded(1, "gradients"), size.Of(60, 500)
	for _, name := range []string{"objective", "objective, gamma", "objective, printed", "objective, huber"} {
		p := problem(t, name, census.Schema())
		tab := censustest.Table(7, 50)
		size := p.Size(tab.Rows)
		for range pairs {
			w := make([]float64, p.Space.Width()+1)
			for i := range w {
				w[i] = math.Ldexp(2*float64(rng.Below(src, 1000))/1000-1, int(rng.Below(src, 12)))
			}
			b := learntest.Neighbour(tab, src, dp.WholeRow)
			if moved := share(size.term, gradient(t, p, tab, w), gradient(t, p, b, w)); !(moved <= 1+1e-9) {
				t.Fatalf("%s: a row moved the gradient by %.4f of what is declared", name, moved)
			}
		}
	}
	// And it is reached: two rows at the end of the box, almost alike, on two
	// sides of a steep w that is wrong about both.
	for _, c := range []struct {
		name string
		norm float64
	}{{"objective, gamma", 1}, {"objective, gamma", 0.5}, {"objective", 1}} {
		a, b := lineOf(census.Schema(), []float64{1}, []uint8{1}), lineOf(census.Schema(), []float64{0.999}, []uint8{0})
		p := problem(t, c.name, a.Schema)
		p.Norm = c.norm
		size := p.Size(1)
		w := []float64{-1e6, 0.9995e6}
		if a.Schema.Label.Positive != 1 {
			t.Fatal("the census has changed its label")
		}
		if r := share(size.term, gradient(t, p, a, w), gradient(t, p, b, w)); !(r <= 1+1e-9 && r >= 0.98) {
			t.Errorf("%s, norm %g: the worst pair moves the gradient by %.4f of what is declared, want .98 to 1", c.name,
				c.norm, r)
		}
	}
}

// The minimum moves as far as output perturbation declares where a strong ridge holds it near zero,
// and the printed constants are twice that. (It moves no further: TestOutputSensitivityIsHeld of erm.)
func TestOutputSensitivityIsReached(t *testing.T) {
	reached := func(noise Noise, printed bool) float64 {
		label := census.Schema()
		a := lineOf(label, []float64{1, 1, 1}, []uint8{0, 0, 1}) // all agree but the last row
		b := lineOf(label, []float64{1, 1, 1}, []uint8{0, 0, 0})
		p := problem(t, "output", a.Schema)
		p.Noise, p.Printed, p.Reg = noise, printed, 50
		size := p.Size(3)
		zero := make([]float64, size.dim)
		wa, err1 := rowsOf(t, a).findMinimum(context.Background(), p, &size, zero)
		wb, err2 := rowsOf(t, b).findMinimum(context.Background(), p, &size, zero)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return share(size.after, wa, wb)
	}
	for _, noise := range []Noise{Blocks, Gamma} {
		if r := reached(noise, false); !(r <= 1 && r >= 0.95) {
			t.Errorf("%s at a strong ridge: a flipped label moves the minimum by %.4f of the declared bound", noise, r)
		}
	}
	if r := reached(Gamma, true); !(r <= 0.55) {
		t.Errorf("as printed at a strong ridge: %.4f", r)
	}
}

// Weights of rows do not pass 1, whatever was declared: two rows of the heaviest
// level, at the end of the box, reach what is declared for rows that all count
// once, and no others pass it (4.2).
func TestWeightsDoNotRaiseTheSensitivity(t *testing.T) {
	for _, weights := range [][]float64{{1, 1}, {0.001, 1000}, {7, 2}} {
		heavy := uint8(slices.Index(weights, slices.Max(weights)))
		s := *census.Schema()
		s.Label.Weights = weights
		a := lineOf(&s, []float64{1}, []uint8{heavy})
		p := problem(t, "objective", a.Schema)
		size := p.Size(1)
		side := 1.0 // of the margin: the heavy level's sign
		if int(heavy) != s.Label.Positive {
			side = -1
		}
		reached := 0.0
		for _, x := range []float64{-1, -0.999, 0.5, 0.999} {
			for _, label := range []uint8{0, 1} {
				b := lineOf(&s, []float64{x}, []uint8{label})
				for _, w := range [][]float64{{0, 0}, {-1e6 * side, 0}, {-1e6 * side, 0.9995e6 * side}, {0, -1e6 * side}} {
					moved := share(size.term, gradient(t, p, a, w), gradient(t, p, b, w))
					if !(moved <= 1+1e-9) {
						t.Fatalf("weights %g: the gradient moves by %.4f of what is declared", weights, moved)
					}
					reached = max(reached, moved)
				}
			}
		}
		if !(reached >= 0.7) { // a row of (1, 1)/√2 against one of (-1, 1)/√2, both wrong
			t.Errorf("weights %g: at most %.4f of what is declared is reached", weights, reached)
		}
	}
}

// Every row is inside the declared ball, whatever the schema allows.
func TestRowsAreNoLongerThanDeclared(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.OneHot, feature.Ordinal} {
		for _, norm := range []float64{1, 0.7, 0.1} {
			p := problem(t, "objective", census.Schema())
			p.Space, p.Norm = spaceOf(t, census.Schema(), enc), norm
			tab := censustest.Table(2, 200)
			longest := 0.0
			for i := range tab.Rows {
				one := tab.Subset([]int{i})
				w := make([]float64, p.Space.Width()+1)
				g := gradient(t, p, one, w) // slope 1/2 for the logistic loss
				longest = max(longest, 2*vectorLength(g))
			}
			if !(longest <= norm*(1+1e-12)) || enc == feature.OneHot && norm < 0.7 && !(longest >= norm*(1-1e-12)) {
				t.Errorf("%s, norm %g: the longest row has %g", enc, norm, longest)
			}
		}
	}
}

// The choice is sized for what a replaced row can do, no less and no more: it
// may give one cut a row and take one from another.
func TestThresholdSensitivityIsHeldAndReached(t *testing.T) {
	choice := func(xs []float64, labels []uint8) mechtest.Passage {
		tab := lineOf(census.Schema(), xs, labels)
		bill := []dp.Event{guard.Share{Epsilon: dp.Nano / 5}.ChoiceLine("threshold")}
		tape := &mechtest.Recorder{}
		g, err := guard.Open(context.Background(), guard.Terms{Op: "test", Scope: dp.WholeRow, Price: dp.Pure(bill), Bill: bill},
			learntest.Engine(t, tab), guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "choice"), tape))
		if err != nil {
			t.Fatal(err)
		}
		rows, err := OneVersusRest(g)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := rows[0].ChooseCut("threshold", dp.Nano/5, problem(t, "output", tab.Schema),
			[]float64{1, 0.5}, Cuts{First: -1, Step: 0.375, Count: 9}); err != nil {
			t.Fatal(err)
		}
		return tape.Passages[0]
	}
	worst := 0.0
	for _, to := range []float64{-1, -0.3, 0.2, 0.9} {
		for _, label := range []uint8{0, 1} {
			a := choice([]float64{-0.5, 0.1, 0.3}, []uint8{0, 1, 1})
			b := choice([]float64{-0.5, to, 0.3}, []uint8{0, label, 1})
			worst = max(worst, a.Moved(b)/a.Bound)
		}
	}
	if worst != 1 {
		t.Errorf("a replaced row moves the counts by %.4f of what is declared, want all of it", worst)
	}
}

// Plans state the length of the noise. Drawn noise has it on average, to a tenth.
func TestStatedLengthIsThatOfTheNoise(t *testing.T) {
	const draws = 60
	for _, name := range []string{"objective", "objective, gamma", "objective, printed", "output", "output, printed"} {
		s := problem(t, name, census.Schema()).Size(5000)
		m, stated := s.term, s.TermLength()
		if m == nil {
			m, stated = s.after, s.OutputLength()
		}
		zeros := make([]mech.Ratio, s.dim)
		for i := range zeros {
			zeros[i].Den = 1
		}
		mean := 0.0
		for k := range draws {
			square := 0.0
			for _, x := range mech.NewExit(replay.Seeded(uint64(k), name)).Release(termLabel, m, zeros...) {
				square += x * x
			}
			mean += math.Sqrt(square) / draws
		}
		if !(math.Abs(mean/stated-1) < 0.1) {
			t.Errorf("%s: length %g is stated, %g is drawn", name, stated, mean)
		}
	}
}
