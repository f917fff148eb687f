// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// multiclassSettings are the scopes, each under rules that pick, that weigh columns
// and that take them in turn.
func multiclassSettings() map[string]setting {
	partly := func(*Params, *schema.Schema) {}
	label := func(_ *Params, s *schema.Schema) { s.Label.Role, s.Label.Default = schema.Private, 0 }
	addRemove := func(_ *Params, s *schema.Schema) { s.Relation = dp.AddRemove }
	delta := func(set func(*Params, *schema.Schema)) func(*Params, *schema.Schema) {
		return func(p *Params, s *schema.Schema) {
			p.Delta = 1e-6 * dp.Femto
			set(p, s)
		}
	}
	return map[string]setting{
		"partly private":            {partly, 400},
		"partly private, in turn":   {partly, 100_000},
		"partly private, gaussian":  {delta(partly), 100_000},
		"delta spared":              {delta(partly), 400},
		"no public column":          {func(_ *Params, s *schema.Schema) { hide(s) }, 600},
		"no public column, weighed": {func(_ *Params, s *schema.Schema) { hide(s) }, 14_000},
		"one private column":        {func(_ *Params, s *schema.Schema) { keepOne(s) }, 400},
		"private label":             {label, 2_000},
		"shares alone":              {asked(label), 60},
		"private label, in turn":    {label, 100_000},
		"private label, gaussian":   {delta(label), 100_000},
		"add-remove":                {addRemove, 2_000},
		"add-remove, weighed":       {addRemove, 7_000},
		"add-remove, gaussian":      {delta(addRemove), 100_000},
		"partly private, bins paid": {asked(partly), 20_000},
		"add-remove, bins paid":     {asked(addRemove), 20_000},
		"gaussian, bins paid":       {delta(asked(label)), 100_000},
		"eps inf":                   {func(p *Params, _ *schema.Schema) { p.Epsilon, p.NotPrivate = 0, true }, 400},
		"eps inf, everything private": {func(p *Params, s *schema.Schema) {
			label(p, s)
			p.Epsilon, p.NotPrivate = 0, true
		}, 400},
	}
}

const manyClasses = 3

// withClasses is with, of a label of so many levels and of ten columns.
func withClasses(c setting, rows int) (*dataset.Table, func() (learn.Plan, error)) {
	tab := learntest.Levels(censustest.Table(11, rows), manyClasses, nil)
	tab.Schema.Columns = slices.Clone(tab.Schema.Columns)
	s := tab.Schema
	for _, j := range s.Features()[10:] {
		s.Columns[j].Role = schema.Ignored
	}
	p := Params{Epsilon: dp.Nano}
	c.set(&p, s)
	return tab, func() (learn.Plan, error) { return p.Plan(s, c.reckons) }
}

func TestMulticlassConformance(t *testing.T) {
	for name, c := range size.Some(multiclassSettings(), 5) {
		t.Run(name, func(t *testing.T) {
			tab, plan := withClasses(c, 400)
			learntest.Run(t, learntest.Case{Plan: plan, Table: tab, OrderFree: true})
		})
	}
}

// The settings differ in what they are there for.
func TestMulticlassSettingsCoverTheRules(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range multiclassSettings() {
		_, plan := withClasses(c, 40)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		r := pl.(*Plan).rules
		seen["picks"] = seen["picks"] || r.picks && r.weightShare == 0
		seen["picks, weighed"] = seen["picks, weighed"] || r.picks && r.weightShare > 0
		seen["in turn"] = seen["in turn"] || !r.picks && r.weightShare > 0
		seen["gaussian"] = seen["gaussian"] || r.gaussian
	}
	for _, rule := range []string{"picks", "picks, weighed", "in turn", "gaussian"} {
		if !seen[rule] {
			t.Errorf("no setting has rules that are %s", rule)
		}
	}
}

