// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"errors"
	"go/token"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// No method takes a function, a channel or an interface, a context among them: what a learner hands
// over is data, which the guard copies, and none of it can be called by code that touches rows.
func TestLearnersHandOverDataAlone(t *testing.T) {
	for _, m := range append(methods(), methodsOf(reflect.TypeFor[*perturbed.Rows]())...) {
		for k := 1; k < m.of.Type.NumIn(); k++ {
			if what := calls(m.of.Type.In(k), map[reflect.Type]bool{}); what != "" {
				t.Errorf("%s takes %s, which holds %s", m.name, m.of.Type.In(k), what)
			}
		}
	}
	for _, take := range []any{mistakes.Read, perturbed.OneVersusRest} {
		for k := range reflect.TypeOf(take).NumIn() {
			if what := calls(reflect.TypeOf(take).In(k), map[reflect.Type]bool{}); what != "" {
				t.Errorf("%T takes %s", take, what)
			}
		}
	}
	if calls(reflect.TypeFor[context.Context](), map[reflect.Type]bool{}) == "" ||
		calls(reflect.TypeFor[struct{ F []func() }](), map[reflect.Type]bool{}) == "" {
		t.Error("the search is blind")
	}
}

// calls returns a type within t whose values can be called; "" if there is none. Sums, guards and
// their like are made by the guard itself.
func calls(t reflect.Type, seen map[reflect.Type]bool) string {
	if seen[t] {
		return ""
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Func, reflect.Chan, reflect.Interface, reflect.UnsafePointer, reflect.Map:
		return t.String()
	case reflect.Pointer, reflect.Slice, reflect.Array:
		if strings.HasSuffix(t.Elem().PkgPath(), "internal/guard") && t.Kind() == reflect.Pointer {
			return ""
		}
		return calls(t.Elem(), seen)
	case reflect.Struct:
		for k := range t.NumField() {
			if what := calls(t.Field(k).Type, seen); what != "" {
				return what
			}
		}
	}
	return ""
}

// counted is a caller's context that counts what is asked of it.
type counted struct {
	context.Context
	calls *atomic.Int64
}

func (c counted) Deadline() (time.Time, bool) { c.calls.Add(1); return c.Context.Deadline() }
func (c counted) Done() <-chan struct{}       { c.calls.Add(1); return c.Context.Done() }
func (c counted) Err() error                  { c.calls.Add(1); return c.Context.Err() }
func (c counted) Value(key any) any           { c.calls.Add(1); return c.Context.Value(key) }

// asking is a plan that asks every question about rows, and keeps the context that it is given.
type asking struct {
	said
	ask func(ctx context.Context, g *guard.Guard)
}

func (a asking) Fit(ctx context.Context, g *guard.Guard) (saying, error) {
	a.ask(ctx, g)
	return a.said.Fit(ctx, g)
}

// askAll asks all that reads rows.
func askAll(t *testing.T, g *guard.Guard) {
	s := g.Schema()
	bins := []feature.Bins{feature.NewBins(s, s.Features()[0], []float64{30})}
	f := guard.NewStepScore([]float64{0, 0})
	must := func(_ any, err error) {
		if err != nil {
			t.Error(err)
		}
	}
	must(g.ClassCells(bins))
	must(g.Cells(nil, bins, guard.FullCaps))
	must(g.Groups(s.ByRole(schema.Public)))
	must(g.ClassResiduals(f, &bins[0]))
	must(g.ClassSlope(f, &feature.LevelShape{Bins: bins[0], Steps: [][]float64{{0, 1}, {1, 0}}}, 0, 1))
	must(g.GridSlopes(guard.NewStepScore([]float64{0}), guard.SlopeLimit{Most: 1}, []feature.Grid{{Axes: bins}}))
	space, err := feature.NewSpace(s, feature.Ordinal, s.Features())
	must(nil, err)
	threshold := feature.Threshold{Coef: make([]float64, space.Width()), Bias: 1}
	must(mistakes.Read(g, mistakes.Question{Space: space, C1: 2, C2: 2, List: []feature.Threshold{threshold}}))
	views, err := perturbed.OneVersusRest(g)
	must(nil, err)
	p := &perturbed.Problem{Space: space, Norm: 1, Reg: 1, Output: true, Noise: perturbed.Gamma, Epsilon: dp.Nano / 10}
	must(views[0].Minimise(p))
	must(views[0].ChooseCut("all", dp.Nano/10, p, make([]float64, space.Width()+1), perturbed.Cuts{Step: 1, Count: 2}))
}

