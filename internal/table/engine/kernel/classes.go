// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// ClassScores holds a score per row and class, as engine.ClassScore means them, and answers
// questions about them. Memory 4 bytes per row and class. It is not for several goroutines
// at once.
type ClassScores struct {
	cols    []column.Column
	labels  []uint8
	weights []uint32 // by row, at most engine.WeightOne; nil where every row counts once
	classes int
	z       []int32 // by row, then class
}

// NewClassScores starts every row at the given scores. cols is parallel to the schema's
// Columns. weights are those of the rows in units of 1/engine.WeightOne, nil where every row counts
// once. It keeps cols, labels and weights.
func NewClassScores(cols []column.Column, labels []uint8, weights []uint32, start []int64) *ClassScores {
	s := &ClassScores{cols: cols, labels: labels, weights: weights, classes: len(start),
		z: make([]int32, len(labels)*len(start))}
	for at := 0; at < len(s.z); at += s.classes {
		for k, units := range start {
			s.z[at+k] = clampUnits(units)
		}
	}
	return s
}

func clampUnits(units int64) int32 {
	return int32(min(max(units, -engine.MaxClassScore), engine.MaxClassScore))
}

// classBlock is how many rows one piece of work covers.
const classBlock = 1 << 12

// eachBlock calls do for every block of rows on all cores, with scratch for its
// codes. It fails only when ctx ends.
func (s *ClassScores) eachBlock(ctx context.Context, do func(from, to int, codes []uint32)) error {
	var next atomic.Int64
	var workers sync.WaitGroup
	blocks := (len(s.labels) + classBlock - 1) / classBlock
	for range min(runtime.GOMAXPROCS(0), blocks) {
		workers.Go(func() {
			codes := make([]uint32, classBlock)
			for b := int(next.Add(1) - 1); b < blocks && ctx.Err() == nil; b = int(next.Add(1) - 1) {
				from, to := b*classBlock, min((b+1)*classBlock, len(s.labels))
				do(from, to, codes[:to-from])
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// Add adds a term to the scores. One pass over the rows.
func (s *ClassScores) Add(ctx context.Context, t *engine.ClassTerm) error {
	col := &s.cols[t.Bins.Column]
	bins := t.Bins.ByCode(col)
	units := make([]int64, 0, len(bins)*s.classes) // by code, then class
	for _, b := range bins {
		for k := range s.classes {
			units = append(units, t.Units[k][b])
		}
	}
	return s.eachBlock(ctx, func(from, to int, codes []uint32) {
		col.Codes.Read(from, codes)
		for i, c := range codes {
			row := s.z[(from+i)*s.classes:][:s.classes]
			for k, u := range units[int(c)*s.classes:][:s.classes] {
				row[k] = clampUnits(int64(row[k]) + u)
			}
		}
	})
}

// Slope adds up, over the rows, the first derivative of log p(label) along sh and
// half its second, negated. What a row adds is shortened so that the sizes of
// both together are at most most nats > 0: at most engine.WeightOne units. The sums are
// exact, hence the same for any order of the rows. One pass.
func (s *ClassScores) Slope(ctx context.Context, sh *feature.LevelShape, most float64) (engine.ClassSlope, error) {
	bins := sh.ByCode(&s.cols[sh.Column])
	steps := make([]float64, len(bins)*s.classes) // by code, then class
	for code, b := range bins {
		for k := range s.classes {
			steps[code*s.classes+k] = sh.Steps[k][b]
		}
	}
	var gain, curve atomic.Int64
	err := s.eachBlock(ctx, func(from, to int, codes []uint32) {
		s.cols[sh.Column].Codes.Read(from, codes)
		p := make([]float64, s.classes)
		var g, c int64
		for i, code := range codes {
			s.writeSoftmax(from+i, p)
			row := steps[int(code)*s.classes:][:s.classes]
			mean, square := 0.0, 0.0
			for k, x := range row {
				mean += p[k] * x
				square += p[k] * (x * x)
			}
			first := row[s.labels[from+i]] - mean
			half := math.Max(0, square-mean*mean) / 2
			scale := 1 / math.Max(most, math.Abs(first)+half)
			// Truncated, so that their sizes add up to engine.WeightOne at most.
			one, two := int64(first*scale*engine.WeightOne), int64(half*scale*engine.WeightOne)
			if max(one, -one)+two > engine.WeightOne || min(one+engine.WeightOne, two) < 0 {
				one, two = 0, 0 // not numbers: steps that a learner should not have
			}
			if s.weights != nil { // division truncates, too
				w := int64(s.weights[from+i])
				one, two = one*w/engine.WeightOne, two*w/engine.WeightOne
			}
			g += one
			c += two
		}
		gain.Add(g)
		curve.Add(c)
	})
	return engine.ClassSlope{Gain: gain.Load(), HalfCurve: curve.Load()}, err
}

// Residuals adds up what the labels say beyond the scores. The sums are exact, hence the same
// for any order of the rows. One pass.
func (s *ClassScores) Residuals(ctx context.Context, bins *feature.Bins) (out engine.ClassResiduals, err error) {
	byCode := bins.ByCode(&s.cols[bins.Column])
	n := bins.Len()
	sums := make([]uint64, 2*s.classes*n) // above, then below; by class, then bin
	var all sync.Mutex
	err = s.eachBlock(ctx, func(from, to int, codes []uint32) {
		s.cols[bins.Column].Codes.Read(from, codes)
		p := make([]float64, s.classes)
		own := make([]uint64, len(sums))
		weight := uint64(engine.WeightOne)
		for i, code := range codes {
			s.writeSoftmax(from+i, p)
			b := int(byCode[code])
			if s.weights != nil {
				weight = uint64(s.weights[from+i])
			}
			for k, x := range p {
				units := uint64(x * engine.WeightOne) // rounded down, so that all of them together are at most engine.WeightOne
				if k == int(s.labels[from+i]) {
					own[k*n+b] += (engine.WeightOne - units) * weight / engine.WeightOne
				} else {
					own[(s.classes+k)*n+b] += units * weight / engine.WeightOne
				}
			}
		}
		all.Lock()
		defer all.Unlock()
		for i, x := range own {
			sums[i] += x
		}
	})
	for k := range s.classes {
		out.Above, out.Below = append(out.Above, sums[k*n:][:n]), append(out.Below, sums[(s.classes+k)*n:][:n])
	}
	return out, err
}

// writeSoftmax writes the softmax of a row's scores.
func (s *ClassScores) writeSoftmax(row int, p []float64) {
	writeSoftmax(s.z[row*s.classes:][:s.classes], p)
}

// writeSoftmax writes the softmax of scores in units.
func writeSoftmax(z []int32, p []float64) {
	most := z[0]
	for _, x := range z[1:] {
		most = max(most, x)
	}
	sum := 0.0
	for k, x := range z {
		p[k] = math.Exp(float64(x-most) / feature.ScoreOne)
		sum += p[k]
	}
	for k := range p {
		p[k] /= sum
	}
}
