// SPDX-License-Identifier: Apache-2.0

package blocks

import (
	"context"
	"os"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// readColumns are the columns that are not ignored.
func readColumns(s *schema.Schema) (cols []int) {
	for j := range s.Columns {
		if s.Columns[j].Role != schema.Ignored {
			cols = append(cols, j)
		}
	}
	return cols
}

// markedCensus is a census in which people of one age did not say how old they are.
func markedCensus(rows int) *dataset.Table {
	tab := censustest.Table(3, rows)
	age, c := &tab.Schema.Columns[0], &tab.Cols[0]
	age.Missing, c.Marks = true, make([]uint8, len(c.Values))
	c.Marks[3], c.Values[3] = 1, *age.Default
	tab.Forget()
	return tab
}

func TestBlockKeepsATable(t *testing.T) {
	tab := markedCensus(700)
	text := []byte("schema")
	b, err := Encode(tab, text)
	if err != nil {
		t.Fatal(err)
	}
	block, err := Decode(b, tab.Schema, text)
	if err != nil {
		t.Fatal(err)
	}
	back, err := block.Table(readColumns(tab.Schema))
	if err != nil || !reflect.DeepEqual(back, tab) {
		t.Fatalf("another table, %v", err)
	}
	if _, err := Decode(b, tab.Schema, []byte("another")); err == nil {
		t.Error("a block of another schema is not refused")
	}
	b[len(b)-1] ^= 1
	if block, err = Decode(b, tab.Schema, text); err != nil {
		t.Fatal(err)
	}
	if _, err := block.Table(nil); err == nil {
		t.Error("a damaged label is not refused")
	}
}

// Whatever bytes say, they are refused or are a table whose codes all its columns hold.
func FuzzBlock(f *testing.F) {
	tab := censustest.Table(3, 20)
	text := []byte("schema")
	b, err := Encode(tab, text)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:40])
	f.Fuzz(func(t *testing.T, b []byte) {
		block, err := Decode(b, tab.Schema, text)
		if err != nil {
			return
		}
		rows, err := block.Table(readColumns(tab.Schema))
		if err != nil {
			return
		}
		m, err := memory.New(rows)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Groups(context.Background(), readColumns(tab.Schema)); err != nil {
			t.Fatal(err)
		}
	})
}

// The same answers with kept scores and without, whatever was asked before.
func TestStoreAnswersAsMemory(t *testing.T) {
	tab := markedCensus(1000)
	ctx := context.Background()
	want, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	for _, most := range []int64{0, 1 << 20} {
		st, err := NewStore(tab.Schema, []byte("schema"), t.TempDir(), most)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		rows := make([]int, tab.Rows)
		for i := range rows {
			rows[i] = i
		}
		for k := range 12 {
			if err := st.Put(k, tab.Subset(rows[k*tab.Rows/12:(k+1)*tab.Rows/12])); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := os.Stat(st.file.Name()); err == nil {
			t.Error("the file has a name")
		}
		got := st.Table()
		bins := []feature.Bins{feature.NewBins(tab.Schema, 0, []float64{30, 50}), feature.NewBins(tab.Schema, 1, nil)}
		f := &feature.Additive{Intercept: 0.5}
		for round := range 4 {
			for _, tables := range [][2]engine.Table{{got, want}, {got.Against(0), want.Against(0)}} {
				g, err1 := statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}.Of(ctx, tables[0])
				w, err2 := statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}.Of(ctx, tables[1])
				if err1 != nil || err2 != nil || !reflect.DeepEqual(g, w) {
					t.Fatalf("round %d: other cells, %v, %v", round, err1, err2)
				}
			}
			f.Shapes = append(f.Shapes, feature.Shape{Bins: bins[0], Steps: []float64{1, 0, -0.5, 2}})
		}
		for _, cols := range [][]int{nil, {0}, {3, 1, 0}, readColumns(tab.Schema)} {
			g, err1 := got.Groups(ctx, cols)
			w, err2 := want.Groups(ctx, cols)
			if err1 != nil || err2 != nil || !reflect.DeepEqual(g, w) {
				t.Fatalf("groups of %v differ: %v, %v", cols, err1, err2)
			}
		}
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		if _, err := (statistic.Cells{Under: f, Bins: bins, Caps: statistic.FullCaps}).Of(cancelled, got); err == nil {
			t.Error("a cancelled question is answered")
		}
		if err := st.Put(0, tab); err == nil {
			t.Error("a block that is there already is not refused")
		}
	}
}

// What rows score is kept, and then only columns that a question adds are read: the others may be
// damaged meanwhile.
func TestStoreReadsWhatAQuestionAdds(t *testing.T) {
	tab := censustest.Table(3, 1000)
	ctx := context.Background()
	memoryTable, err := memory.New(tab)
	if err != nil {
		t.Fatal(err)
	}
	st, err := NewStore(tab.Schema, []byte("schema"), t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if err := st.Put(0, tab); err != nil {
		t.Fatal(err)
	}
	damage := func(col int) {
		t.Helper()
		b := st.blocks[0]
		if _, err := st.file.WriteAt([]byte{0xff}, b.at+b.body+b.Columns[col].Codes.At); err != nil {
			t.Fatal(err)
		}
	}
	f := &feature.Additive{Intercept: 0.5}
	for col := range 4 {
		bins := feature.NewBins(tab.Schema, col, []float64{30, 50})
		steps := make([]float64, bins.Len())
		for k := range steps {
			steps[k] = float64(k) / 4
		}
		f.Shapes = append(f.Shapes, feature.Shape{Bins: bins, Steps: steps})
		got, err1 := statistic.Cells{Under: f, Bins: []feature.Bins{bins}, Caps: statistic.FullCaps}.Of(ctx, st.Table())
		want, err2 := statistic.Cells{Under: f, Bins: []feature.Bins{bins}, Caps: statistic.FullCaps}.Of(ctx, memoryTable)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("column %d: other cells, %v, %v", col, err1, err2)
		}
		damage(col)
	}
	f.Intercept = 0 // another score, which no row is known to have
	if _, err := (statistic.Cells{Under: f, Bins: []feature.Bins{feature.NewBins(tab.Schema, 4, nil)}, Caps: statistic.FullCaps}).Of(
		ctx, st.Table()); err == nil {
		t.Error("damaged columns are read")
	}
}
