// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cuts divides a number into at most bins bins, by the schema alone. It uses the declared edges if
// there are any. A column of few whole numbers gets one bin for each. Otherwise bins are equally wide
// on the column's scale; those of a count end between whole numbers. It returns nil for a category.
func Cuts(c *schema.Column, bins int) []float64 {
	switch {
	case c.Kind == schema.Category:
		return nil
	case len(c.Edges) > 0:
		return thinEdges(c.Edges, bins)
	}
	return cutSteps(c, bins, heavyBulk)
}

// Fine divides a number without declared edges into many cells, as Cuts does, but gives each order of
// magnitude from 1 on equally many cells if the tail is heavy.
func Fine(c *schema.Column, cells int) []float64 { return cutSteps(c, cells, math.Inf(1)) }

// cutSteps divides between whole numbers, or in equal steps on the column's scale.
func cutSteps(c *schema.Column, bins int, bulk float64) []float64 {
	if Whole(c, bins) {
		var out []float64
		for k := range int(c.Upper - c.Lower) {
			out = append(out, c.Lower+float64(k)+0.5)
		}
		return out
	}
	to, from := scaleOf(c, bulk)
	edges := appendEdges(nil, c, from, to(c.Lower), to(c.Upper), bins)
	if isCount(c) { // each bin then holds a whole number
		for i, e := range edges {
			edges[i] = math.Floor(e) + 0.5
		}
		edges = slices.Compact(edges)
	}
	return edges
}

// isCount reports whether a number counts rare events: a whole number ≥ 0 whose default is in the
// lowest part of its bounds. Visits and late payments are examples.
func isCount(c *schema.Column) bool {
	return c.Integer && c.Lower >= 0 && c.Default != nil && *c.Default-c.Lower <= (c.Upper-c.Lower)*lowestPart
}

// Whole reports whether a number without declared edges gets one bin for each whole number if it is
// divided into at most bins bins.
func Whole(c *schema.Column, bins int) bool {
	span := c.Upper - c.Lower
	return c.Integer && c.Transform == schema.Identity && span >= 2 && span < max(wholeNumbers, float64(bins))
}

// appendEdges appends the edges of equal steps from lo to hi on a scale, if they are inside the bounds
// and different.
func appendEdges(edges []float64, c *schema.Column, from func(float64) float64, lo, hi float64, bins int) []float64 {
	for k := 1; k < bins; k++ {
		e := from(lo + (hi-lo)*float64(k)/float64(bins))
		if e > c.Lower && e < c.Upper && (len(edges) == 0 || e > edges[len(edges)-1]) {
			edges = append(edges, e)
		}
	}
	return edges
}

// Finer divides each of a number's bins into parts of equal width on the column's scale. If parts is
// odd, the middle of a bin is inside a part.
func Finer(c *schema.Column, edges []float64, parts int) (finer []float64) {
	to, from := scaleOf(c, heavyBulk)
	last := c.Lower
	for _, e := range append(slices.Clone(edges), c.Upper) {
		finer = appendEdges(finer, c, from, to(last), to(e), parts)
		if e < c.Upper && (len(finer) == 0 || e > finer[len(finer)-1]) {
			finer = append(finer, e)
		}
		last = e
	}
	return finer
}

// Middles returns the middles of a number's bins, on the column's scale.
func Middles(c *schema.Column, edges []float64) []float64 {
	to, _ := scaleOf(c, heavyBulk)
	out := make([]float64, 0, len(edges)+1)
	last := to(c.Lower)
	for _, e := range append(slices.Clone(edges), c.Upper) {
		out = append(out, (last+to(e))/2)
		last = to(e)
	}
	return out
}

// thinEdges keeps at most bins-1 edges, evenly spaced in the list.
func thinEdges(edges []float64, bins int) []float64 {
	n := len(edges)
	if n < bins {
		return edges
	}
	out := make([]float64, bins-1)
	for k := range out {
		out[k] = edges[(2*k+1)*n/(2*(bins-1))]
	}
	return out
}

const (
	// A column is assumed to have a heavy tail if it can be this many times as large as its smallest
	// size or as 1: money, durations, counts of packets.
	heavyRatio = 256
	// The limit on the range of a column that can be negative.
	heavyRange = 1000
	// The bulk of a heavy-tailed column is rarely below a thousandth of its bound, where the logarithm
	// of 1 + x alone would use half of the bins.
	heavyBulk = 1000
	// Up to this many whole numbers have separate bins at any ε: counts, grades, months late.
	wholeNumbers = 13
	// The default of a count is within this lowest part of its bounds.
	lowestPart = 1. / 16
)

// scaleOf returns the scale on which bins are equally wide, and its inverse. It is the declared
// transform if there is one. Otherwise it is the logarithm if the bounds suggest a heavy tail (on both
// sides of 0 if the bounds are), the square root for a count, and the identity for other numbers. The
// logarithm does not separate numbers below 1 or below one bulk-th of the bounds. On the scale of the
// square root, Poisson counts of any mean have the same variance, so that most bins are where most
// rows are.
func scaleOf(c *schema.Column, bulk float64) (to, from func(float64) float64) {
	switch {
	case c.Transform == schema.Log1p:
		return math.Log1p, math.Expm1
	case c.Lower >= 0 && c.Upper >= heavyRatio*math.Max(1, c.Lower), c.Lower < 0 && c.Upper-c.Lower >= heavyRange:
		one := math.Max(1, math.Max(c.Upper, -c.Lower)/bulk)
		return func(x float64) float64 { return math.Copysign(math.Log1p(math.Abs(x)/one), x) },
			func(y float64) float64 { return math.Copysign(one*math.Expm1(math.Abs(y)), y) }
	case isCount(c):
		return func(x float64) float64 { return math.Sqrt(math.Max(0, x-c.Lower)) },
			func(y float64) float64 { return c.Lower + float64(y*y) }
	}
	same := func(x float64) float64 { return x }
	return same, same
}
