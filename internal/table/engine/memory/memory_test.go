// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// random returns a table with a number, three categories and a binary label.
func random(seed uint64, rows int) *dataset.Table {
	src := replay.Seeded(seed, "table")
	levels := func(n int) (ls []schema.Level) {
		for i := range n {
			ls = append(ls, schema.Level{Value: fmt.Sprint(i)})
		}
		return ls
	}
	s := &schema.Schema{
		Name: "random", Unit: "one row", Relation: dp.ReplaceOne,
		Columns: []schema.Column{
			{Name: "x", Role: schema.Private, Kind: schema.Number, Lower: -3, Upper: 5},
			{Name: "a", Role: schema.Public, Kind: schema.Category, Levels: levels(3)},
			{Name: "skip", Role: schema.Ignored},
			{Name: "b", Role: schema.Public, Kind: schema.Category, Levels: levels(1), Missing: true},
			{Name: "c", Role: schema.Private, Kind: schema.Category, Levels: levels(300)},
		},
		Label: schema.Label{Name: "y", Role: schema.Public, Levels: levels(2), Positive: 0, Default: -1},
	}
	t := &dataset.Table{Schema: s, Rows: rows, Cols: make([]column.Column, 5), Labels: make([]uint8, rows)}
	values := []float64{-3, -1, 0, 0.1, 2.5, 5}
	fill := func(j, n int) {
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(rng.Below(src, uint64(n)))
		}
		t.Cols[j].Codes = column.Narrow(codes, n)
	}
	fill(0, len(values))
	t.Cols[0].Values = values
	fill(1, s.Columns[1].Codes())
	fill(3, s.Columns[3].Codes())
	fill(4, s.Columns[4].Codes())
	for i := range t.Labels {
		t.Labels[i] = uint8(rng.Below(src, 2))
	}
	return t
}

func thresholds(seed uint64, sp *feature.Space, n int) []feature.Threshold {
	src := replay.Seeded(seed, "thresholds")
	u := func() float64 { return float64(rng.Below(src, 2049))/1024 - 1 }
	cs := make([]feature.Threshold, n)
	for t := range cs {
		cs[t] = feature.Threshold{Coef: make([]float64, sp.Width()), Bias: u()}
		for j := range cs[t].Coef {
			cs[t].Coef[j] = u()
		}
	}
	return cs
}

// naiveMistakes scores row by row in the order of the definition.
func naiveMistakes(t *dataset.Table, sp *feature.Space, cs []feature.Threshold) map[string]uint64 {
	count := map[string]uint64{}
	for i := range t.Rows {
		key := ""
		for _, c := range cs {
			sum := int64(sp.Fixed(c.Bias, 1))
			for k, j := range sp.Columns {
				f, v := sp.Cell(k, &t.Cols[j], int(t.Cols[j].Codes.At(i)))
				sum += int64(sp.Fixed(c.Coef[f], v))
			}
			if (sum >= 0) != (int(t.Labels[i]) == t.Schema.Label.Positive) {
				key += "x"
			} else {
				key += "."
			}
		}
		count[key]++
	}
	return count
}

func TestMistakesEqualTheNaiveTwin(t *testing.T) {
	for _, rows := range []int{0, 1, 300, chunkRows + 7} {
		tab := random(uint64(rows), rows)
		for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
			for _, n := range []int{1, 2, 25, 31, 32, 63, 64, 65, 130} {
				sp, err := feature.NewSpace(tab.Schema, enc, []int{4, 0, 1, 3})
				if err != nil {
					t.Fatal(err)
				}
				cs := thresholds(uint64(n), sp, n)
				m, _ := New(tab)
				p, err := m.Mistakes(context.Background(), sp, cs)
				if err != nil {
					t.Fatal(err)
				}
				got := map[string]uint64{}
				for i, c := range p.Count {
					key := ""
					for b := range n {
						if p.Bits[i*p.Words+b/64]>>(b%64)&1 == 1 {
							key += "x"
						} else {
							key += "."
						}
					}
					got[key] += c
				}
				if want := naiveMistakes(tab, sp, cs); !maps.Equal(got, want) || len(got) != len(p.Count) {
					t.Fatalf("rows %d %s T=%d: %d patterns, want %d", rows, enc, n, len(got), len(want))
				}
			}
		}
	}
}

func TestGroupsEqualTheNaiveTwin(t *testing.T) {
	tab := random(9, 5000)
	m, _ := New(tab)
	// The last lists repeat columns: keys of more than 32 bits, then of two words.
	for _, cols := range [][]int{{}, {1}, {1, 3}, {0, 1, 3, 4}, slices.Repeat([]int{4, 0, 1, 3}, 3),
		slices.Repeat([]int{4, 0, 1, 3}, 8)} {
		g, err := m.Groups(context.Background(), cols)
		if err != nil {
			t.Fatal(err)
		}
		key := func(c []column.Column, i int) (k string) {
			for _, j := range cols {
				if c[j].Values != nil {
					k += fmt.Sprint(c[j].Values[c[j].Codes.At(i)], "|")
				} else {
					k += fmt.Sprint(c[j].Codes.At(i), "|")
				}
			}
			return k
		}
		want, got := map[string][2]uint64{}, map[string][2]uint64{}
		for i := range tab.Rows {
			c := want[key(tab.Cols, i)]
			c[tab.Labels[i]]++
			want[key(tab.Cols, i)] = c
		}
		for i := range g.Len {
			got[key(g.Cols, i)] = [2]uint64{g.Counts[0][i], g.Counts[1][i]}
		}
		if !maps.Equal(want, got) {
			t.Fatalf("columns %v: %d groups, want %d", cols, len(got), len(want))
		}
	}
}