// publicAndPrivate is a table with columns of both roles.
func publicAndPrivate(rows int) *dataset.Table {
	tab := censustest.Table(1, rows)
	tab.Schema = tab.Schema.Clone()
	tab.Schema.Relation, tab.Schema.Label.Role = dp.ReplaceOne, schema.Private
	tab.Schema.Columns[tab.Schema.Features()[0]].Role = schema.Private
	for _, public := range []string{"sex", "household_size"} {
		tab.Schema.Columns[tab.Schema.Find(public)].Role = schema.Public
	}
	return tab
}

// How often a caller's context is called does not depend on the rows, on either side of a chunk of
// them: a learner's own, which is all that a learner may have put there.
func TestContextsAreNotCalledByRow(t *testing.T) {
	line := guard.Share{Epsilon: dp.Nano}.Line("all")
	count := func(rows int) int64 {
		var calls atomic.Int64
		pl := asking{said: said{termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano}, line), func(*dp.Statement) {}},
			ask: func(_ context.Context, g *guard.Guard) { askAll(t, g) }}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		if _, err := guard.Train(counted{ctx, &calls}, pl, learntest.Engine(t, publicAndPrivate(rows)), guard.Uncounted{},
			mech.NewExit(replay.Seeded(1, "context"))); err != nil {
			t.Fatal(err)
		}
		return calls.Load()
	}
	few := count(10)
	for _, rows := range []int{1 << 10, 1<<10 + 1, 1<<12 + 1} {
		if n := count(rows); n != few {
			t.Errorf("a context is called %d times with 10 rows, %d with %d", few, n, rows)
		}
	}
}

// A caller's cancellation ends a training in the next question, with its own reason; and afterwards a
// guard answers nothing.
func TestCancellationEndsQuestions(t *testing.T) {
	line := guard.Share{Epsilon: dp.Nano}.Line("all")
	late, ctx := (*guard.Guard)(nil), context.Context(nil)
	ask := func(g *guard.Guard) error {
		_, err := g.ClassCells([]feature.Bins{feature.NewBins(g.Schema(), g.Schema().Features()[0], nil)})
		return err
	}
	for name, end := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"cancelled": context.WithCancel,
		"too late": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, stop := context.WithDeadline(ctx, time.Now().Add(-1))
			return ctx, stop
		},
	} {
		caller, stop := end(t.Context())
		defer stop()
		pl := asking{said: said{termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, line), func(*dp.Statement) {}},
			ask: func(own context.Context, g *guard.Guard) {
				late, ctx = g, own
				stop()
				if err := ask(g); !errors.Is(err, caller.Err()) || own.Err() == nil {
					t.Errorf("%s: error %v, want %v", name, err, caller.Err())
				}
			}}
		_, _ = guard.Train(caller, pl, tableOf(dp.ReplaceOne, schema.Private, 9), guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "late")))
	}
	pl := asking{said: said{termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, line), func(*dp.Statement) {}},
		ask: func(own context.Context, g *guard.Guard) { late, ctx = g, own }}
	if _, err := guard.Train(t.Context(), pl, tableOf(dp.ReplaceOne, schema.Private, 9), guard.Uncounted{},
		mech.NewExit(replay.Seeded(1, "late"))); err != nil {
		t.Fatal(err)
	}
	if ctx.Err() == nil || ask(late) == nil {
		t.Error("a guard answers after its training")
	}
}

