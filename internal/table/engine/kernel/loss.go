// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Weigh writes the weights of the rows from, from+1, ... to pos and neg, for the positive label and
// the other. Weights are finite and ≥ 0, and both slices have the same length. It is called
// concurrently.
type Weigh func(from int, pos, neg []float64)

// LabelWeights gives every row the weight of its label's code, 1 if weights
// is nil. labels are codes; positive is the code of the positive level, any
// other is negative.
func LabelWeights(labels []uint8, positive int, weights []float64) Weigh {
	return func(from int, pos, neg []float64) {
		for i, label := range labels[from:][:len(pos)] {
			weight := 1.0
			if weights != nil {
				weight = weights[label]
			}
			if int(label) == positive {
				pos[i], neg[i] = weight, 0
			} else {
				pos[i], neg[i] = 0, weight
			}
		}
	}
}

// GroupWeights gives row g the weights positive[g] and negative[g]. It retains both slices.
func GroupWeights(positive, negative []float64) Weigh {
	return func(from int, pos, neg []float64) {
		copy(pos, positive[from:])
		copy(neg, negative[from:])
	}
}

// LogisticSums evaluates
//
//	Σ_i pos_i·log(1+exp(-z_i)) + neg_i·log(1+exp(z_i)),  z_i = coef·features_i + intercept,
//
// with its gradient and Hessian, over rows of coded columns; coef has length Width+1, the intercept
// last, and cols is parallel to the schema's Columns. A row costs columns² additions, regardless of
// the number of features. Memory: at most 64 partial Hessians, fewer if they are large.
//
// The rows are divided into strips by their number alone and the strips' sums are added in order, so
// that the result does not depend on the number of processors. It fails only if ctx ends or the
// lengths do not match.
func LogisticSums(ctx context.Context, sp *feature.Space, cols []column.Column, rows int, weigh Weigh,
	coef []float64) (*engine.LossSums, error) {
	if len(coef) != sp.Width()+1 {
		return nil, fmt.Errorf("engine: loss sums: coef must have %d numbers, one per feature and the intercept (got %d)",
			sp.Width()+1, len(coef))
	}
	m := newLossModel(sp, cols, coef)
	strips := make([]*engine.LossSums, stripCount(rows, len(coef)))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(strips)) {
		workers.Go(func() {
			scratch := newLossScratch(len(m.tables))
			for s := next.Add(1) - 1; int(s) < len(strips); s = next.Add(1) - 1 {
				from, to := int(s)*rows/len(strips), int(s+1)*rows/len(strips)
				strips[s] = m.sumStrip(ctx, from, to, weigh, scratch)
			}
		})
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sum := newLossSums(len(coef))
	for _, s := range strips {
		sum.Add(s)
	}
	mirrorHessian(sum)
	return sum, nil
}

const (
	stripRows   = 1 << 11 // a shorter strip costs more for merging than it saves
	maxStrips   = 64
	maxPartials = 1 << 23 // numbers in all strips' Hessians, 64 MiB
	lossBlock   = 256     // rows whose intermediate results stay in cache
)

// stripCount depends on public sizes only, never on the machine.
func stripCount(rows, dim int) int {
	fit := max(2, maxPartials/(dim*dim))
	return min((rows+stripRows-1)/stripRows, maxStrips, fit)
}

// lossModel is one coefficient vector, tabulated by code of each column.
type lossModel struct {
	dim    int
	bias   float64
	tables []lossTable // one per column of the space
}

type lossTable struct {
	codes *column.Codes
	one   bool      // the column has one feature for all codes
	index []int32   // by code: the feature that is non-zero
	value []float64 // by code: its value
	score []float64 // by code: coefficient × value
}

func newLossModel(sp *feature.Space, cols []column.Column, coef []float64) *lossModel {
	m := &lossModel{dim: len(coef), bias: coef[len(coef)-1]}
	for k, j := range sp.Columns {
		col := &cols[j]
		n := sp.Codes(k, col)
		_, width := sp.Block(k)
		t := lossTable{&col.Codes, width == 1, make([]int32, n), make([]float64, n), make([]float64, n)}
		for code := range n {
			f, v := sp.Cell(k, col, code)
			t.index[code], t.value[code] = int32(f), v
			t.score[code] = coef[f] * v
		}
		m.tables = append(m.tables, t)
	}
	return m
}

