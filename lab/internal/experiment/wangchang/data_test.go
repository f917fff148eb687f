// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// rows are a few labelled rows of small fractions.
func rows(n, d, classes int, stream string) labelled {
	src := replay.Seeded(1, stream)
	m := matrix{d, make([]float32, n*d)}
	for i := range m.cells {
		m.cells[i] = float32(rng.Below(src, 33))/16 - 1
	}
	y := make([]uint8, n)
	for i := range y {
		y[i] = uint8(rng.Below(src, uint64(classes)))
	}
	return labelled{m, y, classes}
}

func row(l labelled, i int) []float64 {
	out := make([]float64, l.Dim())
	l.Row(i, out)
	return out
}

func TestSubset(t *testing.T) {
	l := rows(20, 3, 4, "subset")
	s := l.subsetRows([]int{7, 2, 7})
	for i, r := range []int{7, 2, 7} {
		if !slices.Equal(row(s, i), row(l, r)) || s.y[i] != l.y[r] {
			t.Errorf("row %d is not row %d", i, r)
		}
	}
	seen := 0
	for k, of := range l.byClass() {
		for _, i := range of {
			seen++
			if int(l.y[i]) != k {
				t.Errorf("row %d is not of class %d", i, k)
			}
		}
	}
	if seen != l.Len() {
		t.Errorf("%d rows have a class", seen)
	}
}

func TestShuffledIsAPermutation(t *testing.T) {
	p := shuffledRows(100, replay.Seeded(1, "p"))
	if slices.IsSorted(p) {
		t.Error("nothing was shuffled")
	}
	slices.Sort(p)
	if !slices.Equal(p, upTo(100)) {
		t.Error("not a permutation")
	}
}

func TestEachCallsOnce(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 100} {
		called := make([]int, n)
		eachInParallel(n, func(i int) { called[i]++ })
		for i, c := range called {
			if c != 1 {
				t.Errorf("%d of %d was called %d times", i, n, c)
			}
		}
	}
}

// Tables hold the same numbers.
func TestTablesAreTheRows(t *testing.T) {
	l := rows(50, 4, 3, "table")
	tab := tableOf("t", l)
	b := bitsAbove(l)
	b.y = l.y
	binary := tableOfBits("b", b)
	for i := range l.Len() {
		for j, x := range row(l, i) {
			if got := tab.Cols[j].Values[tab.Cols[j].Codes.At(i)]; got != x {
				t.Fatalf("row %d, column %d: %g, want %g", i, j, got, x)
			}
			want := -1.0
			if x > 0 {
				want = 1
			}
			if got := binary.Cols[j].Values[binary.Cols[j].Codes.At(i)]; got != want {
				t.Fatalf("row %d, column %d: %g, want %g", i, j, got, want)
			}
		}
	}
	if !slices.Equal(tab.Labels, l.y) || tab.Schema.Classes() != 3 || binary.Schema.Classes() != 2 {
		t.Error("classes differ")
	}
}
