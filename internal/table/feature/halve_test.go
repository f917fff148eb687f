// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
)

func TestHalve(t *testing.T) {
	for _, c := range []struct {
		what string
		rows []float64
		bins int
		want []int
	}{
		{"equal cells", []float64{1, 1, 1, 1, 1, 1, 1, 1}, 4, []int{2, 4, 6}},
		{"as many bins as cells", []float64{1, 1, 1, 1}, 8, []int{1, 2, 3}},
		{"one bin", []float64{1, 1}, 1, nil},
		{"a heavy cell, and its tail halved", []float64{90, 1, 1, 2, 4}, 8, []int{1, 3, 4}},
		{"a gap is cut in the middle", []float64{5, 0, 0, 0, 5}, 2, []int{3}},
		{"all in one cell", []float64{0, 7, 0}, 8, nil},
		{"no rows", []float64{0, 0, 0}, 8, nil},
		{"one cell", []float64{3}, 8, nil},
		{"no cells", nil, 8, nil},
		{"not a number", []float64{1, math.NaN(), 1}, 8, nil},
	} {
		if got := Halve(c.rows, c.bins); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestGroupsOfCodes(t *testing.T) {
	b := NewGroups(3, []uint32{1, 0, 1, 2}, 3)
	if b.Len() != 3 || b.Ordered() || b.Column != 3 {
		t.Errorf("%d bins, ordered %v, of column %d", b.Len(), b.Ordered(), b.Column)
	}
	if got := b.ByCode(&column.Column{}); !slices.Equal(got, []uint32{1, 0, 1, 2}) {
		t.Errorf("by code: %v", got)
	}
	if got := b.ByLevel([]float64{5, 6, 7}); !slices.Equal(got, []float64{6, 5, 6, 7}) {
		t.Errorf("by level: %v", got)
	}
	if got := (&Bins{Codes: 2}).ByLevel([]float64{5, 6}); !slices.Equal(got, []float64{5, 6}) {
		t.Errorf("without Groups: %v", got)
	}
}
