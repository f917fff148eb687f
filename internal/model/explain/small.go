// SPDX-License-Identifier: Apache-2.0

//go:build !js

package explain

import (
	"cmp"
	"math"
	"slices"
)

const (
	shownColumns = 15 // of a model of several classes, drawn without being opened
	shownClasses = 6  // drawings per number: of the classes that it affects most
	shownLevels  = 15 // levels per category, the largest
)

// smallDrawing draws a number's steps for one class, without an axis: all classes of a page share one
// scale.
type smallDrawing struct {
	Class, Line, Low, High string
	From, To               string
	Zero                   float64 // vertical position of the line at 0
}

const (
	smallWidth  = 150.0
	smallHeight = 56.0
)

// drawClasses draws a number for the classes that it affects most, in the schema's order.
func (e *Explanation) drawClasses(sh *ClassShape) (out []smallDrawing) {
	low, high := 0.0, 0.0
	for i := range e.ClassShapes {
		for _, b := range e.ClassShapes[i].Bins {
			low, high = min(low, slices.Min(b.LogShares)), max(high, slices.Max(b.LogShares))
		}
	}
	s := scale{low: low - 0.05, high: high + 0.05}
	order := make([]int, len(e.Starts))
	moved := make([]float64, len(order))
	for k := range order {
		order[k] = k
		for _, b := range sh.Bins {
			moved[k] = max(moved[k], math.Abs(b.LogShares[k]))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(moved[b], moved[a]) })
	order = order[:min(shownClasses, len(order))]
	slices.Sort(order)
	y := func(z float64) float64 { return smallHeight * (1 - s.placeOf(z)) }
	n := len(sh.Bins) - sh.column.Marks() // bins of marks are in the numbers below
	for _, k := range order {
		d := smallDrawing{Class: e.Starts[k].Class, Zero: y(0), From: briefNumber(*sh.Bins[0].From),
			To: briefNumber(*sh.Bins[n-1].To)}
		least, most := sh.Bins[0].LogShares[k], sh.Bins[0].LogShares[k]
		for b, bin := range sh.Bins[:n] {
			z, lead := bin.LogShares[k], "L"
			if b == 0 {
				lead = "M"
			}
			d.Line += lead + pointText(smallWidth*float64(b)/float64(n), y(z)) + "H" +
				coordinateText(smallWidth*float64(b+1)/float64(n))
			least, most = min(least, z), max(most, z)
		}
		d.Low, d.High = formatNats(least), formatNats(most)
		out = append(out, d)
	}
	return out
}

// largestRows returns the rows with the largest cells, in their order; nil if there are only a few
// rows.
func largestRows(rows []classRow) []classRow {
	if len(rows) <= shownLevels {
		return rows
	}
	size := func(r classRow) (most float64) {
		for _, c := range r.Cells {
			most = max(most, math.Abs(c.LogShare))
		}
		return most
	}
	kept := slices.Clone(rows)
	slices.SortStableFunc(kept, func(a, b classRow) int { return cmp.Compare(size(b), size(a)) })
	return kept[:shownLevels]
}

// largestBins returns the bins of a category with the largest steps; all if there are only a few.
func largestBins(sh *Shape) *Shape {
	if len(sh.Bins) <= shownLevels+5 {
		return sh
	}
	kept := *sh
	kept.Bins = slices.Clone(sh.Bins)
	slices.SortStableFunc(kept.Bins, func(a, b Bin) int { return cmp.Compare(math.Abs(b.LogOdds), math.Abs(a.LogOdds)) })
	kept.Bins = kept.Bins[:shownLevels]
	return &kept
}
