// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/optimize"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/lab/internal/census"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/features"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/vectors"
)

// TestDesignsAgree compares both kinds of rows with products as they are
// defined.
func TestDesignsAgree(t *testing.T) {
	v := vectors.New(census.Generate(1, 40))
	own := newPeople(v, 10, 30)
	whole := denseOf(v, upTo(40)[10:30])
	theta, push := make([]float64, vectors.Width), make([]float64, 20)
	for j := range theta {
		theta[j] = math.Sin(float64(j))
	}
	for i := range push {
		push[i] = math.Cos(float64(i))
	}
	for name, x := range map[string]design{"people": own, "dense": whole} {
		margins, back, gram := make([]float64, 20), make([]float64, vectors.Width), make([]float64, vectors.Width*vectors.Width)
		x.times(theta, margins)
		x.back(push, back)
		x.gram(gram)
		for i, m := range margins {
			want := 0.0
			for j, c := range whole.row(i) {
				want += c * theta[j]
			}
			if math.Abs(m-want) > 1e-12 {
				t.Errorf("%s: margin %d is %g, want %g", name, i, m, want)
			}
		}
		for j := range back {
			want := 0.0
			for i := range 20 {
				want += whole.row(i)[j] * push[i]
			}
			if math.Abs(back[j]-want) > 1e-12 {
				t.Errorf("%s: back %d is %g, want %g", name, j, back[j], want)
			}
			for k := j; k < vectors.Width; k++ {
				want := 0.0
				for i := range 20 {
					want += whole.row(i)[j] * whole.row(i)[k]
				}
				if math.Abs(gram[j*vectors.Width+k]-want) > 1e-12 {
					t.Errorf("%s: gram %d, %d is %g, want %g", name, j, k, gram[j*vectors.Width+k], want)
				}
			}
		}
	}
}

// TestFitIsTheMinimiser compares with Newton's method on the objective as it is
// written down.
func TestFitIsTheMinimiser(t *testing.T) {
	const n, d = 40, 7
	l := rows(n, d, 2, "logistic")
	weight := make([]float64, n)
	for i := range weight {
		weight[i] = 0.2 + float64(i%5)
	}
	sign := classSigns(l.y, 1)
	x := denseOf(l.Rows, upTo(n))
	f := newFitter(x, weight, d)
	for range 2 { // a fitter forgets what it fitted before
		theta, norm := f.fitSigns(sign)
		if !(norm <= fitted) {
			t.Errorf("the gradient has length %g", norm)
		}
		want, err := optimize.Newton(func(theta []float64) (optimize.Point, error) {
			p := optimize.Point{Grad: make([]float64, d), Hess: make([]float64, d*d)}
			for i := range n {
				m := sign[i] * dotProduct(x.row(i), theta)
				p.Value += weight[i] * math.Log1p(math.Exp(-m)) / n
				s := 1 / (1 + math.Exp(m))
				for j, a := range x.row(i) {
					p.Grad[j] -= weight[i] * sign[i] * s * a / n
					for k, b := range x.row(i) {
						p.Hess[j*d+k] += weight[i] * s * (1 - s) * a * b / n
					}
				}
			}
			for j, t := range theta {
				p.Value += t * t / (2 * n)
				p.Grad[j] += t / n
				p.Hess[j*d+j] += 1.0 / n
			}
			return p, nil
		}, make([]float64, d), optimize.Limits{GradNorm: 1e-12, Steps: 100})
		if err != nil {
			t.Fatal(err)
		}
		for j, got := range theta {
			// The objective bends by 1/n at least.
			if math.Abs(got-want.X[j]) > fitted*n {
				t.Errorf("θ[%d] = %g, want %g", j, got, want.X[j])
			}
		}
		for i := range sign { // the other class: the mirror image
			sign[i] = -sign[i]
		}
	}
}

// An owner's classifier follows from its rows alone.
func TestOwnersAreFittedAlone(t *testing.T) {
	l := rows(60, 4, 3, "owners")
	order := shuffledRows(60, replay.Seeded(1, "order"))
	f := fitOwners(l, order, 5, onesOf(60))
	again := fitOwners(l, order[12:24], 1, onesOf(60))
	if f.Len() != 5 || f.Dim() != 12 || !slices.Equal(f.cells[12:24], again.cells) {
		t.Errorf("the second of %d owners, of %d numbers, depends on others", f.Len(), f.Dim())
	}
	l.classes = 2
	for i := range l.y {
		l.y[i] %= 2
	}
	if two := fitOwners(l, order, 5, onesOf(60)); two.Dim() != 4 {
		t.Errorf("two classes have %d numbers, want one vector of 4", two.Dim())
	}
}

