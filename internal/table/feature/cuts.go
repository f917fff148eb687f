// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cuts divides a number into at most bins bins, by the schema alone. It uses the declared edges if
// there are any. A column of few whole numbers gets one bin for each. Otherwise bins are equally wide
// on the column's scale; those of a count end between whole numbers, and its lowest value has one more
// bin. It returns nil for a category.
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
		edges = slices.Compact(append([]float64{c.Lower + 0.5}, edges...))
	}
	return edges
}

// isCount reports whether a number may count events: whole numbers from 0 or 1 on. Many counts are
// mostly 0, and a row with none differs from all others. The days of a date count nothing, though its first may be day 0.
func isCount(c *schema.Column) bool {
	return c.Integer && c.Date == "" && (c.Lower == 0 || c.Lower == 1)
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
)

// scaleOf returns the scale on which bins are equally wide, and its inverse. It is the declared
// transform if there is one. Otherwise it is the logarithm if the bounds suggest a heavy tail (on both
// sides of 0 if the bounds are), u + √u for a count, where u is from 0 to 1 between its bounds, and the
// identity for other numbers. The logarithm does not separate numbers below 1 or below one bulk-th of
// the bounds. u + √u is between the scale of counts of rare events, whose deviation grows with the
// square root of their mean, and that of ages or points, because bounds do not tell which they are.
func scaleOf(c *schema.Column, bulk float64) (to, from func(float64) float64) {
	same := func(x float64) float64 { return x }
	switch {
	case c.Transform == schema.Log1p:
		return math.Log1p, math.Expm1
	case c.Date != "": // wherever its days are counted from
		return same, same
	case c.Lower >= 0 && c.Upper >= heavyRatio*math.Max(1, c.Lower), c.Lower < 0 && c.Upper-c.Lower >= heavyRange:
		one := math.Max(1, math.Max(c.Upper, -c.Lower)/bulk)
		return func(x float64) float64 { return math.Copysign(math.Log1p(math.Abs(x)/one), x) },
			func(y float64) float64 { return math.Copysign(one*math.Expm1(math.Abs(y)), y) }
	case isCount(c):
		span := c.Upper - c.Lower
		return func(x float64) float64 { u := math.Max(0, (x-c.Lower)/span); return u + math.Sqrt(u) },
			func(y float64) float64 {
				root := (math.Sqrt(1+float64(4*y)) - 1) / 2
				return c.Lower + float64(span*float64(root*root))
			}
	}
	return same, same
}
