// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"fmt"
	"math"
	"slices"
)

// statistic reduces a run to one number. It may have been learned on the runs on which the event is
// chosen. It never returns NaN.
type statistic struct {
	name string
	of   func(run []float64) float64
}

// listStatistics lists the statistics to search: the pair's own score; each number; the position of
// each number's lowest bit, where floating-point noise leaks; and likelihood ratios learned from the
// runs, for each number alone, for all as if independent, and for each two together if there are few.
func listStatistics(p *Pair, out [2][]float64) (list []statistic) {
	width := len(p.Outputs)
	if p.Score != nil {
		list = append(list, statistic{"likelihood ratio", func(run []float64) float64 { return orderedFloat(p.Score(run)) }})
	}
	ratios := make([]func(run []float64) float64, width)
	for k, name := range p.Outputs {
		list = append(list, statistic{name, func(run []float64) float64 { return orderedFloat(run[k]) }})
		if countSeen(out, width, k, lowestBit) > 1 {
			list = append(list, statistic{"lowest bit of " + name, func(run []float64) float64 { return lowestBit(run[k]) }})
		}
		b := newBins(out, width, k, 64)
		ratios[k] = learnCellRatio([]bins{b}, out, width)
		list = append(list, statistic{"learned ratio of " + name, ratios[k]})
	}
	if width == 1 {
		return list
	}
	list = append(list, statistic{"learned ratio of all numbers", func(run []float64) (sum float64) {
		for _, r := range ratios {
			sum += r(run)
		}
		return sum
	}})
	const few = 6
	if width <= few {
		for k := range width {
			for l := range k {
				both := []bins{newBins(out, width, l, 24), newBins(out, width, k, 24)}
				list = append(list, statistic{fmt.Sprintf("learned ratio of (%s, %s)", p.Outputs[l], p.Outputs[k]),
					learnCellRatio(both, out, width)})
			}
		}
	}
	return list
}

// orderedFloat replaces NaN so that all values are ordered.
func orderedFloat(x float64) float64 {
	if math.IsNaN(x) {
		return math.Inf(-1)
	}
	return x
}

// lowestBit is the exponent of the lowest bit set in x. In a value rounded to a grid that does not
// depend on data, it is not below the grid's.
func lowestBit(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Inf(1)
	}
	m, e := math.Frexp(x)
	k := int64(math.Ldexp(math.Abs(m), 53))
	for ; k&1 == 0; k >>= 1 {
		e++
	}
	return float64(e - 53)
}

// countSeen returns the number of distinct values that f has on the first runs, at most 2.
func countSeen(out [2][]float64, width, k int, f func(float64) float64) int {
	first := f(out[0][k])
	for side := range out {
		for i := k; i < min(len(out[side]), 1000*width); i += width {
			if f(out[side][i]) != first {
				return 2
			}
		}
	}
	return 1
}

// bins divides one number's range into cells that hold about equally many runs. A value that many runs
// share has its own cell.
type bins struct {
	number int
	edges  []float64 // ascending; cell i holds edges[i-1] <= x < edges[i]
}

func newBins(out [2][]float64, width, number, cells int) bins {
	var all []float64
	n := len(out[0]) / width
	stride := max(1, n/20_000)
	for side := range out {
		for i := 0; i < n; i += stride {
			all = append(all, orderedFloat(out[side][i*width+number]))
		}
	}
	slices.Sort(all)
	b := bins{number: number}
	for i := range cells {
		x := all[i*len(all)/cells]
		b.edges = append(b.edges, x, math.Nextafter(x, math.Inf(1)))
	}
	b.edges = slices.Compact(b.edges)
	return b
}

func (b bins) cellOf(run []float64) int {
	at, exact := slices.BinarySearch(b.edges, orderedFloat(run[b.number]))
	if exact {
		at++
	}
	return at
}

// learnCellRatio estimates the log-likelihood ratio of side 0 against side 1 in the
// cells of a product of bins, with half a run added to every cell.
func learnCellRatio(product []bins, out [2][]float64, width int) func(run []float64) float64 {
	cells := 1
	for _, b := range product {
		cells *= len(b.edges) + 1
	}
	at := func(run []float64) (cell int) {
		for _, b := range product {
			cell = cell*(len(b.edges)+1) + b.cellOf(run)
		}
		return cell
	}
	var hits [2][]float64
	for side := range out {
		hits[side] = make([]float64, cells)
		for i := 0; i < len(out[side]); i += width {
			hits[side][at(out[side][i:i+width])]++
		}
	}
	ratio := make([]float64, cells)
	for c := range ratio {
		ratio[c] = math.Log((hits[0][c] + 0.5) / (hits[1][c] + 0.5))
	}
	return func(run []float64) float64 { return ratio[at(run)] }
}