// watched notes in which memory the questions to a table lie.
type watched struct {
	engine.Table
	seen map[uintptr]string
}

func (w *watched) Sum(ctx context.Context, of engine.Statistic) ([]int64, error) {
	w.note("a statistic", of)
	return w.Table.Sum(ctx, of)
}

func (w *watched) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	w.note("columns", cols)
	return w.Table.Groups(ctx, cols)
}

func (w *watched) Mistakes(ctx context.Context, sp *feature.Space, cs []feature.Threshold) (*engine.Patterns, error) {
	w.note("a space", sp)
	w.note("classifiers", cs)
	return w.Table.Mistakes(ctx, sp, cs)
}

func (w *watched) Margins(ctx context.Context, sp *feature.Space, r engine.Rows) (engine.Margins, error) {
	w.note("a space", sp)
	return w.Table.Margins(ctx, sp, r)
}

func (w *watched) note(what string, x any) {
	for at := range memoryOf(x) {
		w.seen[at] = what
	}
}

// memoryOf lists where all that x refers to lies.
func memoryOf(x any) map[uintptr]bool {
	at := map[uintptr]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() && !at[v.Pointer()] {
				at[v.Pointer()] = true
				walk(v.Elem())
			}
		case reflect.Slice:
			if v.Cap() > 0 {
				at[v.Pointer()] = true
			}
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Array:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i))
			}
		case reflect.Interface:
			if !v.IsNil() {
				walk(v.Elem())
			}
		}
	}
	walk(reflect.ValueOf(x))
	return at
}

// A table is asked with copies of what a learner hands over, and what a learner is given is no memory
// of the table or of the guard.
func TestLearnersShareNoMemoryWithRows(t *testing.T) {
	tab := publicAndPrivate(40)
	tab.Schema.Label.Role = schema.Public
	w := &watched{learntest.Engine(t, tab), map[uintptr]string{}}
	g, err := guard.Open(t.Context(), termsOf(dp.PrivateFeatures, dp.Price{Epsilon: dp.Nano}, guard.Share{Epsilon: dp.Nano}.Line("all")),
		w, guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "memory")))
	if err != nil {
		t.Fatal(err)
	}
	s := g.Schema()
	columns := []int{s.Find("sex"), s.Find("household_size")}
	bins := []feature.Bins{feature.NewBins(s, s.Features()[0], []float64{30})}
	pair := []feature.Bins{feature.Cross(bins[0], bins[0]), feature.CutScore(&feature.Additive{Shapes: []feature.Shape{{Bins: bins[0],
		Steps: []float64{1, 2}}}}, []float64{0})}
	grids := []feature.Grid{{Axes: bins}}
	score := &feature.Additive{Shapes: []feature.Shape{{Bins: bins[0], Steps: []float64{1, 2}}}, Clip: &feature.Clip{}}
	steps, alone := guard.NewStepScore([]float64{0, 0}), guard.NewStepScore([]float64{0})
	shape := &feature.LevelShape{Bins: bins[0], Steps: [][]float64{{0, 1}, {1, 0}}}
	steps.AddShape(shape, 1)
	alone.AddGrid(grids[0], []float64{1, 2})
	space, _ := feature.NewSpace(s, feature.Ordinal, s.Features())
	list := []feature.Threshold{{Coef: make([]float64, space.Width()), Bias: 1}}
	shapes := []mistakes.Shape{{Votes: []int{1}}}
	handed := map[uintptr]bool{}
	for _, x := range []any{columns, bins, pair, grids, score, steps, alone, shape, space, list, shapes} {
		for at := range memoryOf(x) {
			handed[at] = true
		}
	}
	must := func(_ any, err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(g.ClassCells(bins))
	must(g.Cells(score, pair, guard.FullCaps))
	must(g.ClassResiduals(steps, &bins[0]))
	must(g.ClassSlope(steps, shape, 0, 1))
	must(g.GridSlopes(alone, guard.SlopeLimit{Most: 1}, grids))
	must(mistakes.Read(g, mistakes.Question{Space: space, C1: 2, C2: 2, List: list, Shapes: shapes}))
	groups, err := g.Groups(columns)
	must(nil, err)
	rows, err := perturbed.OneVersusRest(g)
	must(nil, err)
	must(rows[0].Minimise(&perturbed.Problem{Space: space, Norm: 1, Reg: 1, Output: true, Noise: perturbed.Gamma, Epsilon: dp.Nano / 10}))
	for at, what := range w.seen {
		if handed[at] {
			t.Errorf("%s that a table is asked with is the learner's own", what)
		}
	}
	if len(w.seen) < 20 {
		t.Errorf("%d places are seen: the search is blind", len(w.seen))
	}
	given := []any{s, g.Schema(), groups.Groups, g.Terms()}
	of := []any{tab, w.Table.Schema(), w.Schema()}
	all, err := w.Table.Groups(t.Context(), columns)
	must(nil, err)
	for at := range memoryOf(given) {
		for _, x := range append(of, all) {
			if memoryOf(x)[at] {
				t.Errorf("a learner is given memory of a %T", x)
			}
		}
	}
}

