// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// open is New of a table that it takes.
func open(t testing.TB, tab *dataset.Table) *Table {
	t.Helper()
	m, err := New(tab)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// personTable is a random table whose rows belong to so many persons, some to no one.
func personTable(seed uint64, rows, persons int) *dataset.Table {
	t := random(seed, rows)
	s := *t.Schema
	s.Person = &schema.Person{Column: "skip", Rows: 1}
	t.Schema = &s
	src := replay.Seeded(seed, "persons")
	for range rows {
		t.Persons = append(t.Persons, uint32(rng.Below(src, uint64(persons+1))))
	}
	return t
}

// A person's rows weigh at most what a person may, and within a unit for each row as much.
func TestPersonWeightsHoldAndReachTheirBound(t *testing.T) {
	for _, most := range []int{1, 2, 3, 7, 100, schema.MaxPersonRows} {
		for _, rows := range []int{1, 2, 3, 6, 7, 8, 99, 100, 101, 1 << 20, 1<<20 + 1, 1<<31 - 1} {
			all := uint64(engine.PersonWeight(most, rows)) * uint64(rows)
			bound := uint64(min(most, rows)) * engine.WeightOne
			if all > bound || all+uint64(rows) <= bound {
				t.Errorf("%d rows of a person who may weigh %d weigh %d units, the bound is %d", rows, most, all, bound)
			}
		}
	}
}

// Answers are those of a twin that adds up weights row by row, whatever the order of the rows, and
// rows of no one count for nothing.
func TestWeighedAnswersEqualATwin(t *testing.T) {
	ctx := context.Background()
	tab := personTable(3, 5000, 700)
	order := make([]int, tab.Rows)
	for i := range order {
		order[i] = tab.Rows - 1 - i
	}
	counts, _ := tab.CountPersons()
	for _, tab := range []*dataset.Table{tab, tab.Subset(order)} {
		m := open(t, tab)
		weighed := m.Persons().Weigh(2)
		bins := []feature.Bins{feature.NewBins(tab.Schema, 0, []float64{0}), feature.NewGroups(1, make([]uint32, 4), 1)}
		cells, err := statistic.Cells{Bins: bins, Caps: statistic.FullCaps}.Of(ctx, weighed)
		if err != nil {
			t.Fatal(err)
		}
		classes, err := statistic.ClassCells{Bins: bins}.Of(ctx, weighed)
		if err != nil {
			t.Fatal(err)
		}
		groups, err := weighed.Groups(ctx, []int{1, 4})
		if err != nil {
			t.Fatal(err)
		}
		want := [2]uint64{}
		for i, p := range tab.Persons {
			if p != dataset.Nobody {
				want[tab.Labels[i]] += uint64(math.Floor(math.Min(1, 2/float64(counts[p])) * engine.WeightOne))
			}
		}
		for label, sum := range want {
			byGroup := uint64(0)
			for _, n := range groups.Counts[label] {
				byGroup += n
			}
			got := []int64{classes[0][label][0] + classes[0][label][1], classes[1][label][0], int64(byGroup),
				cells[1].Positive[0]}
			if label == 1 {
				got[3] = cells[1].Negative[0]
			}
			for k := range got {
				if got[k] != int64(sum) {
					t.Errorf("label %d, answer %d: %d units, want %d", label, k, got[k], sum)
				}
			}
		}
	}
}

// A person of whom a part has some rows weighs by those alone: weights are settled after the
// filter.
func TestWeightsAreThoseOfTheRowsThatAreLeft(t *testing.T) {
	tab := personTable(4, 60, 6)
	var kept []int
	seen := map[uint32]bool{}
	for i, p := range tab.Persons {
		if !seen[p] && p != dataset.Nobody {
			kept, seen[p] = append(kept, i), true
		}
	}
	m := open(t, tab.Subset(kept))
	for i, w := range m.Persons().Weigh(1).(*Table).weights {
		if w != engine.WeightOne {
			t.Errorf("the only row of person %d weighs %d units", tab.Persons[kept[i]], w)
		}
	}
}

// A view of one class against the others weighs rows as the table does.
func TestViewsKeepWhatPersonsAllow(t *testing.T) {
	m := open(t, personTable(5, 50, 9))
	bins := []feature.Bins{feature.NewBins(m.Schema(), 0, []float64{0})}
	total := func(tab engine.Table) (sum int64) {
		cells, err := statistic.ClassCells{Bins: bins}.Of(t.Context(), tab)
		if err != nil {
			t.Fatal(err)
		}
		for _, rows := range cells[0] {
			for _, x := range rows {
				sum += x
			}
		}
		return sum
	}
	weighed := m.Persons().Weigh(1)
	if want := total(weighed); total(weighed.Against(1)) != want || want >= 50*engine.WeightOne {
		t.Errorf("the view weighs %d units, the table %d", total(weighed.Against(1)), want)
	}
}

// Before it is settled what a person counts for there is no answer, and a table with weights
// refuses to count rows.
func TestNobodyCountsRowsOfPersons(t *testing.T) {
	ctx := context.Background()
	m := open(t, personTable(5, 50, 9))
	bins := []feature.Bins{feature.NewBins(m.Schema(), 0, []float64{0})}
	sp, err := feature.NewSpace(m.Schema(), feature.OneHot, []int{0})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(tab engine.Table) (errs []error) {
		_, a := statistic.Cells{Bins: bins, Caps: statistic.FullCaps}.Of(ctx, tab)
		_, b := statistic.ClassCells{Bins: bins}.Of(ctx, tab)
		_, c := tab.Groups(ctx, []int{1})
		_, d := tab.Mistakes(ctx, sp, []feature.Threshold{{Coef: make([]float64, sp.Width())}})
		_, e := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 1, Norm: math.MaxFloat64},
			Coef: make([]float64, sp.Width()+1), Value: true, Hess: true}.Floats(ctx, tab)
		_, f := tab.Margins(ctx, sp, engine.Rows{Scale: 1, Norm: 1})
		_, g := solver.Losses{Space: sp, Rows: engine.Rows{Scale: 1, Norm: 1}, Coef: make([]float64, sp.Width()+1),
			Value: true, Hess: true}.Floats(ctx, tab)
		_, h := statistic.GridSlopes{Under: &statistic.StepScore{Start: []int64{0}}, Limit: statistic.SlopeLimit{Most: 1}, Grids: []feature.Grid{{Axes: bins}}}.Of(ctx, tab)
		_, i := statistic.ClassResiduals{Under: &statistic.StepScore{Start: []int64{0, 0}}, Bins: bins[0]}.Of(ctx, tab)
		return []error{a, b, c, i, d, e, f, g, h}
	}
	for k, err := range ask(m) {
		if err == nil {
			t.Errorf("question %d was answered of rows that nobody settled", k)
		}
	}
	for k, err := range ask(m.Persons().Weigh(1)) {
		if (err != nil) != (k >= 4) {
			t.Errorf("question %d of weighed rows: %v", k, err)
		}
	}
	below := func(n uint64) uint64 { return n - 1 }
	for _, tab := range []engine.Table{m.Persons().Ignore(), m.Persons().Draw(1, false, below)} {
		for k, err := range ask(tab) {
			if err != nil || tab.Persons() != nil || tab.Schema().Person != nil {
				t.Errorf("question %d of rows that count once: %v", k, err)
			}
		}
	}
	if _, err := New(&dataset.Table{Schema: m.Schema(), Labels: []uint8{}}); err == nil {
		t.Error("a table that does not know whose its rows are was taken")
	}
}