// As TestReplayNonInterference.
func TestMulticlassReplayNonInterference(t *testing.T) {
	const pairs = 6
	best := 0.0
	for name, c := range multiclassSettings() {
		src := replay.Seeded(uint64(len(name)), name)
		tab, plan := withClasses(c, 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		if pl.(*Plan).NotPrivate {
			continue
		}
		for k := range pairs {
			b := learntest.Neighbour(tab, src, pl.(*Plan).scope)
			if tab.Schema.Relation == dp.AddRemove {
				b = learntest.WithoutRow(tab, int(rng.Below(src, uint64(tab.Rows))))
			}
			differs, worst, at := learntest.Interference(t, plan, tab, b, uint64(k), scripted(float64(rng.Below(src, 1000))))
			if differs != "" {
				t.Fatalf("%s, pair %d: %s differ", name, k, differs)
			}
			if worst > rounding {
				t.Fatalf("%s, pair %d: %s moved %.6f times its declared bound", name, k, at, worst)
			}
			best = max(best, worst)
		}
	}
	if best < 0.98 {
		t.Errorf("the largest move is %.3f of its bound: the check is blind", best)
	}
}

// Scripts that teach steep shapes make rows of two levels pull at full strength,
// so that each kind of release reaches the distance it declares, and none passes
// it: lemma 5.
func TestMulticlassDeclaredSensitivityIsHeldAndReached(t *testing.T) {
	reached := map[string]float64{}
	for _, name := range []string{"private label", "private label, in turn", "add-remove", "add-remove, weighed",
		"private label, gaussian", "add-remove, gaussian", "no public column, weighed"} {
		c := multiclassSettings()[name]
		for seed := range size.Of[uint64](4, 12) {
			src := replay.Seeded(seed, name)
			tab, plan := withClasses(c, 40)
			pl, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			b := learntest.Neighbour(tab, src, pl.(*Plan).scope)
			if tab.Schema.Relation == dp.AddRemove {
				b = learntest.WithoutRow(tab, int(rng.Below(src, 40)))
			}
			coins := replay.Seeded(seed, "coins")
			bits := make([]uint64, 64)
			for i := range bits {
				bits[i] = coins.Uint64()
			}
			script := func(k int, p mechtest.Passage) []float64 {
				out := make([]float64, len(p.Values))
				switch {
				case p.Choice:
					return []float64{float64(int(bits[k%64]) & 7 % len(p.Values))}
				case len(out) == 2: // a weight: much to gain, no curve
					return []float64{1e4, 1}
				case p.Label == pl.(*Plan).classesLabel():
					return slices.Repeat([]float64{1e6}, manyClasses)
				}
				for v := range out { // all rows of a bin have one level
					n := len(out) / manyClasses
					if int(bits[(k+v%n)%64]%manyClasses) == v/n {
						out[v] = 1e6
					}
				}
				return out
			}
			var tapes [2]*mechtest.Recorder
			for i, side := range []*dataset.Table{tab, b} {
				tapes[i] = &mechtest.Recorder{Script: script}
				learntest.Fit(t, pl, side, tapes[i], seed)
			}
			for k, p := range tapes[0].Passages {
				r := p.Moved(tapes[1].Passages[k]) / p.Bound
				if r > rounding {
					t.Fatalf("%s, seed %d: %q moved %.6f times its declared bound", name, seed, p.Label, r)
				}
				kind := "cells"
				switch {
				case p.Choice:
					kind = "pick"
				case p.Label == pl.(*Plan).classesLabel():
					kind = "levels"
				case len(p.Values) == 2:
					kind = "weight"
				}
				reached[kind] = max(reached[kind], r)
			}
		}
	}
	for kind, least := range map[string]float64{"cells": 0.999, "levels": 0.999, "weight": 0.95,
		"pick": 0.2} {
		if reached[kind] < least {
			t.Errorf("%s: moved %.3f of the declared bound only", kind, reached[kind])
		}
	}
}

// Two rows that stand alone in their bins and change places with rows that the
// score expects: one column's score falls by 2 while another's rises by 2 (lemma
// 5b), so a spread of less than 4 would be too little.
func TestMulticlassSpreadIsThatOfTheScores(t *testing.T) {
	const one = engine.WeightOne
	sure := [][]uint64{{0, 0}, {0, 0}} // rows that the score is sure of add nothing
	// two rows that it has the wrong way round, in two bins
	wrong := [2][][]uint64{{{one, 0}, {0, one}}, {{0, one}, {one, 0}}}
	both := func(sides [2][][]uint64) (sum int64) {
		for k := range sides[0] {
			for b, above := range sides[0][k] {
				d := int64(above) - int64(sides[1][k][b])
				sum += max(d, -d)
			}
		}
		return sum
	}
	if moved := float64(both(wrong)-both([2][][]uint64{sure, sure})) / (2 * one); moved != 2 {
		t.Fatalf("the pair moves a score by %g, not 2", moved)
	}
	for name, want := range map[string]float64{"private label": 4, "add-remove": 2} {
		tab, plan := withClasses(multiclassSettings()[name], 60)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		tape := &mechtest.Recorder{}
		learntest.Fit(t, pl, tab, tape, 1)
		if p := tape.Passages[1]; !p.Choice || p.Bound != want {
			t.Errorf("%s: %q declares a spread of %g, want %g", name, p.Label, p.Bound, want)
		}
	}
}

// The rules at a few points, by hand from the constants.
func TestSettleMulticlass(t *testing.T) {
	for _, c := range []struct {
		rows, columns int
		eps           dp.Epsilon
		relation      dp.Relation
		rho           float64
		want          rules
	}{
		{100, 9, 1, dp.ReplaceOne, 0, rules{bins: 8, rounds: 1, picks: true, columnWeight: 1}},
		{3_793, 43, dp.Nano, dp.ReplaceOne, 0, rules{bins: 16, rounds: 4, picks: true, columnWeight: math.Sqrt(0.5)}},
		// 21,000 noise scales are worth 12 of 49 columns, 1,750 scales each.
		{42_000, 49, dp.Nano, dp.ReplaceOne, 0, rules{bins: 32, rounds: 12, picks: true,
			columnWeight: 0.4, weightShare: 0.15}},
		{22_792, 14, 4 * dp.Nano, dp.ReplaceOne, 0, rules{bins: 32, rounds: 14, columnWeight: 0.4, weightShare: 0.15}},
		{346_000, 41, dp.Nano, dp.AddRemove, 0, rules{bins: 32, rounds: 41, columnWeight: 0.4, weightShare: 0.15}},
		{10_000, 1, dp.Nano, dp.ReplaceOne, 0, rules{bins: 32, rounds: 1, columnWeight: 1}},
		// Each of 49 columns is 2·42,000·√(.018·49)/49 = 1,610 Gaussian scales long.
		{42_000, 49, dp.Nano, dp.AddRemove, 0.018, rules{bins: 32, rounds: 49, gaussian: true, columnWeight: 0.4,
			weightShare: 0.15}},
		{42_000, 49, dp.Nano / 10, dp.AddRemove, 0.00018,
			rules{bins: 16, rounds: 5, picks: true, columnWeight: 1 / math.Sqrt(math.Sqrt(5))}},
	} {
		if got := settleMulticlass(Params{Epsilon: c.eps}, c.relation, c.rows, c.columns,
			c.rho); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%d rows, %d columns, ε = %s, %s: %+v, want %+v", c.rows, c.columns, c.eps, c.relation, got, c.want)
		}
	}
}

