// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	. "github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// lossSchema has a plain number, a transformed one and two categories; the
// space leaves the first column out.
var lossSchema = &schema.Schema{
	Columns: []schema.Column{
		{Name: "unused", Kind: schema.Number, Lower: 0, Upper: 1},
		{Name: "income", Kind: schema.Number, Lower: 0, Upper: 1000, Transform: schema.Log1p},
		{Name: "colour", Kind: schema.Category, Levels: []schema.Level{{Value: "red"}, {Value: "green"}, {Value: "blue"}},
			Missing: true},
		{Name: "age", Kind: schema.Number, Lower: -10, Upper: 30},
		{Name: "size", Kind: schema.Category, Levels: []schema.Level{{Value: "s"}, {Value: "l"}}},
	},
	Label: schema.Label{Levels: []schema.Level{{Value: "no"}, {Value: "yes"}}, Positive: 1},
}

var lossCols = []int{3, 2, 1, 4}

type lossCase struct {
	sp       *feature.Space
	cols     []column.Column
	rows     int
	pos, neg []float64
	coef     []float64
}

func newLossCase(t testing.TB, seed uint64, enc feature.Encoding, rows int) *lossCase {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	sp, err := feature.NewSpace(lossSchema, enc, lossCols)
	if err != nil {
		t.Fatal(err)
	}
	c := &lossCase{sp: sp, cols: make([]column.Column, len(lossSchema.Columns)), rows: rows}
	for _, j := range lossCols {
		sc := &lossSchema.Columns[j]
		n := sc.Codes()
		if sc.Kind == schema.Number {
			n = 300 // two bytes a code
			for range n {
				c.cols[j].Values = append(c.cols[j].Values, sc.Lower+r.Float64()*(sc.Upper-sc.Lower))
			}
		}
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(r.IntN(n))
		}
		c.cols[j].Codes = column.Narrow(codes, n)
	}
	for range rows {
		c.pos, c.neg = append(c.pos, 3*r.Float64()), append(c.neg, r.Float64())
	}
	for range sp.Width() + 1 {
		c.coef = append(c.coef, 2*r.NormFloat64())
	}
	return c
}

func (c *lossCase) sums(t testing.TB, coef []float64) *LossSums {
	t.Helper()
	s, err := LogisticSums(context.Background(), c.sp, c.cols, c.rows, GroupWeights(c.pos, c.neg), coef)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// naive widens every row and sums the definition.
func (c *lossCase) naive(coef []float64) *LossSums {
	d := len(coef)
	out := &LossSums{Grad: make([]float64, d), Hess: make([]float64, d*d)}
	for i := range c.rows {
		x := make([]float64, d)
		x[d-1] = 1
		for k, j := range c.sp.Columns {
			code := int(c.cols[j].Codes.At(i))
			f, v := 0, 0.0
			if lossSchema.Columns[j].Kind == schema.Number {
				f, v = c.sp.Number(k, c.cols[j].Values[code])
			} else {
				f, v = c.sp.Code(k, code)
			}
			x[f] = v
		}
		z := 0.0
		for f := range x {
			z += coef[f] * x[f]
		}
		p := 1 / (1 + math.Exp(-z))
		out.Loss += -c.pos[i]*math.Log(p) - c.neg[i]*math.Log(1-p)
		for f := range x {
			out.Grad[f] += ((c.pos[i]+c.neg[i])*p - c.pos[i]) * x[f]
			for g := range x {
				out.Hess[f*d+g] += (c.pos[i] + c.neg[i]) * p * (1 - p) * x[f] * x[g]
			}
		}
	}
	return out
}

func near(a, b, scale float64) bool { return math.Abs(a-b) <= 1e-11*(scale+math.Abs(b)) }

func TestLogisticSumsEqualTheNaiveTwin(t *testing.T) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		for _, rows := range []int{0, 1, 255, 257, 5000} {
			t.Run(fmt.Sprintf("%s/%d", enc, rows), func(t *testing.T) {
				c := newLossCase(t, uint64(rows), enc, rows)
				got, want := c.sums(t, c.coef), c.naive(c.coef)
				if !near(got.Loss, want.Loss, 1) {
					t.Errorf("loss = %v, want %v", got.Loss, want.Loss)
				}
				for f := range want.Grad {
					if !near(got.Grad[f], want.Grad[f], float64(rows)) {
						t.Errorf("gradient %d = %v, want %v", f, got.Grad[f], want.Grad[f])
					}
				}
				for f := range want.Hess {
					if !near(got.Hess[f], want.Hess[f], float64(rows)) {
						t.Errorf("hessian %d = %v, want %v", f, got.Hess[f], want.Hess[f])
					}
				}
			})
		}
	}
}

