// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// ShapeSlopes implements engine.Table. Time O(n·K²) for K shapes; memory O(K·(rows at a time + K))
// on each core.
func (m *Table) ShapeSlopes(
	ctx context.Context, f *feature.Additive, shapes []feature.Shape, most float64,
) (out engine.ShapeSlopes, err error) {
	if err := m.checkBinary("slopes of shapes", weighed); err != nil {
		return out, err
	}
	k := len(shapes)
	if !(most > 0) || k == 0 || k > engine.MostShapes {
		return out, fmt.Errorf("memory: slopes of shapes need a length > 0 and 1 to %d shapes (got %g and %d)",
			engine.MostShapes, most, k)
	}
	// Of what is not 0 no step is shorter than a unit, so a lesser most says the same.
	q := &shapeSlopes{t: m, score: f.Bind(m.t.Cols), most: math.Max(most, 1./feature.ScoreOne)}
	for i := range shapes {
		q.shapes = append(q.shapes, (&feature.Additive{Shapes: shapes[i : i+1]}).Bind(m.t.Cols))
	}
	chunks := (m.t.Rows + shapeRows - 1) / shapeRows
	parts := make([]engine.ShapeSlopes, max(1, min(runtime.GOMAXPROCS(0), chunks)))
	var wg sync.WaitGroup
	for w := range parts {
		parts[w] = engine.ShapeSlopes{Slopes: make([]int64, k), Curves: make([]int64, k*(k+1)/2)}
		wg.Go(func() {
			s := &shapeScratch{x: make([]float64, k*shapeRows)}
			for c := w; c < chunks && ctx.Err() == nil; c += len(parts) {
				q.addRows(c*shapeRows, min((c+1)*shapeRows, m.t.Rows), s, &parts[w])
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return out, fmt.Errorf("memory: %w", err)
	}
	out = parts[0]
	for _, p := range parts[1:] {
		for i, x := range p.Slopes {
			out.Slopes[i] += x
		}
		for i, x := range p.Curves {
			out.Curves[i] += x
		}
	}
	return out, nil
}

// shapeRows is how many rows are added up at a time: what some 16 shapes say of them stays in the
// processor's nearest cache.
const shapeRows = 1 << 8

// shapeSlopes is one question on its way.
type shapeSlopes struct {
	t      *Table
	score  *feature.BoundAdditive
	shapes []*feature.BoundAdditive // one by one
	most   float64
}

// shapeScratch is about the rows that are added up at a time.
type shapeScratch struct {
	spare                       [2 * shapeRows]uint32
	units                       [shapeRows]int64
	slope, curve, scale, curved [shapeRows]float64
	x                           []float64 // what shapes say, by shape, then row
}

// addRows adds rows from..to-1.
func (q *shapeSlopes) addRows(from, to int, s *shapeScratch, into *engine.ShapeSlopes) {
	n := to - from
	units, slope, curve, scale, curved := s.units[:n], s.slope[:n], s.curve[:n], s.scale[:n], s.curved[:n]
	q.score.Scores(from, units, s.spare[:2*n])
	for i, z := range units {
		one := float64(engine.WeightOne)
		if q.t.weights != nil {
			one = float64(q.t.weights[from+i])
		}
		p := 1 / (1 + math.Exp(-float64(z)/feature.ScoreOne))
		slope[i] = -p * one
		if int(q.t.t.Labels[from+i]) == q.t.positive {
			slope[i] = (1 - p) * one
		}
		curve[i] = p * (1 - p) * one
	}
	clear(scale)
	for k, sh := range q.shapes {
		sh.Scores(from, units, s.spare[:2*n])
		x := s.x[k*shapeRows:][:n]
		for i, u := range units {
			x[i] = float64(u) / feature.ScoreOne
			scale[i] += float64(x[i] * x[i]) // not added before it is rounded, on any machine
		}
	}
	for i, square := range scale {
		scale[i] = 1 / math.Max(q.most, math.Sqrt(square))
	}
	sums := into.Curves
	for k := range q.shapes {
		x := s.x[k*shapeRows:][:n]
		for i := range x {
			x[i] *= scale[i]
			curved[i] = curve[i] * x[i]
		}
		into.Slopes[k] += sumProducts(slope, x)
		sums[k] += sumProducts(curved, x)
		for i := range curved {
			curved[i] *= math.Sqrt2
		}
		for j := range k {
			sums[j] += sumProducts(curved, s.x[j*shapeRows:][:n])
		}
		sums = sums[k+1:]
	}
}

// sumProducts cuts every product off toward 0, so that none grows.
func sumProducts(a, b []float64) (sum int64) {
	b = b[:len(a)]
	for i, x := range a {
		sum += int64(x * b[i])
	}
	return sum
}
