// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Logistic computes the logistic loss of groups whose weights change between many evaluations: the
// features are laid out once, and the scores at the last coefficients are kept. Its gradient has an
// absolute error of about 1e-13 of the weights, whereas LogisticSums also keeps the digits of tiny
// slopes.
//
// Like LogisticSums it adds in strips, so that answers do not depend on the number of processors. It
// is not safe for concurrent use.
type Logistic struct {
	model    *lossModel
	rows     int
	index    [][]int32      // by column: the non-zero feature of each group, or nil if it has one feature
	value    [][]float64    // by column of one feature: its value in each group
	constant [][]int32      // by column of one feature: its index, lossBlock times
	ones     []float64      // lossBlock ones, the value of any other column
	coef     []float64      // coefficients of score and prob
	score    []float64      // by group
	prob     []float64      // by group: of the positive label
	scratch  []*lossScratch // one per goroutine
}

// NewLogistic lays out the groups g. Time and memory O(groups × columns), at
// most 8 bytes per group and column.
func NewLogistic(sp *feature.Space, g *engine.Groups) *Logistic {
	k := len(sp.Columns)
	l := &Logistic{
		model: newLossModel(sp, g.Cols, make([]float64, sp.Width()+1)), rows: g.Len,
		index: make([][]int32, k), value: make([][]float64, k), constant: make([][]int32, k),
		ones:  make([]float64, lossBlock),
		score: make([]float64, g.Len), prob: make([]float64, g.Len),
	}
	for i := range l.ones {
		l.ones[i] = 1
	}
	codes := make([]uint32, g.Len)
	for k := range l.model.tables {
		t := &l.model.tables[k]
		t.codes.Read(0, codes)
		if !t.one {
			l.index[k] = make([]int32, g.Len)
			for i, c := range codes {
				l.index[k][i] = t.index[c]
			}
			continue
		}
		l.value[k], l.constant[k] = make([]float64, g.Len), make([]int32, lossBlock)
		for i, c := range codes {
			l.value[k][i] = t.value[c]
		}
		for i := range l.constant[k] {
			l.constant[k][i] = t.index[0]
		}
	}
	return l
}

// Scores returns the groups' scores at the coefficients of the last Gradient, valid until the next.
func (l *Logistic) Scores() []float64 { return l.score }

// Gradient returns the summed gradient at coef (length Width+1, the intercept last) of the loss of
// groups with the weights pos[g] of positive and neg[g] of negative labels. At the coefficients of the
// last call it computes no new scores. It fails only if ctx has ended or the lengths do not match.
func (l *Logistic) Gradient(ctx context.Context, pos, neg, coef []float64) ([]float64, error) {
	if len(coef) != l.model.dim || len(pos) != l.rows || len(neg) != l.rows {
		return nil, fmt.Errorf("engine: logistic: coef must have %d numbers and the weights %d (got %d, %d and %d)",
			l.model.dim, l.rows, len(coef), len(pos), len(neg))
	}
	moved := !equalVectors(l.coef, coef)
	if moved {
		l.coef = append(l.coef[:0], coef...)
	}
	sum, err := l.sumStrips(ctx, func(from, to int, s *lossScratch, into *engine.LossSums) {
		if moved {
			l.scoreBlock(from, to)
		}
		l.fillSlopes(s, pos[from:to], neg[from:to], l.prob[from:to])
		l.addGradient(from, to, s.slope, into.Grad)
	}, 1)
	if err != nil {
		l.coef = l.coef[:0]
		return nil, err
	}
	return sum.Grad, nil
}

// Hessian returns the (d+1)×(d+1) row-major Hessian at the coefficients of the last Gradient, with
// weights pos and neg as there. Only the upper triangle is filled.
func (l *Logistic) Hessian(ctx context.Context, pos, neg []float64) ([]float64, error) {
	sum, err := l.sumStrips(ctx, func(from, to int, s *lossScratch, into *engine.LossSums) {
		l.fillSlopes(s, pos[from:to], neg[from:to], l.prob[from:to])
		for k := range l.index {
			if s.index[k], s.value[k] = l.constant[k], l.ones; l.index[k] != nil {
				s.index[k] = l.index[k][from:to]
			} else {
				s.value[k] = l.value[k][from:to]
			}
		}
		l.model.scatterBlock(to-from, s, into)
	}, l.model.dim)
	if err != nil {
		return nil, err
	}
	return sum.Hess, nil
}