// The stand-in's owners are consecutive people.
func TestFitPeople(t *testing.T) {
	out := &features.Matrix{Rows: 3, Width: vectors.Width, Cells: make([]float32, 3*vectors.Width)}
	fitPeople(context.Background(), out)
	tab := census.Generate(peopleSeed, 3*peoplePer)
	v := vectors.New(tab)
	theta, _ := newFitter(denseOf(v, upTo(tab.Rows)[2*peoplePer:]), onesOf(peoplePer), vectors.Width).fitSigns(
		classSigns(tab.Labels[2*peoplePer:], 1))
	for j, want := range theta {
		if got := float64(out.Cells[2*vectors.Width+j]); math.Abs(got-want) > 1e-3 {
			t.Errorf("θ[%d] = %g, want %g", j, got, want)
		}
	}
}

// Signed rows are the vectors with 0 replaced by -1 if they are binary.
func TestSignedRows(t *testing.T) {
	v := vectors.New(census.Generate(2, 200))
	s := newSigned(v)
	plain, got := make([]float64, vectors.Width), make([]float64, vectors.Width)
	for i := range v.Len() {
		v.Row(i, plain)
		s.Row(i, got)
		for j, x := range plain {
			if v.Binary(j) {
				x = 2*x - 1
			}
			if got[j] != x {
				t.Fatalf("row %d: %s is %g, want %g", i, v.Name(j), got[j], x)
			}
		}
	}
}

// The pages name what a constant answer is worth on the stand-in.
func TestConstantAnswerOnTheStandIn(t *testing.T) {
	_, test := standIn(0)
	if a := accuracyOf(make([]uint8, test.Len()), test.y); math.Abs(a-0.72) > 0.005 {
		t.Errorf("a constant answer is right about %g of the people", a)
	}
}

func TestClassify(t *testing.T) {
	l := rows(50, 3, 4, "classify")
	parameters := []float64{1, 0, 0, 0, 1, 0, 0, 0, 1, -1, -1, -1}
	for i, got := range classifyRows(l.Rows, parameters) {
		x := row(l, i)
		products := []float64{x[0], x[1], x[2], -x[0] - x[1] - x[2]}
		if products[got] != slices.Max(products) {
			t.Errorf("%v is said to be of class %d", x, got)
		}
	}
	for i, got := range classifyRows(l.Rows, parameters[:3]) {
		if (got == 1) != (row(l, i)[0] > 0) {
			t.Errorf("%v is said to be of class %d", row(l, i), got)
		}
	}
}

// TestClosedForm adds up the variances of single reports.
func TestClosedForm(t *testing.T) {
	f := fits{matrix{4, []float32{0.1, -2, 0.5, 1, 0, 0.25, -0.75, 3}}, 2, 2}
	for _, m := range all {
		law := m.make(2, 3)
		want := 0.0
		for _, v := range f.cells {
			want += law.Variance(min(max(float64(v), -1), 1)) / 4 / 4 // of the mean of two, over four coordinates
		}
		if got := closedForm(law, f.meanSquare(), 2); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s: %g, want %g", m.long, got, want)
		}
	}
}

// TestMeanOfReports: perturbed means surround the true one, one report a class
// or one in all, by the closed form. Each band is six standard errors of some
// hundred squares, which are skewed; the seed is fixed.
func TestMeanOfReports(t *testing.T) {
	const owners, runs = 50, 300
	l := rows(owners, 12, 2, "reports")
	f := fits{l.Rows.(matrix), 3, 4}
	exact := f.meanOfOwners(nil, false, nil)
	for i, want := range plainSum(f) {
		if math.Abs(exact[i]-want/owners) > 1e-12 {
			t.Errorf("mean %d is %g, want %g", i, exact[i], want/owners)
		}
	}
	for _, m := range all {
		for _, whole := range []bool{false, true} {
			d := map[bool]int{false: 4, true: 12}[whole]
			src := replay.Seeded(1, m.name)
			got := 0.0
			for range runs {
				got += squaredError(f.meanOfOwners(makeAt(m, 2), whole, src), exact) / runs
			}
			want := closedForm(m.make(d, 2), f.meanSquare(), owners)
			if math.Abs(got/want-1) > 6*math.Sqrt(2.0/runs/4) {
				t.Errorf("%s, one report %v: error %g, want %g", m.long, whole, got, want)
			}
		}
	}
}

func makeAt(m mechanism, eps float64) func(d int) continuous.Mechanism {
	return func(d int) continuous.Mechanism { return m.make(d, eps) }
}