// A schema that wants what more levels cannot have is refused, by name.
func TestMulticlassPlanRefuses(t *testing.T) {
	for want, set := range map[string]func(s *schema.Schema){
		"label":    func(s *schema.Schema) { s.Label.Levels = s.Label.Levels[:1] },
		"monotone": func(s *schema.Schema) { s.Columns[numberOf(s)].Monotone = schema.Increasing },
		"pairs":    func(s *schema.Schema) { s.Pairs = [][2]int{{0, 1}} },
	} {
		tab, _ := withClasses(setting{func(*Params, *schema.Schema) {}, 0}, 10)
		set(tab.Schema)
		var refused *dp.ParamError
		if _, err := (Params{Epsilon: dp.Nano}).Plan(tab.Schema, 10); !errors.As(err, &refused) || refused.Param != want {
			t.Errorf("%v, want a refusal of %s", err, want)
		}
	}
}

func numberOf(s *schema.Schema) int {
	return slices.IndexFunc(s.Columns, func(c schema.Column) bool {
		return c.Kind == schema.Number && c.Role != schema.Ignored
	})
}

// Two bins and three levels, by hand: each level goes half the way to a
// line from the middle of one to that of the other, at its weight; without privacy
// it keeps its steps.
func TestLevelShapeByHand(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Number, Lower: 0, Upper: 20}}}
	sh := &classShape{
		weight:   0.5,
		steps:    [][]float64{{0, 10}, {4, -6}, {2, 2}},
		variance: [][]float64{{0, 4}, {4, 4}, {16, 0}},
	}
	for _, c := range []struct {
		notPrivate       bool
		edges            []float64
		logShares, noise [][]float64
	}{
		{
			false, []float64{2, 4, 6, 8, 10, 12, 14, 16, 18},
			[][]float64{{0, 0, 0, 0.5, 1, 4, 4.5, 5, 5, 5}, {2, 2, 2, 1.5, 1, -2, -2.5, -3, -3, -3},
				{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
			[][]float64{{0, 0, 0, 0.1, 0.2, 0.8, 0.9, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
				{2, 2, 2, 1.8, 1.6, 0.4, 0.2, 0, 0, 0}},
		},
		{true, []float64{10}, [][]float64{{0, 5}, {2, -3}, {1, 1}}, [][]float64{{0, 1}, {1, 1}, {2, 0}}},
	} {
		pl := &Plan{Params: Params{NotPrivate: c.notPrivate}, schema: s,
			private: []feature.Bins{feature.NewBins(s, 0, []float64{10})}}
		r := &multiclassFit{fit: newFit(pl, nil)}
		got := r.finishShape(&r.bins[0], sh)
		same := func(a, b []float64) bool {
			return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-12 })
		}
		if got.Column != "x" || !same(got.Edges, c.edges) || !slices.EqualFunc(got.LogShares, c.logShares, same) ||
			!slices.EqualFunc(got.Noise, c.noise, same) {
			t.Errorf("not private %t: %+v", c.notPrivate, got)
		}
	}
}