// What is written over a guard is that guard: a sum is measured by the one that made it alone, and no
// part is paid as another.
func TestCopiesOfGuardsAreTheSame(t *testing.T) {
	tab := learntest.WithPersons(publicAndPrivate(20), replay.Seeded(1, "persons"), 3)
	line := guard.Share{Epsilon: dp.Nano / 4}.Line("all")
	g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, line, line, line, line), learntest.Engine(t, tab),
		guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "copies")))
	if err != nil {
		t.Fatal(err)
	}
	group, err := g.DrawGroup(3, termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano / 4}, line))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := group.ClassCells([]feature.Bins{feature.NewBins(tab.Schema, tab.Schema.Features()[0], nil)})
	if err != nil {
		t.Fatal(err)
	}
	*group = *g // which would pay once for a row of which a person has three
	if _, err := group.Measure("all", guard.Share{Epsilon: dp.Nano / 4}, cells.Part(0)); err == nil {
		t.Error("a sum is measured by a guard that did not make it")
	}
}

// Whatever goroutines do at once, no more is measured than was paid.
func TestOnePriceIsSpentOnce(t *testing.T) {
	const most, tries = 8, 200
	tab := publicAndPrivate(9)
	share := guard.Share{Epsilon: dp.Nano / most}
	line := share.Line("all")
	tape := &mechtest.Recorder{}
	g, err := guard.Open(t.Context(), termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano}, slices.Repeat([]dp.Event{line}, most)...),
		learntest.Engine(t, tab), guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "once"), tape))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := g.ClassCells([]feature.Bins{feature.NewBins(tab.Schema, tab.Schema.Features()[0], nil)})
	if err != nil {
		t.Fatal(err)
	}
	var measured, parts atomic.Int64
	var all sync.WaitGroup
	copied, sum := *g, cells.Part(0)
	for k := range 4 {
		g := []*guard.Guard{g, &copied}[k%2]
		all.Go(func() {
			for i := range tries {
				if (i+k)%2 == 0 {
					if part, err := g.Part(termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano / most}, line)); err == nil {
						parts.Add(1)
					} else if part != nil {
						t.Error("a part that is not paid is a guard")
					}
				} else if _, err := g.Measure("all", share, sum); err == nil {
					measured.Add(1)
				}
			}
		})
	}
	all.Wait()
	if n := measured.Load() + parts.Load(); n != most || int(measured.Load()) != len(tape.Passages) {
		t.Errorf("%d of %d prices are spent (%d releases, %d parts)", n, most, len(tape.Passages), parts.Load())
	}
}

