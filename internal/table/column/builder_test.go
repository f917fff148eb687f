// SPDX-License-Identifier: Apache-2.0

package column

import (
	"slices"
	"testing"
)

func TestBuilderKeepsEveryCodeAcrossWidths(t *testing.T) {
	for _, grown := range []int{0, 1, 1000} {
		var b Builder
		b.Grow(grown)
		var want []uint32
		for _, batch := range [][]uint32{{}, {0, 1, 255}, {7}, {256, 3}, {65535}, {65536, 0, 1 << 31}, {5}} {
			b.Append(batch)
			want = append(want, batch...)
		}
		codes := b.Codes()
		got := make([]uint32, codes.Len())
		codes.Read(0, got)
		if !slices.Equal(got, want) {
			t.Errorf("grown %d: got %v, want %v", grown, got, want)
		}
		if codes.U8 != nil || codes.U16 != nil {
			t.Errorf("grown %d: more than one width is set", grown)
		}
	}
}

func TestBuilderUsesTheNarrowestWidth(t *testing.T) {
	for _, row := range []struct {
		code  uint32
		width int
	}{{255, 1}, {256, 2}, {65535, 2}, {65536, 4}} {
		var b Builder
		b.Append([]uint32{row.code})
		c := b.Codes()
		if got := len(c.U8) + 2*len(c.U16) + 4*len(c.U32); got != row.width {
			t.Errorf("code %d: %d bytes, want %d", row.code, got, row.width)
		}
	}
}

func TestEmptyBuilderHasNoCodes(t *testing.T) {
	var b Builder
	c := b.Codes()
	if c.Len() != 0 {
		t.Errorf("length %d, want 0", c.Len())
	}
}

func TestRecode(t *testing.T) {
	to := []uint32{2, 0, 1}
	for _, c := range []Codes{{U8: []uint8{0, 1, 2, 1}}, {U16: []uint16{0, 1, 2, 1}}, {U32: []uint32{0, 1, 2, 1}}, {}} {
		n := c.Len()
		c.Recode(to)
		for i := range n {
			if want := []uint32{2, 0, 1, 0}[i]; c.At(i) != want {
				t.Errorf("%v row %d: %d, want %d", c, i, c.At(i), want)
			}
		}
	}
}

func TestLook(t *testing.T) {
	to := []uint32{70_000, 5, 1 << 31}
	for _, c := range []Codes{{U8: []uint8{9, 0, 1, 2, 1}}, {U16: []uint16{9, 0, 1, 2, 1}},
		{U32: []uint32{9, 0, 1, 2, 1}}} {
		out := make([]uint32, 3)
		c.Look(2, to, out)
		if want := []uint32{5, 1 << 31, 5}; !slices.Equal(out, want) {
			t.Errorf("%v: %v, want %v", c, out, want)
		}
	}
	new(Codes).Look(0, to, nil)
}

func TestMix(t *testing.T) {
	for _, c := range []Codes{{U8: []uint8{9, 0, 1, 2, 1}}, {U16: []uint16{9, 0, 1, 2, 1}},
		{U32: []uint32{9, 0, 1, 2, 1}}} {
		out := []uint32{7, 0, 2}
		c.Mix(2, 3, out)
		if want := []uint32{22, 2, 7}; !slices.Equal(out, want) {
			t.Errorf("%v: %v, want %v", c, out, want)
		}
	}
}

func TestCell(t *testing.T) {
	c := Column{Codes: Codes{U8: []uint8{1, 0}}, Values: []float64{7, 0.5}, Marks: []uint8{2, 0}}
	if c.Cell(0) != (Cell{Number: 0.5}) || c.Cell(1) != (Cell{Code: 2, Number: 7}) {
		t.Errorf("%+v, %+v", c.Cell(0), c.Cell(1))
	}
	if c = (Column{Codes: Codes{U16: []uint16{300}}}); c.Cell(0) != (Cell{Code: 300}) || new(Column).Cell(9) != (Cell{}) {
		t.Errorf("%+v", c.Cell(0))
	}
}
