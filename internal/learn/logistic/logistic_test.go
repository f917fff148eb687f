// SPDX-License-Identifier: Apache-2.0

package logistic

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

var everything = Params{Encoding: feature.OneHot, Columns: nonprivate.All, NotPrivate: true}

func TestConformance(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		t.Run(string(enc), func(t *testing.T) {
			p := everything
			p.Encoding = enc
			learntest.Run(t, learntest.Case{
				Plan:  func() (learn.Plan, error) { return p.Plan(census.Schema(), 0) },
				Table: censustest.Table(1, 500),
			})
		})
	}
}

func TestPlanRefuses(t *testing.T) {
	hidden := *census.Schema()
	hidden.Label.Role = schema.Private
	none := *census.Schema()
	none.Columns = slices.Clone(none.Columns)
	for j := range none.Columns {
		none.Columns[j].Role = schema.Private
	}
	tests := []struct {
		name   string
		s      *schema.Schema
		change func(*Params)
		param  string
	}{
		{"private columns", census.Schema(), func(p *Params) { p.NotPrivate = false }, "not-private"},
		{"private label", &hidden, func(p *Params) { p.NotPrivate, p.Columns = false, nonprivate.Public }, "not-private"},
		{"no public column", &none, func(p *Params) { p.Columns = nonprivate.Public }, "columns"},
		{"unknown columns", census.Schema(), func(p *Params) { p.Columns = "" }, "columns"},
		{"unknown encoding", census.Schema(), func(p *Params) { p.Encoding = "" }, "encoding"},
		{"negative reg", census.Schema(), func(p *Params) { p.Reg = -1e-300 }, "reg"},
		{"reg not a number", census.Schema(), func(p *Params) { p.Reg = math.NaN() }, "reg"},
		{"infinite reg", census.Schema(), func(p *Params) { p.Reg = math.Inf(1) }, "reg"},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			p := everything
			c.change(&p)
			pl, err := p.Plan(c.s, 0)
			var refused *dp.ParamError
			if pl != nil || !errors.As(err, &refused) || refused.Param != c.param {
				t.Errorf("Plan = %v, %v, want a refusal of %s", pl, err, c.param)
			}
		})
	}
}

func TestPublicColumnsNeedNoOverrideAndSaySo(t *testing.T) {
	tab := censustest.Table(2, 300)
	pl, err := Params{Encoding: feature.Ordinal, Columns: nonprivate.Public}.Plan(tab.Schema, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	if m.Privacy.Scope != dp.Nothing || m.Privacy.NotPrivate || len(m.Privacy.Bill) != 0 {
		t.Errorf("privacy = %+v, want no guarantee, no bill and no override", m.Privacy)
	}
	for _, j := range m.Schema.Features() {
		if m.Schema.Columns[j].Role != schema.Public {
			t.Errorf("the model's schema keeps column %q", m.Schema.Columns[j].Name)
		}
	}
}

// groupsOf returns the table's groups with their counts as weights.
func groupsOf(t testing.TB, rows int, enc feature.Encoding,
	cols []int) (sp *feature.Space, g *engine.Groups, pos, neg []float64) {
	t.Helper()
	tab := censustest.Table(3, rows)
	sp, err := feature.NewSpace(tab.Schema, enc, cols)
	if err != nil {
		t.Fatal(err)
	}
	if g, err = learntest.Engine(t, tab).Groups(context.Background(), cols); err != nil {
		t.Fatal(err)
	}
	pos, neg = make([]float64, g.Len), make([]float64, g.Len)
	for i := range pos {
		pos[i] = float64(g.Counts[tab.Schema.Label.Positive][i])
		neg[i] = float64(g.Counts[1-tab.Schema.Label.Positive][i])
	}
	return sp, g, pos, neg
}

func scaled(v []float64, by float64) []float64 {
	out := slices.Clone(v)
	for i := range out {
		out[i] *= by
	}
	return out
}

func mustFit(t testing.TB, sp *feature.Space, g *engine.Groups, pos, neg []float64, reg float64,
	warm []float64) *Optimum {
	t.Helper()
	best, err := FitGroups(context.Background(), sp, g, pos, neg, reg, warm)
	if err != nil {
		t.Fatal(err)
	}
	return best
}

func apart(a, b []float64) (most float64) {
	for i := range a {
		most = max(most, math.Abs(a[i]-b[i]))
	}
	return most
}

// A gradient of 1e-9 and a curvature of at least reg in every direction but the
// intercept's leave coefficients 1e-9/reg of room.
const testReg, room = 1e-3, 1e-5

func TestFitOverRowsEqualsFitOverGroups(t *testing.T) {
	const rows = 2000
	sp, g, pos, neg := groupsOf(t, rows, feature.OneHot, census.Schema().Features())
	best := mustFit(t, sp, g, pos, neg, 1./rows, nil)
	pl, err := everything.Plan(census.Schema(), 0)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, censustest.Table(3, rows), nil, 1)
	if d := apart(append(slices.Clone(m.Classifier.(*model.Logistic).Coef), m.Classifier.(*model.Logistic).Bias),
		best.Coef); !(d < room) {
		t.Errorf("coefficients differ by %g", d)
	}
}

