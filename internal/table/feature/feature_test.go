// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func sample() *schema.Schema {
	level := func(names ...string) (ls []schema.Level) {
		for _, n := range names {
			ls = append(ls, schema.Level{Value: n})
		}
		return ls
	}
	return &schema.Schema{Columns: []schema.Column{
		{Name: "age", Kind: schema.Number, Lower: 20, Upper: 60},
		{Name: "gain", Kind: schema.Number, Lower: 0, Upper: math.E - 1, Transform: schema.Log1p},
		{Name: "sex", Kind: schema.Category, Levels: level("f", "m"), Missing: true},
		{Name: "one", Kind: schema.Category, Levels: level("only")},
		{Name: "grade", Kind: schema.Category, Levels: level("low", "mid", "high")},
	}}
}

// Every cell of the sample by hand.
func TestCellsByHand(t *testing.T) {
	ordinal, err1 := NewSpace(sample(), Ordinal, []int{0, 1, 2, 3, 4})
	onehot, err2 := NewSpace(sample(), OneHot, []int{4, 0, 2})
	if err1 != nil || err2 != nil || ordinal.Width() != 5 || onehot.Width() != 4+1+4 {
		t.Fatal(err1, err2, ordinal.Names, onehot.Names)
	}
	for _, c := range []struct {
		sp      *Space
		k       int
		x       float64 // a number, or a code
		feature int
		value   float64
	}{
		{ordinal, 0, 20, 0, -1}, {ordinal, 0, 40, 0, 0}, {ordinal, 0, 60, 0, 1},
		{ordinal, 1, 0, 1, -1}, {ordinal, 1, math.E - 1, 1, 1}, {ordinal, 1, math.Sqrt(math.E) - 1, 1, 0},
		// other and missing have no place
		{ordinal, 2, 0, 2, -1}, {ordinal, 2, 1, 2, 1}, {ordinal, 2, 2, 2, 0}, {ordinal, 2, 3, 2, 0},
		{ordinal, 3, 0, 3, 0}, {ordinal, 4, 0, 4, -1}, {ordinal, 4, 1, 4, 0}, {ordinal, 4, 2, 4, 1},
		{onehot, 0, 2, 2, 1}, {onehot, 0, 3, 3, 1}, {onehot, 1, 40, 4, 0}, {onehot, 2, 3, 8, 1},
	} {
		col := &column.Column{}
		code := int(c.x)
		if c.sp.blocks[c.k].col.Kind == schema.Number {
			col.Values, code = []float64{c.x}, 0
		}
		if f, v := c.sp.Cell(c.k, col, code); f != c.feature || math.Abs(v-c.value) > 1e-15 {
			t.Errorf("%s column %d cell %g: feature %d value %g, want %d %g", c.sp.Encoding, c.k, c.x, f, v, c.feature, c.value)
		}
	}
	if n := onehot.Names[8]; n != "sex=(missing)" {
		t.Error(n)
	}
}

// Reach is the largest score the box allows: no cell passes it, one attains it.
func TestReachIsAttained(t *testing.T) {
	sp, _ := NewSpace(sample(), OneHot, []int{0, 4})
	coef := []float64{-0.5, 0.1, -0.9, 0.3, 0.2} // age, then grade's four codes
	if got := sp.Reach(coef); math.Abs(got-1.4) > 1e-15 {
		t.Errorf("reach %g, want |-0.5| + |-0.9|", got)
	}
}

func TestFixedLeavesRoomInALane(t *testing.T) {
	for n := 1; n <= 4095; n++ {
		sp := &Space{Columns: make([]int, n)}
		if most := int64(n+1) * int64(sp.Fixed(1, 1)); most > 1<<30 || most < 1<<28 {
			t.Fatalf("%d columns and a bias reach %d", n, most)
		}
	}
}

func TestEncodingsAreNamed(t *testing.T) {
	if _, err := ParseEncoding("label"); err == nil {
		t.Error("an unknown encoding was accepted")
	}
	if _, err := NewSpace(sample(), "", nil); err == nil {
		t.Error("no encoding was accepted")
	}
}
