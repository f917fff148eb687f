// SPDX-License-Identifier: Apache-2.0

package blocks

import (
	"context"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// storePersons keeps a table of persons in blocks, the last of them first.
func storePersons(t *testing.T, tab *dataset.Table, count int, most int64) *Store {
	t.Helper()
	st, err := NewStore(tab.Schema, []byte("schema"), t.TempDir(), most)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	for k := count - 1; k >= 0; k-- {
		var rows []int
		for i := k * tab.Rows / count; i < (k+1)*tab.Rows/count; i++ {
			rows = append(rows, i)
		}
		if err := st.Put(k, tab.Subset(rows)); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func personCensus(rows, persons int) *dataset.Table {
	tab := markedCensus(rows)
	s := *tab.Schema
	s.Person = &schema.Person{Column: "pid", Rows: 2}
	tab.Schema = &s
	random := rand.New(rand.NewPCG(5, 6))
	for range rows {
		tab.Persons = append(tab.Persons, uint32(random.IntN(persons+1)))
	}
	return tab
}

// Whatever blocks a person's rows lie in, they count for what they count for in memory, weighed,
// drawn or as they are, with scores kept and without.
func TestPersonsInBlocksAreThoseOfMemory(t *testing.T) {
	ctx := context.Background()
	tab := personCensus(1500, 400)
	want, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	bins := []feature.Bins{feature.NewBins(tab.Schema, 0, []float64{30, 50}), feature.NewBins(tab.Schema, 1, nil)}
	f := &feature.Additive{Intercept: 0.5, Shapes: []feature.Shape{{Bins: bins[0], Steps: []float64{1, 0, -0.5, 2}}}}
	draws := func() func(uint64) uint64 { return rand.New(rand.NewPCG(7, 8)).Uint64N }
	for _, most := range []int64{0, 1 << 20} {
		got := storePersons(t, tab, 9, most).Table()
		if _, err := (statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}).Of(ctx, got); err == nil || !strings.Contains(err.Error(), "before it is settled") {
			t.Errorf("rows count before it is settled what for: %v", err)
		}
		g, w := got.Persons(), want.Persons()
		if g.Count() != w.Count() {
			t.Errorf("%d persons, want %d", g.Count(), w.Count())
		}
		for name, tables := range map[string][2]engine.Table{
			"weighed": {g.Weigh(2), w.Weigh(2)},
			"drawn":   {g.Draw(1, false, draws()), w.Draw(1, false, draws())},
			"filled":  {g.Draw(3, true, draws()), w.Draw(3, true, draws())},
			"all":     {g.Ignore(), w.Ignore()},
		} {
			if tables[0].Rows() != tables[1].Rows() || tables[0].Schema().Person == nil != (name != "weighed") {
				t.Errorf("%s: %d rows, want %d", name, tables[0].Rows(), tables[1].Rows())
			}
			for range 2 {
				c1, err1 := statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}.Of(ctx, tables[0])
				c2, err2 := statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}.Of(ctx, tables[1])
				if err1 != nil || err2 != nil || !reflect.DeepEqual(c1, c2) {
					t.Errorf("%s: other cells, %v, %v", name, err1, err2)
				}
				g1, err1 := tables[0].Groups(ctx, []int{3, 0})
				g2, err2 := tables[1].Groups(ctx, []int{3, 0})
				if err1 != nil || err2 != nil || !reflect.DeepEqual(g1, g2) {
					t.Errorf("%s: other groups, %v, %v", name, err1, err2)
				}
			}
		}
		sp, err := feature.NewSpace(tab.Schema, feature.OneHot, []int{0})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := g.Weigh(2).Mistakes(ctx, sp, nil); err == nil {
			t.Error("weighed rows count once each")
		}
	}
}