func TestOnlyProportionsOfWeightsMatter(t *testing.T) {
	sp, g, pos, neg := groupsOf(t, 800, feature.OneHot, census.Schema().ByRole(schema.Public))
	a := mustFit(t, sp, g, pos, neg, testReg, nil)
	for _, by := range []float64{0.25, 1e-200, 1e200} {
		b := mustFit(t, sp, g, scaled(pos, by), scaled(neg, by), testReg, nil)
		if d := apart(a.Coef, b.Coef); !(d < room) {
			t.Errorf("weights times %g: coefficients differ by %g", by, d)
		}
	}
}

func TestFlippingLabelsFlipsSigns(t *testing.T) {
	sp, g, pos, neg := groupsOf(t, 800, feature.Ordinal, census.Schema().Features())
	a, b := mustFit(t, sp, g, pos, neg, testReg, nil), mustFit(t, sp, g, neg, pos, testReg, nil)
	if d := apart(a.Coef, scaled(b.Coef, -1)); !(d < room) {
		t.Errorf("coefficients differ by %g after flipping the labels", d)
	}
}

func TestWarmStartEndsWhereAColdOneDoes(t *testing.T) {
	sp, g, pos, neg := groupsOf(t, 800, feature.OneHot, census.Schema().ByRole(schema.Public))
	cold := mustFit(t, sp, g, pos, neg, testReg, nil)
	far := make([]float64, len(cold.Coef))
	for i := range far {
		far[i] = float64(40 * (1 - 2*(i%2)))
	}
	kept := slices.Clone(far)
	warm := mustFit(t, sp, g, pos, neg, testReg, far)
	if d := apart(cold.Coef, warm.Coef); !(d < room) {
		t.Errorf("coefficients differ by %g", d)
	}
	if !slices.Equal(far, kept) {
		t.Error("FitGroups changed its warm start")
	}
	if again := mustFit(t, sp, g, pos, neg, testReg, cold.Coef); again.Steps != 0 {
		t.Errorf("a start at the optimum took %d steps", again.Steps)
	}
}

// The intercept is not penalised, so with one class it runs towards infinity
// and the loss towards 0; the gradient's length ends the fit.
func TestOneClassEndsWithAFiniteModel(t *testing.T) {
	sp, g, pos, neg := groupsOf(t, 800, feature.OneHot, census.Schema().Features())
	for i := range pos {
		pos[i], neg[i] = pos[i]+neg[i], 0
	}
	best := mustFit(t, sp, g, pos, neg, testReg, nil)
	if !(best.Loss < 1e-8) || !(best.GradNorm <= limits.GradNorm) || !(best.Coef[len(best.Coef)-1] < 100) {
		t.Errorf("loss %g, gradient %g, intercept %g", best.Loss, best.GradNorm, best.Coef[len(best.Coef)-1])
	}
}

