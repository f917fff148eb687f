// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"math"
	"slices"
)

// Shape is the distribution of a statistic on the two sides, for a chart.
type Shape struct {
	Statistic string
	At        []float64    // values, or middles of cells of equal width
	Share     [2][]float64 // of the runs of a side, parallel to At
}

// describeEvent describes the statistic of the chosen event on the runs on which it was chosen: every
// value if there are few, otherwise cells of equal width. The outermost runs are counted in the first
// and the last cell.
func describeEvent(ev *event, p *Pair, out [2][]float64) Shape {
	const cells = 24
	width := len(p.Outputs)
	n := len(out[0]) / width
	var v [2][]float64
	var finite []float64
	for side := range out {
		for i := range n {
			x := ev.stat.of(out[side][i*width:][:width])
			v[side] = append(v[side], x)
			if !math.IsInf(x, 0) {
				finite = append(finite, x)
			}
		}
	}
	s := Shape{Statistic: ev.stat.name}
	if len(finite) == 0 {
		return s
	}
	slices.Sort(finite)
	s.At = slices.Compact(slices.Clone(finite))
	cell := func(x float64) int { at, _ := slices.BinarySearch(s.At, x); return min(at, len(s.At)-1) }
	if len(s.At) > cells {
		lo, hi := finite[len(finite)/1000], finite[len(finite)-1-len(finite)/1000]
		step := (hi - lo) / cells
		s.At = s.At[:0:0]
		for i := range cells {
			s.At = append(s.At, lo+(float64(i)+0.5)*step)
		}
		cell = func(x float64) int { return int(min(max((x-lo)/step, 0), cells-1)) }
	}
	for side := range v {
		s.Share[side] = make([]float64, len(s.At))
		for _, x := range v[side] {
			s.Share[side][cell(x)] += 1 / float64(n)
		}
	}
	return s
}