// lossScratch is one goroutine's workspace for one block of rows.
type lossScratch struct {
	codes    []uint32
	pos, neg []float64
	score    []float64
	slope    []float64 // derivative of the loss by the score
	curve    []float64 // second derivative
	scaled   []float64 // curve × value of one column
	factor   []float64 // of the whole row, if it has one
	index    [][]int32
	value    [][]float64
}

func newLossScratch(columns int) *lossScratch {
	s := &lossScratch{codes: make([]uint32, lossBlock)}
	for _, p := range []*[]float64{&s.pos, &s.neg, &s.score, &s.slope, &s.curve, &s.scaled, &s.factor} {
		*p = make([]float64, lossBlock)
	}
	for range columns {
		s.index = append(s.index, make([]int32, lossBlock))
		s.value = append(s.value, make([]float64, lossBlock))
	}
	return s
}

// sumStrip returns the sums over rows from..to-1, which are incomplete if ctx has ended.
func (m *lossModel) sumStrip(ctx context.Context, from, to int, weigh Weigh, s *lossScratch) *engine.LossSums {
	sum := newLossSums(m.dim)
	for at := from; at < to && ctx.Err() == nil; at += lossBlock {
		n := min(lossBlock, to-at)
		m.scoreBlock(at, n, s)
		weigh(at, s.pos[:n], s.neg[:n])
		sum.Loss += fillLosses(s, n)
		m.scatterBlock(n, s, sum)
	}
	return sum
}

// scoreBlock fetches each cell's feature and value and adds up the scores.
func (m *lossModel) scoreBlock(at, n int, s *lossScratch) {
	for i := range n {
		s.score[i] = m.bias
	}
	for k := range m.tables {
		t := &m.tables[k]
		t.codes.Read(at, s.codes[:n])
		index, value, score := s.index[k][:n], s.value[k][:n], s.score[:n]
		for i, code := range s.codes[:n] {
			index[i], value[i] = t.index[code], t.value[code]
			score[i] += t.score[code]
		}
	}
}

// fillLosses fills slope and curve and returns the block's loss. All formulas use e = exp(-|z|) ≤ 1,
// so that nothing overflows and neither tail of the sigmoid is a difference of nearly equal numbers.
// Products are wrapped in float64() here and below, because compilers for some machines would
// otherwise fuse them with an addition.
func fillLosses(s *lossScratch, n int) (sum float64) {
	for i := range n {
		z, pos, neg := s.score[i], s.pos[i], s.neg[i]
		e := math.Exp(-math.Abs(z))
		most, least := 1/(1+e), e/(1+e) // σ(|z|) and σ(-|z|)
		right, wrong := pos, neg        // weights on the side of the score, and against it
		slope := 1.0
		if z < 0 {
			right, wrong, slope = neg, pos, -1
		}
		l := math.Log1p(e)
		sum += (pos+neg)*l + wrong*math.Abs(z)
		s.slope[i] = slope * (wrong*most - right*least)
		s.curve[i] = (pos + neg) * (most * least)
	}
	return sum
}

// scatterBlock adds the block to the gradient and the Hessian.
func (m *lossModel) scatterBlock(n int, s *lossScratch, sum *engine.LossSums) {
	slope := s.slope[:n]
	for k := range m.tables {
		index, value := s.index[k][:n], s.value[k][:n]
		if m.tables[k].one {
			sum.Grad[index[0]] += dotProduct(slope, value)
			continue
		}
		for i, f := range index {
			sum.Grad[f] += slope[i] * value[i]
		}
	}
	sum.Grad[m.dim-1] += sumInterleaved(slope)
	m.addCurves(n, s, sum.Hess, 0)
}