// The error of a central difference is about step² plus rounding over step.
func TestLogisticDerivativesAgreeWithCentralDifferences(t *testing.T) {
	const step, rows = 1e-5, 700
	for seed := range uint64(3) {
		c := newLossCase(t, seed, feature.OneHot, rows)
		s := c.sums(t, c.coef)
		d := len(c.coef)
		for f := range d {
			lo, hi := slices.Clone(c.coef), slices.Clone(c.coef)
			lo[f], hi[f] = lo[f]-step, hi[f]+step
			below, above := c.sums(t, lo), c.sums(t, hi)
			if diff := (above.Loss - below.Loss) / (2 * step); math.Abs(diff-s.Grad[f]) > 1e-6*rows {
				t.Errorf("seed %d: gradient %d = %g, difference %g", seed, f, s.Grad[f], diff)
			}
			for g := range d {
				if diff := (above.Grad[g] - below.Grad[g]) / (2 * step); math.Abs(diff-s.Hess[f*d+g]) > 1e-6*rows {
					t.Errorf("seed %d: hessian %d,%d = %g, difference %g", seed, f, g, s.Hess[f*d+g], diff)
				}
			}
		}
	}
}

// Scores of ±1000 overflow exp and make 1-σ exactly 0; the loss is then the
// score itself on the wrong side and 0 on the right one.
func TestLogisticSumsAreStableFarOut(t *testing.T) {
	c := newLossCase(t, 9, feature.Ordinal, 1)
	for _, z := range []float64{1000, -1000} {
		coef := []float64{0, 0, 0, 0, z}
		s := c.sums(t, coef)
		loss, slope := 1000*c.neg[0], c.neg[0]
		if z < 0 {
			loss, slope = 1000*c.pos[0], -c.pos[0]
		}
		if s.Loss != loss || s.Grad[4] != slope || s.Hess[24] != 0 {
			t.Errorf("at score %v: loss %v, slope %v, curvature %v; want %v, %v, 0", z, s.Loss, s.Grad[4], s.Hess[24],
				loss, slope)
		}
	}
	// A right answer far out keeps its relative precision: log(1+e^-40) ≈ e^-40.
	c.pos[0], c.neg[0] = 1, 0
	if s := c.sums(t, []float64{0, 0, 0, 0, 40}); math.Abs(s.Loss/math.Exp(-40)-1) > 1e-14 ||
		math.Abs(-s.Grad[4]/math.Exp(-40)-1) > 1e-14 {
		t.Errorf("at score 40: loss %v, slope %v, want ±e^-40", s.Loss, s.Grad[4])
	}
}

func TestLogisticSumsDoNotDependOnTheNumberOfProcessors(t *testing.T) {
	c := newLossCase(t, 4, feature.OneHot, 40_000)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := c.sums(t, c.coef)
	for _, procs := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(procs)
		for range 5 {
			got := c.sums(t, c.coef)
			if got.Loss != want.Loss || !slices.Equal(got.Grad, want.Grad) || !slices.Equal(got.Hess, want.Hess) {
				t.Fatalf("with %d processors the sums differ in some bit from one processor's", procs)
			}
		}
	}
}

func TestLabelWeightsAreOfTheRowsLevel(t *testing.T) {
	for _, c := range []struct{ weights, pos, neg []float64 }{
		{nil, []float64{1, 0, 1}, []float64{0, 1, 0}},
		{[]float64{0.5, 0.25, 1}, []float64{0.5, 0, 0.5}, []float64{0, 1, 0}},
	} {
		pos, neg := make([]float64, 3), make([]float64, 3)
		LabelWeights([]uint8{1, 1, 0, 2, 0}, 0, c.weights)(2, pos, neg)
		if !slices.Equal(pos, c.pos) || !slices.Equal(neg, c.neg) {
			t.Errorf("weights %v, %v, want %v, %v", pos, neg, c.pos, c.neg)
		}
	}
}

func TestLogisticSumsRefuse(t *testing.T) {
	c := newLossCase(t, 2, feature.OneHot, 3000)
	weigh := GroupWeights(c.pos, c.neg)
	if _, err := LogisticSums(context.Background(), c.sp, c.cols, c.rows, weigh, c.coef[1:]); err == nil {
		t.Error("coefficients of the wrong length were accepted")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := LogisticSums(ctx, c.sp, c.cols, c.rows, weigh, c.coef); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

func TestLogisticSumsStopBetweenBlocks(t *testing.T) {
	c := newLossCase(t, 2, feature.OneHot, 40_000)
	ctx, cancel := context.WithCancel(context.Background())
	var calls atomic.Int64
	_, err := LogisticSums(ctx, c.sp, c.cols, c.rows, func(from int, pos, neg []float64) {
		calls.Add(1)
		cancel()
	}, c.coef)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
	// A goroutine that has seen its own call cancel makes no other.
	if n := int(calls.Load()); n > runtime.GOMAXPROCS(0) {
		t.Errorf("%d blocks were visited after the context ended", n)
	}
}

func BenchmarkLogisticSums(b *testing.B) {
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		c := newLossCase(b, 1, enc, 1_000_000)
		b.Run(string(enc), func(b *testing.B) {
			for b.Loop() {
				c.sums(b, c.coef)
			}
			b.ReportMetric(float64(c.rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
