// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	. "github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

func (c *lossCase) margins(r Rows) *MarginRows {
	return NewMargins(c.sp, c.cols, c.rows, GroupWeights(c.pos, c.neg), r)
}

// The numbers of rows are those if no column joins, if some do and if
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

// A sample has about as many rows as it should, and they are those whose features say so:
// laid out or not, together with others or alone.
func TestMarginsOfASample(t *testing.T) {
	const rows = 3001
	ctx, r := context.Background(), Rows{Scale: 0.4, Norm: 0.7}
	c := newLossCase(t, 5, feature.OneHot, rows)
	clear(c.pos)
	for i := range c.neg {
		c.neg[i] = 1
	}
	m := c.margins(r)
	for _, wanted := range []int{rows, 1501, 1500, 600, 40} {
		halvings := HalvingsFor(rows, wanted)
		q := &LossQuestion{Space: c.sp, Rows: r, Coef: c.coef, Hess: true, Halvings: halvings}
		exact := exactSums(c.cols, rows, GroupWeights(c.pos, c.neg), 1, q)
		want := exact.Floats(q, UnitsOf(c.sp, Loss{}, r, 1))
		got, err := m.Sample(wanted).Sums(ctx, Loss{}, c.coef, true)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Grad, want.Grad) || !slices.Equal(got.Hess, want.Hess) || got.Rows != want.Rows {
			t.Errorf("a sample of %d rows, laid out, has other sums", wanted)
		}
		expected := float64(rows) / float64(int(1)<<halvings)
		if expected < float64(wanted) || halvings > 0 && expected >= 2*float64(wanted) ||
			math.Abs(float64(got.Rows)-expected) > 6*math.Sqrt(expected) || halvings == 0 && got.Rows != rows {
			t.Errorf("a sample of %d rows has %d, of which %g are expected", wanted, got.Rows, expected)
		}
	}
	if m.Sample(rows+1) != m {
		t.Error("a sample longer than the table is not the table")
	}
}

// Labels and weights by them: the same bits whether rows are laid out or not, joined or not, one by
// one or in parts added up, in any order.
func TestSumsDoNotDependOnWhereRowsLie(t *testing.T) {
	ctx := context.Background()
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		for _, rows := range []int{1, 900, 3000, 40_000} {
			for k, r := range append(marginRows, Rows{Scale: 0.4, Norm: 0.6, Weights: []float64{1, 1. / 3, 0.7}}) {
				c := newLossCase(t, 3, enc, rows)
				if rows == 40_000 {
					few(c, 5)
				}
				labels := make([]uint8, rows)
				for i := range labels {
					labels[i] = uint8((i * i) % 7 % 3)
				}
				m := Lay(c.sp, c.cols, rows, r).WeighLabels(labels, 1, r.Weights)
				for _, l := range marginLosses {
					for _, wanted := range []int{rows, rows / 5} {
						q := &LossQuestion{Space: c.sp, Loss: l, Rows: r, Coef: c.coef, Hess: true, Halvings: HalvingsFor(rows, wanted)}
						laid, err := m.Sample(wanted).Sums(ctx, l, c.coef, true)
						if err != nil {
							t.Fatal(err)
						}
						sum := NewExactSums(len(c.coef), true)
						for _, part := range shuffledParts(uint64(k), rows, 1+k*k) {
							cols := slices.Clone(c.cols)
							own := make([]uint8, len(part))
							for i, row := range part {
								own[i] = labels[row]
							}
							for j := range cols {
								if cols[j].Codes.Len() > 0 {
									cols[j].Codes = cols[j].Codes.Pick(part)
								}
							}
							sum.Add(exactSums(cols, len(part), LabelWeights(own, 1, r.Weights), r.Largest(), q))
						}
						parts := sum.Floats(q, UnitsOf(c.sp, l, r, r.Largest()))
						if !slices.Equal(laid.Grad, parts.Grad) || !slices.Equal(laid.Hess, parts.Hess) || laid.Rows != parts.Rows {
							t.Errorf("%s, %d rows, %+v, %+v: parts add up to something else", enc, rows, l, r)
						}
					}
				}
			}
		}
	}
}

// shuffledParts deals rows to so many parts.
func shuffledParts(seed uint64, rows, parts int) [][]int {
	order := rand.New(rand.NewPCG(seed, 2))
	out := make([][]int, parts)
	for _, row := range order.Perm(rows) {
		k := order.IntN(parts)
		out[k] = append(out[k], row)
	}
	return out
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