// The order of rows must not show: neither in an answer's content nor in its
// order, nor in the last bit of a sum.
func TestAnswersDoNotShowRowOrder(t *testing.T) {
	tab := random(5, 2*chunkRows+100)
	order := make([]int, tab.Rows)
	for i := range order {
		order[i] = i
	}
	src := replay.Seeded(6, "order")
	rng.Shuffle(src, len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	a, _ := New(tab)
	b, _ := New(tab.Subset(order))
	sp, _ := feature.NewSpace(tab.Schema, feature.OneHot, []int{0, 1, 3, 4})
	cs := thresholds(1, sp, 20)
	ctx := context.Background()
	pa, _ := a.Mistakes(ctx, sp, cs)
	pb, _ := b.Mistakes(ctx, sp, cs)
	ga, _ := a.Groups(ctx, []int{0, 1})
	gb, _ := b.Groups(ctx, []int{0, 1})
	if !reflect.DeepEqual(pa, pb) || !reflect.DeepEqual(ga, gb) {
		t.Error("answers differ between two orders of the same rows")
	}
	if n := sum(pa.Count); n != uint64(tab.Rows) {
		t.Errorf("patterns count %d rows of %d", n, tab.Rows)
	}
}

func TestCancelledPassesStop(t *testing.T) {
	m, _ := New(random(1, 10))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Groups(ctx, []int{1}); err == nil {
		t.Error("a cancelled pass answered")
	}
}

func TestUnlabelledTablesAreRefused(t *testing.T) {
	tab := random(1, 10)
	tab.Labels = nil
	if _, err := New(tab); err == nil {
		t.Error("a table without labels was accepted")
	}
}

// A tally with a slot for each key, one of keys of a word and one of two words,
// each counted in two parts and merged.
func TestTallyAgainstAMap(t *testing.T) {
	for _, kind := range []struct {
		bits   int
		direct bool
		draw   func(src rng.Source) []uint64
	}{
		{13, true, func(src rng.Source) []uint64 { return []uint64{rng.Below(src, 6000)} }},
		{64, false, func(src rng.Source) []uint64 { return []uint64{rng.Below(src, 6000) << 50 >> rng.Below(src, 50)} }},
		{128, false, func(src rng.Source) []uint64 { return []uint64{rng.Below(src, 100), rng.Below(src, 60) << 50} }},
	} {
		src := replay.Seeded(7, "tally")
		parts, want := []*tally{newTally(kind.bits, 3, 20_000), newTally(kind.bits, 3, 20_000)}, map[string][3]uint64{}
		for turn := range 60 {
			var keys []uint64
			var counter []uint8
			for range 333 {
				key, c := kind.draw(src), uint8(rng.Below(src, 3))
				w := want[fmt.Sprint(key)]
				w[c]++
				want[fmt.Sprint(key)] = w
				keys, counter = append(keys, key...), append(counter, c)
			}
			parts[turn*turn%2].addKeys(keys, counter)
		}
		tl := parts[0]
		tl.mergeCounts(parts[1])
		slots := tl.sortedSlots()
		if len(slots) != len(want) || tl.direct != kind.direct || tl.len != len(want) {
			t.Fatalf("%d bits: %d keys (direct %v, says %d), want %d", kind.bits, len(slots), tl.direct, tl.len, len(want))
		}
		for i, s := range slots {
			key := tl.keyAt(s)
			if got := [3]uint64(tl.countsAt(s)); got != want[fmt.Sprint(key)] {
				t.Fatalf("%d bits: key %v counts %v, want %v", kind.bits, key, got, want[fmt.Sprint(key)])
			}
			if i > 0 && slices.Compare(tl.keyAt(slots[i-1]), key) >= 0 {
				t.Fatalf("%d bits: keys out of order", kind.bits)
			}
		}
	}
}

// More keys of few bits than rows to count are no reason for a large table.
func TestFewRowsGetASmallTally(t *testing.T) {
	if tl := newTally(directBits, 1, 100); tl.direct {
		t.Errorf("%d slots for 100 rows", tl.mask+1)
	}
}

func sum(xs []uint64) (s uint64) {
	for _, x := range xs {
		s += x
	}
	return s
}

func BenchmarkMistakes(b *testing.B) {
	tab := random(1, 1_000_000)
	m, _ := New(tab)
	sp, _ := feature.NewSpace(tab.Schema, feature.Ordinal, []int{0, 1, 3, 4})
	cs := thresholds(2, sp, 25)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Mistakes(context.Background(), sp, cs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(tab.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