// rowsWorthAWorker is the number of rows from which a second goroutine saves more time than it costs
// to start.
const rowsWorthAWorker = 1 << 15

// sumStrips calls add for every block of rows and returns the strips' sums, whose Hessians have
// l.model.dim × height numbers.
func (l *Logistic) sumStrips(ctx context.Context, add func(from, to int, s *lossScratch, into *engine.LossSums),
	height int) (*engine.LossSums, error) {
	dim := l.model.dim
	parts := make([]*engine.LossSums, stripCount(l.rows, dim))
	var next atomic.Int64
	work := func(s *lossScratch) {
		for p := int(next.Add(1) - 1); p < len(parts) && ctx.Err() == nil; p = int(next.Add(1) - 1) {
			from, to := p*l.rows/len(parts), (p+1)*l.rows/len(parts)
			parts[p] = &engine.LossSums{Grad: make([]float64, dim), Hess: make([]float64, dim*height)}
			for at := from; at < to; at += lossBlock {
				add(at, min(at+lossBlock, to), s, parts[p])
			}
		}
	}
	var workers sync.WaitGroup
	n := max(1, min(runtime.GOMAXPROCS(0), len(parts), l.rows/rowsWorthAWorker))
	for len(l.scratch) < n {
		s := newLossScratch(0)
		s.index, s.value = make([][]int32, len(l.index)), make([][]float64, len(l.index))
		l.scratch = append(l.scratch, s)
	}
	for w := 1; w < n; w++ {
		workers.Go(func() { work(l.scratch[w]) })
	}
	work(l.scratch[0]) // a few blocks of rows are not worth a wait for another goroutine
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sum := &engine.LossSums{Grad: make([]float64, dim), Hess: make([]float64, dim*height)}
	for _, p := range parts {
		sum.Add(p)
	}
	return sum, nil
}

// scoreBlock computes score and prob of one block at l.coef.
func (l *Logistic) scoreBlock(from, to int) {
	score, prob := l.score[from:to], l.prob[from:to]
	for i := range score {
		score[i] = l.coef[len(l.coef)-1]
	}
	pending := -1 // a column of one feature that waits for another, to be added with it
	for k, index := range l.index {
		switch {
		case index != nil:
			for i, f := range index[from:to] {
				score[i] += l.coef[f]
			}
		case pending < 0:
			pending = k
		default:
			c, d := l.coef[l.constant[pending][0]], l.coef[l.constant[k][0]]
			u, v := l.value[pending][from:to][:len(score)], l.value[k][from:to][:len(score)]
			for i, z := range score {
				score[i] = z + c*u[i] + d*v[i]
			}
			pending = -1
		}
	}
	if pending >= 0 {
		c, u := l.coef[l.constant[pending][0]], l.value[pending][from:to][:len(score)]
		for i, z := range score {
			score[i] = z + c*u[i]
		}
	}
	writeSigmoids(prob, score)
}

// fillSlopes fills slope and curve of one block.
func (l *Logistic) fillSlopes(s *lossScratch, pos, neg, prob []float64) {
	slope, curve := s.slope[:len(prob)], s.curve[:len(prob)]
	pos, neg = pos[:len(prob)], neg[:len(prob)]
	for i, p := range prob {
		w := (pos[i] + neg[i]) * p
		slope[i], curve[i] = w-pos[i], w*(1-p)
	}
}

// addGradient adds one block to the gradient.
func (l *Logistic) addGradient(from, to int, slope, grad []float64) {
	slope = slope[:to-from]
	for k, index := range l.index {
		if index == nil {
			grad[l.constant[k][0]] += dotProduct(slope, l.value[k][from:to])
			continue
		}
		for i, f := range index[from:to] {
			grad[f] += slope[i]
		}
	}
	grad[len(grad)-1] += sumInterleaved(slope)
}

func equalVectors(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