// Each row of a person stays with the same chance, wherever it lies.
func TestWhoIsDrawnDoesNotDependOnOrder(t *testing.T) {
	tab := personTable(6, 12, 1)
	values := make([]uint32, tab.Rows)
	for i := range values {
		tab.Persons[i], values[i] = 1, uint32(i)
	}
	tab.Cols[4].Codes.U8, tab.Cols[4].Codes.U16, tab.Cols[4].Codes.U32 = nil, nil, values
	m := open(t, tab)
	const draws = 12_000
	counts := make([]int, tab.Rows)
	src := replay.Seeded(1, "draws")
	for range draws {
		one := m.Persons().Draw(1, false, func(n uint64) uint64 { return rng.Below(src, n) }).(*Table)
		if one.Rows() != 1 {
			t.Fatalf("%d rows of one person", one.Rows())
		}
		counts[one.t.Cols[4].Codes.At(0)]++
	}
	// Each count has mean 1,000 and standard deviation 30; the seed is fixed.
	if least, most := slices.Min(counts), slices.Max(counts); least < 850 || most > 1150 {
		t.Errorf("of 12 rows one was drawn %d times in %d, another %d times", least, draws, most)
	}
}

// Drawn to the full, everyone has as many rows: more than that are cut, fewer come again, each as
// often as any other of the person's but for one.
func TestDrawFillsUp(t *testing.T) {
	tab := personTable(6, 12, 1)
	values := make([]uint32, tab.Rows)
	for i := range values { // persons 1, 2 and 3 have 1, 2 and 8 rows, and one row is no one's
		tab.Persons[i], values[i] = []uint32{1, 2, 2, dataset.Nobody, 3, 3, 3, 3, 3, 3, 3, 3}[i], uint32(i)
	}
	tab.Cols[4].Codes.U8, tab.Cols[4].Codes.U16, tab.Cols[4].Codes.U32 = nil, nil, values
	m := open(t, tab)
	src := replay.Seeded(3, "draws")
	for range 100 {
		drawn := m.Persons().Draw(5, true, func(n uint64) uint64 { return rng.Below(src, n) }).(*Table)
		times := map[int]int{}
		for i := range drawn.Rows() {
			times[int(drawn.t.Cols[4].Codes.At(i))]++
		}
		if drawn.Rows() != 15 || times[0] != 5 || times[1]+times[2] != 5 || min(times[1], times[2]) != 2 || times[3] != 0 {
			t.Fatalf("rows are drawn so often: %v", times)
		}
		for row := 4; row < 12; row++ {
			if times[row] > 1 {
				t.Fatalf("of eight rows of a person one is drawn %d times for five", times[row])
			}
		}
	}
}