// While one release is made, nothing else is paid, drawn or settled.
func TestReleasesAreMadeOneByOne(t *testing.T) {
	tab := learntest.WithPersons(publicAndPrivate(20), replay.Seeded(1, "persons"), 3)
	eighth := guard.Share{Epsilon: dp.Nano / 8}
	inner := termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano / 8}, eighth.Line("all"))
	var g *guard.Guard
	var sum *guard.Sum
	var scores *guard.Scores
	others := map[string]func(){
		"a release": func() { _, _ = g.Measure("all", eighth, sum) },
		"a choice":  func() { _, _ = g.Select("all", eighth, scores) },
		"a part":    func() { _, _ = g.Part(inner) },
		"a group":   func() { _, _ = g.DrawGroup(1, inner) },
		"weights":   func() { _ = g.WeighPersons(1) },
		"a drawing": func() { g.DrawRows() },
		"a coin":    func() { g.Coins().Uint64() },
	}
	for name, other := range others {
		var done atomic.Bool
		var all sync.WaitGroup
		started := false
		tape := &mechtest.Recorder{Script: func(int, mechtest.Passage) []float64 {
			if !started {
				started = true
				all.Go(func() {
					other()
					done.Store(true)
				})
				for k := 0; k < 2000 && !done.Load(); k++ {
					runtime.Gosched()
				}
				if done.Load() {
					t.Errorf("%s is made while noise is drawn", name)
				}
			}
			return nil
		}}
		var err error
		g, err = guard.Open(t.Context(), termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano}, slices.Repeat([]dp.Event{eighth.Line("all")}, 8)...),
			learntest.Engine(t, tab), guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "one by one"), tape))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.WeighPersons(1); err != nil {
			t.Fatal(err)
		}
		cells, err := g.Cells(nil, []feature.Bins{feature.NewBins(tab.Schema, tab.Schema.Features()[0], nil)}, guard.FullCaps)
		if err != nil {
			t.Fatal(err)
		}
		sum, scores = cells.Part(0), cells.Imbalances([]int{0})
		if _, err := g.Measure("all", eighth, sum); err != nil {
			t.Fatal(err)
		}
		all.Wait()
	}
}

// A vector of a group counts once, whoever adds it.
func TestVectorsAddedAtOnceCountOnce(t *testing.T) {
	tab, tape := publicAndPrivate(9), &mechtest.Recorder{}
	rho := guard.Share{Rho: 1_000_000_000}
	g, err := guard.Open(t.Context(), termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano, Delta: dp.Femto / 1000}, rho.Line("all")),
		learntest.Engine(t, tab), guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "vectors"), tape))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := g.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	vectors := groups.ClassVectors(0, 1)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { vectors.Add(0, []float64{1}) })
	}
	all.Wait()
	if _, err := g.Measure("all", rho, vectors.Sum()); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, label := range tab.Labels {
		rows += int(1 - label)
	}
	if got := tape.Passages[0].Values[0].Float(); got != float64(rows) {
		t.Errorf("%d rows count for %g", rows, got)
	}
}

// What is begun on groups goes on with them, even if a learner writes other groups over its own: a row
// of two groups would count twice.
func TestSumsKeepTheirGroups(t *testing.T) {
	tab, tape, rho := publicAndPrivate(40), &mechtest.Recorder{}, guard.Share{Rho: 1_000_000_000}
	g, err := guard.Open(t.Context(), termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano, Delta: dp.Femto / 1000},
		rho.Line("all"), rho.Line("all"), rho.Line("all"), rho.Line("all")), learntest.Engine(t, tab), guard.Uncounted{},
		mech.NewTapedExit(replay.Seeded(1, "groups"), tape))
	if err != nil {
		t.Fatal(err)
	}
	sum := func(means, overwrite bool) []mech.Ratio {
		by := [2]*guard.Groups{}
		for k, column := range tab.Schema.ByRole(schema.Public)[:2] {
			if by[k], err = g.Groups([]int{column}); err != nil {
				t.Fatal(err)
			}
		}
		vectors := by[0].ClassVectors(0, 1)
		list, err := by[0].ClassMeans([]int{0}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for group := range 2 {
			vectors.Add(group, []float64{1})
			list.Add(group, 0, 1)
			if overwrite {
				*by[0] = *by[1]
			}
		}
		s := vectors.Sum()
		if means {
			s = list.Sum()
		}
		if _, err := g.Measure("all", rho, s); err != nil {
			t.Fatal(err)
		}
		return tape.Passages[len(tape.Passages)-1].Values
	}
	for _, means := range []bool{false, true} {
		if kept, written := sum(means, false), sum(means, true); !slices.Equal(kept, written) {
			t.Errorf("rows of two groupings are in one sum (means %t): %v, not %v", means, written, kept)
		}
	}
}