// What a model says of each row is the start and, column by column, the mean of the
// rounds' steps and of the line that they draw, put together row by row.
func TestMulticlassModelEqualsTheNaiveTwin(t *testing.T) {
	lines := 0
	for _, name := range []string{"partly private", "partly private, in turn", "private label",
		"add-remove, weighed", "add-remove, gaussian", "gaussian, bins paid", "eps inf, everything private"} {
		t.Run(name, func(t *testing.T) {
			tab, plan := withClasses(multiclassSettings()[name], 700)
			anyPlan, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			pl := anyPlan.(*Plan)
			m := learntest.Fit(t, pl, tab, &mechtest.Recorder{Script: scripted(3)}, 5)
			got, err := m.Scores(tab.Cols, tab.Rows)
			if err != nil {
				t.Fatal(err)
			}
			r := learnAgain(t, pl, tab)
			w := &twin{tab: tab}
			for i := range tab.Rows {
				p, sum := slices.Clone(r.start.scores), 0.0
				for level := range p {
					for q := range r.start.shapes {
						sh := &r.start.shapes[q]
						p[level] += r.stretch * sh.Steps[level][bin(tab, &sh.Bins, i)]
					}
					for k := range r.shapes {
						if r.shapes[k].steps == nil {
							continue
						}
						bins, steps := &r.bins[k], r.shapes[k].steps[level]
						flat, line := steps[bin(tab, bins, i)], w.line(steps, bins, i)
						if pl.NotPrivate {
							line = flat
						}
						if line != flat {
							lines++
						}
						p[level] += r.stretch * r.shapes[k].weight * (flat + line) / 2
					}
					p[level] = math.Exp(p[level])
					sum += p[level]
				}
				for level := range p {
					if g := got[manyClasses*i+level]; math.Abs(g-p[level]/sum) > 1e-5 {
						t.Fatalf("row %d, level %d: %g, the twin has %g", i, level, g, p[level]/sum)
					}
				}
			}
		})
	}
	if lines == 0 {
		t.Error("no row lies on a line: the twin is blind")
	}
}

