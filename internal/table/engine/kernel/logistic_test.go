// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	. "github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

func (c *lossCase) logistic() *Logistic {
	return NewLogistic(c.sp, &Groups{Cols: c.cols, Len: c.rows})
}

// The twin is LogisticSums, at several places and weights of one Logistic, so
// that what it keeps between calls is put to the test.
func TestLogisticEqualsLogisticSums(t *testing.T) {
	ctx := context.Background()
	for _, enc := range []feature.Encoding{feature.Ordinal, feature.OneHot} {
		for _, rows := range []int{1, 255, 257, 5000} {
			t.Run(fmt.Sprintf("%s/%d", enc, rows), func(t *testing.T) {
				c := newLossCase(t, uint64(rows), enc, rows)
				l, coef := c.logistic(), slices.Clone(c.coef)
				for turn := range 4 {
					if turn == 2 { // in between only the weights change
						for f := range coef {
							coef[f] *= -0.7
						}
					}
					for i := range c.pos {
						c.pos[i] *= 1 + float64(i%3)/2
					}
					want := c.sums(t, coef)
					grad, err := l.Gradient(ctx, c.pos, c.neg, coef)
					if err != nil {
						t.Fatal(err)
					}
					hess, err := l.Hessian(ctx, c.pos, c.neg)
					if err != nil {
						t.Fatal(err)
					}
					for f, g := range want.Grad {
						if !near(grad[f], g, 1) {
							t.Errorf("turn %d: gradient[%d] = %v, want %v", turn, f, grad[f], g)
						}
						for h := f; h < len(coef); h++ {
							if at := f*len(coef) + h; !near(hess[at], want.Hess[at], 1) {
								t.Errorf("turn %d: Hessian[%d,%d] = %v, want %v", turn, f, h, hess[at], want.Hess[at])
							}
						}
					}
					for i, z := range l.Scores() {
						want := coef[len(coef)-1]
						for k, j := range c.sp.Columns {
							f, v := c.sp.Cell(k, &c.cols[j], int(c.cols[j].Codes.At(i)))
							want += coef[f] * v
						}
						if !near(z, want, 1) {
							t.Fatalf("turn %d: score %d = %v, want %v", turn, i, z, want)
						}
					}
				}
			})
		}
	}
}

func TestLogisticDoesNotDependOnProcessors(t *testing.T) {
	c := newLossCase(t, 8, feature.OneHot, 9000)
	run := func(processors int) ([]float64, []float64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		l := c.logistic()
		grad, err1 := l.Gradient(context.Background(), c.pos, c.neg, c.coef)
		hess, err2 := l.Hessian(context.Background(), c.pos, c.neg)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		return grad, hess
	}
	grad, hess := run(1)
	for _, processors := range []int{2, 7} {
		if g, h := run(processors); !slices.Equal(g, grad) || !slices.Equal(h, hess) {
			t.Errorf("%d processors: other bits than one", processors)
		}
	}
}

// Scores of a thousand saturate the sigmoid: the slope is a whole weight or
// nothing, never NaN.
func TestLogisticAtTheTails(t *testing.T) {
	c := newLossCase(t, 3, feature.Ordinal, 300)
	l, coef := c.logistic(), make([]float64, c.sp.Width()+1)
	for _, side := range []float64{1000, -1000} {
		coef[len(coef)-1] = side
		grad, err := l.Gradient(context.Background(), c.pos, c.neg, coef)
		if err != nil {
			t.Fatal(err)
		}
		want := 0.0
		for i := range c.pos {
			if side > 0 {
				want += c.neg[i]
			} else {
				want -= c.pos[i]
			}
		}
		if got := grad[len(grad)-1]; !(math.Abs(got-want) < 1e-9) {
			t.Errorf("score %g: slope %v, want %v", side, got, want)
		}
	}
}

func TestLogisticRefuses(t *testing.T) {
	c := newLossCase(t, 4, feature.Ordinal, 300)
	l := c.logistic()
	if _, err := l.Gradient(context.Background(), c.pos, c.neg, c.coef[1:]); err == nil {
		t.Error("coefficients of another length were accepted")
	}
	if _, err := l.Gradient(context.Background(), c.pos[1:], c.neg, c.coef); err == nil {
		t.Error("weights of another length were accepted")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Gradient(ended, c.pos, c.neg, c.coef); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled context: %v", err)
	}
	// What was interrupted is not taken for done.
	want := c.sums(t, c.coef)
	if grad, err := l.Gradient(context.Background(), c.pos, c.neg, c.coef); err != nil || !near(grad[0], want.Grad[0], 1) {
		t.Errorf("after a cancelled call: %v, %v, want %v", grad, err, want.Grad)
	}
}