// What holds rows holds nothing else that a learner can name, and so write over.
func TestHandedValuesHoldNoOther(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(of reflect.Type)
	look = func(of reflect.Type) {
		if of.Kind() != reflect.Struct || seen[of] {
			return
		}
		seen[of] = true
		for f := range of.NumField() {
			to := of.Field(f).Type
			if to.Kind() == reflect.Pointer && strings.Contains(to.Elem().PkgPath(), "/internal/guard") && token.IsExported(to.Elem().Name()) {
				t.Errorf("%s holds a pointer to a %s, which its learner can write over", of, to.Elem())
			}
			look(to)
		}
	}
	for _, m := range append(methods(), methodsOf(reflect.TypeFor[*perturbed.Rows]())...) {
		look(m.of.Type.In(0).Elem())
	}
	if len(seen) < 10 {
		t.Error("the search is blind")
	}
}

// crowded has more rows in a group than any table of a test could hold.
type crowded struct {
	engine.Table
	rows uint64
}

func (c crowded) Groups(context.Context, []int) (*engine.Groups, error) {
	return &engine.Groups{Len: 2, Counts: [][]uint64{{c.rows, 0}, {0, c.rows}}}, nil
}

// No sum overflows, however many persons there are (1.7), and vectors of few rows have all their bits.
func TestVectorsOfManyPersonsDoNotOverflow(t *testing.T) {
	for _, rows := range []uint64{1, 8_388_608, 1 << 31} {
		tab := learntest.WithPersons(censustest.Table(1, 9), replay.Seeded(1, "persons"), 1)
		tab.Schema.Relation, tab.Schema.Label.Role = dp.ReplaceOne, schema.Private
		tape := &mechtest.Recorder{}
		rho := guard.Share{Rho: 1_000_000_000}
		g, err := guard.Open(t.Context(), termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano, Delta: dp.Femto / 1000}, rho.Line("all")),
			manyPersons{learntest.Engine(t, tab), rows}, guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "crowd"), tape))
		if err != nil {
			t.Fatal(err)
		}
		if err := g.WeighPersons(1); err != nil {
			t.Fatal(err)
		}
		groups, err := g.Groups(nil)
		if err != nil {
			t.Fatal(err)
		}
		vectors := groups.ClassVectors(1, 2)
		vectors.Add(1, []float64{-1, 0})
		vectors.Add(0, []float64{1, 0})
		if _, err := g.Measure("all", rho, vectors.Sum()); err != nil {
			t.Fatal(err)
		}
		v := tape.Passages[0].Values
		if v[0].Float() != -float64(rows) || v[0].Num <= -1<<62 || rows == 1 && v[0].Den != 1<<20*guard.WeightOne {
			t.Errorf("%d persons add up to %g (%d of %d)", rows, v[0].Float(), v[0].Num, v[0].Den)
		}
	}
}

// manyPersons weighs persons of which there are so many.
type manyPersons struct {
	engine.Table
	rows uint64
}

func (m manyPersons) Persons() engine.Persons { return weighingMany{m.Table.Persons(), m.rows} }

type weighingMany struct {
	engine.Persons
	rows uint64
}

func (w weighingMany) Weigh(most int) engine.Table {
	return crowded{w.Persons.Weigh(most), w.rows * guard.WeightOne}
}