// addCurves adds the block to the upper triangle of the Hessian. Features of later columns have larger
// indices and the intercept is last, so that the triangle needs no comparison. If the position of a
// sum is the same for all rows, it is added up in registers first. A column of several features always
// has the value 1. Terms are rounded by r; 0 means no rounding.
func (m *lossModel) addCurves(n int, s *lossScratch, hess []float64, r rounder) {
	d := m.dim - 1
	for k := range m.tables {
		index, scaled := s.index[k][:n], s.curve[:n]
		f := int(index[0])
		if m.tables[k].one {
			scaled = s.scaled[:n]
			for i, v := range s.value[k][:n] {
				scaled[i] = r.round(s.curve[i] * v)
			}
			hess[f*m.dim+d] += sumInterleaved(scaled)
		} else {
			for i, f := range index {
				hess[int(f)*m.dim+d] += scaled[i]
			}
		}
		for l := k; l < len(m.tables); l++ {
			index2, value2 := s.index[l][:n], s.value[l][:n]
			switch one, one2 := m.tables[k].one, m.tables[l].one; {
			case one && one2 && r == 0:
				hess[f*m.dim+int(index2[0])] += dotProduct(scaled, value2)
			case one && one2:
				hess[f*m.dim+int(index2[0])] += dotRounded(scaled, value2, r)
			case one:
				row := hess[f*m.dim:]
				for i, f := range index2 {
					row[f] += scaled[i]
				}
			case one2:
				column := hess[index2[0]:]
				for i, f := range index {
					column[int(f)*m.dim] += r.round(scaled[i] * value2[i])
				}
			default:
				for i, f := range index {
					hess[int(f)*m.dim+int(index2[i])] += scaled[i]
				}
			}
		}
	}
	hess[d*m.dim+d] += sumInterleaved(s.curve[:n])
}

// addTimes is addCurves for rows with multiplicities.
func (m *lossModel) addTimes(times []int64, s *lossScratch, hess []float64, r rounder) {
	d := m.dim - 1
	for i, n := range times {
		c, many := s.curve[i], float64(n)
		for k := range m.tables {
			f, scaled := int(m.featureAt(k, i, s)), c
			if m.tables[k].one {
				scaled = r.round(c * s.value[k][i])
			}
			hess[f*m.dim+d] += many * scaled
			for l := k; l < len(m.tables); l++ {
				term := scaled
				if m.tables[l].one {
					term = r.round(scaled * s.value[l][i])
				}
				hess[f*m.dim+int(m.featureAt(l, i, s))] += many * term
			}
		}
		hess[d*m.dim+d] += many * c
	}
}

// featureAt returns the non-zero feature of row i in the k-th column.
func (m *lossModel) featureAt(k, i int, s *lossScratch) int32 {
	if m.tables[k].one {
		i = 0
	}
	return s.index[k][i]
}

// dotRounded returns the sum of the rounded products.
func dotRounded(a, b []float64, r rounder) float64 {
	var p, q float64
	i := 1
	for ; i < len(a); i += 2 {
		p += r.round(a[i-1] * b[i-1])
		q += r.round(a[i] * b[i])
	}
	if i == len(a) {
		p += r.round(a[i-1] * b[i-1])
	}
	return p + q
}

// dotProduct is the scalar product of vectors of one length.
func dotProduct(a, b []float64) float64 { return floats.Dot(a, b) }

// sumInterleaved adds in four interleaved sums, because in a single sum each addition would wait for
// the previous one.
func sumInterleaved(a []float64) float64 {
	var p, q, r, s float64
	for ; len(a) >= 4; a = a[4:] {
		p += a[0]
		q += a[1]
		r += a[2]
		s += a[3]
	}
	for _, x := range a {
		p += x
	}
	return p + q + r + s
}

func newLossSums(dim int) *engine.LossSums {
	return &engine.LossSums{Grad: make([]float64, dim), Hess: make([]float64, dim*dim)}
}

// mirrorHessian copies the upper triangle of the Hessian to the lower.
func mirrorHessian(l *engine.LossSums) {
	if l.Hess == nil {
		return
	}
	d := len(l.Grad)
	for i := range d {
		for j := range i {
			l.Hess[i*d+j] = l.Hess[j*d+i]
		}
	}
}