// learnAgain goes again through the rounds that learntest.Fit with seed 5 and
// that script went through.
func learnAgain(t *testing.T, pl *Plan, tab *dataset.Table) *multiclassFit {
	t.Helper()
	exit := mech.NewTapedExit(replay.Seeded(5, "learntest"), &mechtest.Recorder{Script: scripted(3)})
	r, err := newFit(pl, learntest.Open(t, pl, learntest.Engine(t, tab), exit)).learnMulticlass(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The weights of columns undo that copies of a column say the same thing
// again: without noise, the log loss of a table with a column five times is nearly that
// of the table with it once.
func TestWeighingUndoesCopies(t *testing.T) {
	loss := func(names ...string) float64 {
		text := "name: w\nunit: one row\nrelation: replace-one\n" +
			"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
		for _, n := range names {
			text += "  - {name: " + n + ", role: private, category: {levels: [a, b, c]}}\n"
		}
		s, err := schema.Parse([]byte(text + "  - {name: y, role: private, label: {levels: [p, q, r], default: p}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		tab := copies(s, len(names))
		pl, err := Params{Epsilon: 100 * dp.Nano}.Plan(s, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		m := learntest.Fit(t, pl, tab, nil, 1)
		scores, err := m.Scores(tab.Cols, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, y := range tab.Labels {
			sum -= math.Log(scores[3*i+int(y)]) / float64(tab.Rows)
		}
		return sum
	}
	once, often := loss("a"), loss("a", "b", "c", "d", "e")
	if math.Abs(once-often) > 0.02 {
		t.Errorf("log loss %.4f with the column once, %.4f with it five times", once, often)
	}
}

// Scores are neither too careful where columns are independent nor too sure where they say the same: without noise the
// calibration error is at most .03, and with it at most .02 more.
func TestClassesAreCalibrated(t *testing.T) {
	for _, c := range []struct{ parts, copies int }{{8, 1}, {3, 5}} {
		train, test := drawClasses(8000, c.parts, c.copies, 1), drawClasses(8000, c.parts, c.copies, 2)
		none := measureFits(t, Params{NotPrivate: true}, train, test, 1)[1]
		private := measureFits(t, Params{Epsilon: dp.Nano}, train, test, 3)[1]
		if t.Logf("%d parts, %d copies: %.3f without noise, %.3f with it", c.parts, c.copies, none, private); none > 0.03 || private > none+0.02 {
			t.Errorf("%d parts, %d copies: calibration error %.3f without noise, %.3f with it", c.parts, c.copies, none, private)
		}
	}
}

// drawClasses is a table of three classes, one of them rarer. Copies of a part differ by as much noise as they share.
func drawClasses(rows, parts, copies int, seed uint64) *dataset.Table {
	text := "name: t\nunit: one row\nrelation: replace-one\nfile: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	for k := range parts * copies {
		text += fmt.Sprintf("  - {name: c%d, role: private, number: {lower: -4, upper: 4.001, default: 0}}\n", k)
	}
	s, err := schema.Parse([]byte(text + "  - {name: y, role: private, label: {levels: [p, q, r], default: p}}\n"))
	if err != nil {
		panic(err)
	}
	t := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows), Cols: make([]column.Column, parts*copies)}
	const values = 81
	src, codes := replay.Seeded(seed, "classes"), make([][]uint32, parts*copies)
	for i := range t.Labels {
		z := []float64{0, -0.3, -1}
		for g := range parts {
			x := gauss(src)
			z[1] += 0.6 * x
			z[2] += 0.6 * x * float64(1-2*(g%2))
			for k := range copies {
				y := x
				if k > 0 {
					y += gauss(src) / 2
				}
				codes[g*copies+k] = append(codes[g*copies+k], uint32(math.Max(0, math.Min(values-1, math.Round(10*y+40)))))
			}
		}
		p, u := []float64{math.Exp(z[0]), math.Exp(z[1]), math.Exp(z[2])}, uniform(src)
		for u *= sumAll(p); t.Labels[i] < 2 && u > p[t.Labels[i]]; t.Labels[i]++ {
			u -= p[t.Labels[i]]
		}
	}
	for k := range codes {
		t.Cols[k].Codes = column.Narrow(codes[k], values)
		for v := range values {
			t.Cols[k].Values = append(t.Cols[k].Values, float64(v)/10-4)
		}
	}
	return t
}

// copies is a table of 60,000 rows whose columns are one and the same.
func copies(s *schema.Schema, columns int) *dataset.Table {
	src := replay.Seeded(5, "copies")
	tab := &dataset.Table{Schema: s, Rows: 60_000}
	codes := make([]uint32, tab.Rows)
	for i := range codes {
		y := uint8(rng.Below(src, 3))
		codes[i] = uint32(y)
		if uniform(src) < 0.4 {
			codes[i] = uint32(rng.Below(src, 3))
		}
		tab.Labels = append(tab.Labels, y)
	}
	tab.Cols = make([]column.Column, len(s.Columns))
	for k := range columns {
		tab.Cols[k] = column.Column{Codes: column.Narrow(codes, 5)}
	}
	return tab
}

// Scores of classes against sums over rows from the definitions.
func TestClassScoresAgreeWithNaiveTwin(t *testing.T) {
	tab := learntest.Levels(censustest.Table(3, 9_000), 4, nil) // more than one block
	eng := learntest.Engine(t, tab)
	start := []float64{0.3, -0.2, 0, 1}
	z := make([][]float64, tab.Rows)
	for i := range z {
		z[i] = slices.Clone(start)
	}
	scores := statistic.NewStepScore(start)
	ctx := context.Background()
	for q, j := range tab.Schema.Features()[:4] {
		sh := &feature.LevelShape{Bins: feature.NewBins(tab.Schema, j, []float64{20, 40, 60})}
		for k := range start {
			sh.Steps = append(sh.Steps, make([]float64, sh.Len()))
			for b := range sh.Len() {
				sh.Steps[k][b] = 2 * math.Sin(float64(7*q+3*b+5*k))
			}
		}
		const most = 0.4
		got, err := statistic.ClassSlope{Under: scores, Along: sh, Most: most}.Of(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		rest, err := statistic.ClassResiduals{Under: scores, Bins: sh.Bins}.Of(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		cells, err := statistic.ClassCells{Bins: []feature.Bins{sh.Bins}}.Of(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		var gain, half, gainOfAll, halfOfAll float64
		up, down, rows := matrix(4, sh.Len()), matrix(4, sh.Len()), matrix(4, sh.Len())
		byCode := sh.ByCode(&tab.Cols[j])
		for i, y := range tab.Labels {
			b := byCode[tab.Cols[j].Codes.At(i)]
			rows[y][b]++
			p, sum := make([]float64, 4), 0.0
			for k := range p {
				p[k] = math.Exp(z[i][k])
				sum += p[k]
			}
			mean, square := 0.0, 0.0
			for k := range p {
				p[k] /= sum
				mean += p[k] * sh.Steps[k][b]
				square += p[k] * sh.Steps[k][b] * sh.Steps[k][b]
				if k != int(y) {
					down[k][b] += p[k]
				}
			}
			up[y][b] += 1 - p[y]
			g, h := sh.Steps[y][b]-mean, (square-mean*mean)/2
			shorter := math.Min(1, most/(math.Abs(g)+h))
			gain, half = gain+g*shorter/most, half+h*shorter/most
			mean, square = 0.0, 0.0
			for k := range p {
				x := z[i][k] - start[k]
				mean += p[k] * x
				square += p[k] * x * x
			}
			g, h = z[i][y]-start[y]-mean, (square-mean*mean)/2
			shorter = math.Min(1, most/math.Max(math.Abs(g)+h, 1e-9))
			gainOfAll, halfOfAll = gainOfAll+g*shorter/most, halfOfAll+h*shorter/most
			for k := range z[i] {
				z[i][k] += 0.7 * sh.Steps[k][b]
			}
		}
		near := func(what string, units int64, want float64) {
			if g := float64(units) / (1 << 20); math.Abs(g-want) > 1e-4*(1+math.Abs(want))+0.01 {
				t.Errorf("column %d: %s is %g, the twin has %g", q, what, g, want)
			}
		}
		near("gain", got.Gain, gain)
		near("curve", got.HalfCurve, half)
		whole, err := statistic.ClassSlope{Under: scores, Most: most}.Of(ctx, eng)
		if err != nil {
			t.Fatal(err)
		}
		near("gain of the whole score", whole.Gain, gainOfAll)
		near("curve of the whole score", whole.HalfCurve, halfOfAll)
		for k := range start {
			for b := range sh.Len() {
				near("residual", rest[k][b], up[k][b]-down[k][b])
				if float64(cells[0][k][b]) != rows[k][b] {
					t.Errorf("column %d, level %d, bin %d: %d rows, the twin has %g", q, k, b, cells[0][k][b], rows[k][b])
				}
			}
		}
		scores.AddShape(sh, 0.7)
	}
}

func matrix(levels, bins int) (out [][]float64) {
	for range levels {
		out = append(out, make([]float64, bins))
	}
	return out
}