// Rows are drawn as by a twin that sorts every person's rows by their lots, and a row's lot does
// not depend on which rows are asked for together.
func TestDrawnRowsEqualATwin(t *testing.T) {
	lots := NewLots(rand.New(rand.NewPCG(3, 4)).Uint64N)
	whole := lots.between(0, 1000)
	for _, cut := range [][2]int{{0, 0}, {0, 1}, {1, 2}, {1, 1000}, {37, 38}, {500, 731}} {
		if !slices.Equal(lots.between(cut[0], cut[1]), whole[cut[0]:cut[1]]) {
			t.Errorf("rows from %d to %d have other lots by themselves", cut[0], cut[1])
		}
	}
	of := personTable(9, 20_000, 3000).Persons
	whole = lots.between(0, len(of))
	rowsOf := map[uint32][]int{}
	for i, person := range of {
		rowsOf[person] = append(rowsOf[person], i)
	}
	delete(rowsOf, dataset.Nobody)
	for _, c := range []struct {
		most int
		fill bool
	}{{1, false}, {1, true}, {3, false}, {7, true}, {64, true}} {
		var want []int
		for _, rows := range rowsOf {
			slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(whole[a], whole[b]) })
			for k := range c.most {
				if k < len(rows) || c.fill {
					want = append(want, rows[k%len(rows)])
				}
			}
		}
		slices.Sort(want)
		d := NewDrawing(c.most, c.fill)
		d.Add(&lots, 0, of[:777])
		d.Add(&lots, 777, of[777:])
		if !slices.Equal(d.Rows(), want) {
			t.Errorf("%d rows of each person, filled up %v: other rows than the twin's", c.most, c.fill)
		}
	}
}

// Which row stays of one person says nothing of which stays of another.
func TestPersonsAreDrawnIndependently(t *testing.T) {
	const persons = 12
	tab := personTable(7, 2*persons, 1)
	values := make([]uint32, tab.Rows)
	for i := range values { // the rows of a person stand far apart
		tab.Persons[i], values[i] = uint32(1+i%persons), uint32(i)
	}
	tab.Cols[4].Codes.U8, tab.Cols[4].Codes.U16, tab.Cols[4].Codes.U32 = nil, nil, values
	m := open(t, tab)
	src := replay.Seeded(8, "draws")
	var flips [][]bool
	for range 2000 {
		drawn := m.Persons().Draw(1, false, func(n uint64) uint64 { return rng.Below(src, n) }).(*Table)
		flip := make([]bool, persons)
		for i := range drawn.Rows() {
			row := drawn.t.Cols[4].Codes.At(i)
			flip[row%persons] = row >= persons
		}
		flips = append(flips, flip)
	}
	c := stattest.Claim{FalsePositive: 1e-9, Detects: "one coin for the rows of several persons"}
	fair := slices.Repeat([]float64{0.5}, persons)
	stattest.Independent(t, c, flips, fair)
	stattest.Rejects(t, func(t stattest.T) {
		for _, flip := range flips {
			flip[3] = flip[1]
		}
		stattest.Independent(t, c, flips, fair)
	})
}