func TestFitGroupsRefuses(t *testing.T) {
	sp, g, pos, neg := groupsOf(t, 50, feature.Ordinal, census.Schema().Features())
	zero := make([]float64, g.Len)
	nan := slices.Clone(pos)
	nan[0] = math.NaN()
	tests := []struct {
		name     string
		pos, neg []float64
		reg      float64
		warm     []float64
	}{
		{"no ridge", pos, neg, 0, nil},
		{"ridge not a number", pos, neg, math.NaN(), nil},
		{"weights of another length", pos[1:], neg, 1, nil},
		{"no weight", zero, zero, 1, nil},
		{"weight not a number", nan, neg, 1, nil},
		{"warm start of another length", pos, neg, 1, []float64{1}},
	}
	for _, c := range tests {
		if best, err := FitGroups(context.Background(), sp, g, c.pos, c.neg, c.reg, c.warm); err == nil {
			t.Errorf("%s: got %+v, want an error", c.name, best)
		}
	}
}

func TestThresholdAnswersLikeTheScore(t *testing.T) {
	cols := census.Schema().Features()
	sp, g, _, _ := groupsOf(t, 3000, feature.OneHot, cols)
	src := replay.Seeded(5, "threshold")
	for range 20 {
		coef := make([]float64, sp.Width()+1)
		for i := range coef {
			coef[i] = float64(rng.Below(src, 2001)) - 1000
		}
		th := Threshold(coef)
		answers := make([]uint64, g.Len)
		feature.NewScorer(sp, []feature.Threshold{th}).Bind(g.Cols).Answers(0, answers)
		for i, a := range answers {
			z := coef[len(coef)-1]
			for k, j := range cols {
				col := &g.Cols[j]
				f, v := sp.Code(k, int(col.Codes.At(i)))
				if col.Values != nil {
					f, v = sp.Number(k, col.Values[col.Codes.At(i)])
				}
				z += coef[f] * v
			}
			// Fifteen contributions of at most 1000, each rounded by 2^-27 of that.
			if math.Abs(z) > 15*1000*0x1p-26 && (a == 1) != (z >= 0) {
				t.Fatalf("row %d: score %g, answer %d", i, z, a)
			}
		}
	}
}

func TestThresholdStaysInItsBox(t *testing.T) {
	for _, coef := range [][]float64{{0, 0, 0}, {3, -7, 1}, {1e308, 5e-324, -1e308}, {5e-324, 0, 0}, {0, 0, -1e-3}} {
		th := Threshold(coef)
		top := math.Abs(th.Bias)
		for i, c := range th.Coef {
			top = max(top, math.Abs(c))
			if math.Signbit(c) != math.Signbit(coef[i]) {
				t.Errorf("%v: coefficient %d changed its sign", coef, i)
			}
		}
		if want := 1.0; top != want && !slices.Equal(coef, []float64{0, 0, 0}) {
			t.Errorf("%v: the largest number is %g, want 1", coef, top)
		}
	}
}

// BenchmarkRefit is a round of boosting's: weights moved by a factor e^0.1 on
// the mistakes, warm start.
func BenchmarkRefit(b *testing.B) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		// Age, region, education, occupation and marital status.
		sp, g, pos, neg := groupsOf(b, 60_000, enc, []int{0, 2, 5, 7, 8})
		b.Run(string(enc), func(b *testing.B) {
			before := mustFit(b, sp, g, pos, neg, 1./60_000, nil)
			answers := make([]uint64, g.Len)
			feature.NewScorer(sp, []feature.Threshold{Threshold(before.Coef)}).Bind(g.Cols).Answers(0, answers)
			p, n := slices.Clone(pos), slices.Clone(neg)
			for i, a := range answers {
				if a == 1 {
					n[i] *= math.Exp(0.1)
				} else {
					p[i] *= math.Exp(0.1)
				}
			}
			var steps int
			for b.Loop() {
				steps = mustFit(b, sp, g, p, n, 1./60_000, before.Coef).Steps
			}
			b.ReportMetric(float64(steps), "steps")
			b.ReportMetric(float64(g.Len), "groups")
			b.ReportMetric(float64(sp.Width()), "features")
		})
	}
}
