// SPDX-License-Identifier: Apache-2.0

package kernel_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	. "github.com/discreet-dp/discreet/internal/table/engine"
	. "github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

func (c *lossCase) margins(r Rows) *MarginRows {
	return NewMargins(c.sp, c.cols, c.rows, GroupWeights(c.pos, c.neg), r)
}

// The numbers of rows are those where no column joins, where some do and where
// all do, so that equal rows become one.
func TestMarginsEqualTheNaiveTwin(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		for _, rows := range []int{1, 7, 900, 3000, 40_000} {
			for _, r := range marginRows {
				c := newLossCase(t, 3, enc, rows)
				if rows == 7 || rows == 40_000 { // both numbers have few values
					few(c, 5)
				}
				c.pos[0] = 0
				m := c.margins(r)
				if joined := m.Len() < rows; joined != (rows == 40_000) {
					t.Errorf("%d rows became %d", rows, m.Len())
				}
				for _, l := range marginLosses {
					t.Run(fmt.Sprintf("%s/%d/%+v/%+v", enc, rows, l, r), func(t *testing.T) {
						want := c.naiveMargin(l, r, c.coef)
						for _, hess := range []bool{true, false} {
							got, err := m.Sums(context.Background(), l, c.coef, hess)
							if err != nil {
								t.Fatal(err)
							}
							for f := range want.Grad {
								if !near(got.Grad[f], want.Grad[f], float64(rows)) {
									t.Errorf("gradient %d = %v, want %v", f, got.Grad[f], want.Grad[f])
								}
							}
							if hess != (got.Hess != nil) {
								t.Fatalf("a Hessian of %d numbers", len(got.Hess))
							}
							for f := range got.Hess {
								if !near(got.Hess[f], want.Hess[f], float64(rows)) {
									t.Errorf("hessian %d = %v, want %v", f, got.Hess[f], want.Hess[f])
								}
							}
						}
					})
				}
			}
		}
	}
}

// few leaves each number n values.
func few(c *lossCase, n int) {
	for _, j := range lossCols {
		col := &c.cols[j]
		if col.Values == nil {
			continue
		}
		col.Codes.Recode(mod(300, n))
		col.Values = col.Values[:n]
	}
}

func mod(size, n int) []uint32 {
	out := make([]uint32, size)
	for i := range out {
		out[i] = uint32(i % n)
	}
	return out
}

// Every fit starts at zero, where the logistic loss takes a short cut.
func TestMarginsAtZero(t *testing.T) {
	for _, l := range marginLosses {
		for _, r := range marginRows {
			c := newLossCase(t, 9, feature.OneHot, 900)
			zero := make([]float64, len(c.coef))
			got, err := c.margins(r).Sums(context.Background(), l, zero, true)
			if err != nil {
				t.Fatal(err)
			}
			want := c.naiveMargin(l, r, zero)
			for f := range want.Grad {
				if !near(got.Grad[f], want.Grad[f], 900) {
					t.Errorf("%+v: gradient %d = %v, want %v", l, f, got.Grad[f], want.Grad[f])
				}
			}
			for f := range want.Hess {
				if !near(got.Hess[f], want.Hess[f], 900) {
					t.Errorf("%+v: hessian %d = %v, want %v", l, f, got.Hess[f], want.Hess[f])
				}
			}
		}
	}
}

// A head is a sample: its rows are rows of the table, each once, and lie evenly
// in it.
func TestMarginsOfAHead(t *testing.T) {
	const rows, head = 3001, 600
	c := newLossCase(t, 5, feature.OneHot, rows)
	r := Rows{Scale: 0.4, Norm: 0.7}
	in := make([]bool, rows)
	for i := range rows { // a row's own weight tells which rows are in
		c.pos[i], c.neg[i] = math.Ldexp(1, i%40), 0
	}
	for lane := 0; lane < rows; lane += 40 { // as 40 bits of one sum
		d := newLossCase(t, 5, feature.OneHot, rows)
		clear(d.neg)
		for i := range d.pos {
			d.pos[i] = 0
			if i >= lane && i < lane+40 {
				d.pos[i] = c.pos[i]
			}
		}
		sum := uint64(d.margins(r).Head(head).Weight())
		for i := lane; i < min(lane+40, rows); i++ {
			in[i] = sum>>(i%40)&1 == 1
		}
	}
	count := 0
	for i, ok := range in {
		if ok {
			count++
		}
		if i%100 == 99 && !(math.Abs(float64(count)-float64(i)*head/rows) <= 3) {
			t.Errorf("of the first %d rows a head has %d", i+1, count)
		}
	}
	if count != head {
		t.Fatalf("a head of %d rows has %d", head, count)
	}
	c = newLossCase(t, 5, feature.OneHot, rows)
	got, err := c.margins(r).Head(head).Sums(context.Background(), Loss{}, c.coef, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, ok := range in {
		if !ok {
			c.pos[i], c.neg[i] = 0, 0
		}
	}
	want := c.naiveMargin(Loss{}, r, c.coef)
	for f := range want.Grad {
		if !near(got.Grad[f], want.Grad[f], rows) {
			t.Errorf("gradient %d = %v, want %v", f, got.Grad[f], want.Grad[f])
		}
	}
	for f := range want.Hess {
		if !near(got.Hess[f], want.Hess[f], rows) {
			t.Errorf("hessian %d = %v, want %v", f, got.Hess[f], want.Hess[f])
		}
	}
	if m := c.margins(r); m.Head(rows+1) != m {
		t.Error("a head longer than the table is not the table")
	}
}

func TestMarginsDoNotDependOnTheProcessors(t *testing.T) {
	c := newLossCase(t, 7, feature.OneHot, 70_001)
	m := c.margins(Rows{Scale: 0.4, Norm: 1})
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one, err := m.Sums(context.Background(), Loss{}, c.coef, true)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GOMAXPROCS(4)
	four, err := m.Sums(context.Background(), Loss{}, c.coef, true)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one.Grad, four.Grad) || !slices.Equal(one.Hess, four.Hess) {
		t.Error("four processors add up to something else than one")
	}
	for f, want := range c.margin(t, Loss{}, Rows{Scale: 0.4, Norm: 1}, c.coef).Grad { // some strips, not one
		if !near(four.Grad[f], want, 70_001) {
			t.Errorf("gradient %d = %v, want %v", f, four.Grad[f], want)
		}
	}
}

func TestMarginsRefuse(t *testing.T) {
	c := newLossCase(t, 7, feature.OneHot, 10)
	m := c.margins(Rows{Scale: 1, Norm: 1})
	if _, err := m.Sums(context.Background(), Loss{}, c.coef[1:], false); err == nil {
		t.Error("too few coefficients were taken")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := m.Sums(ended, Loss{}, c.coef, false); err != context.Canceled {
		t.Errorf("an ended context gave %v", err)
	}
}
