// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cuts cuts a number into at most bins bins, by the schema alone: at the
// declared edges if there are any; one bin per whole number if the column
// is declared to hold whole numbers and few lie between its bounds; else in equal
// steps on the column's scale, for a count between whole numbers. It returns nil for a
// category.
func Cuts(c *schema.Column, bins int) []float64 {
	switch {
	case c.Kind == schema.Category:
		return nil
	case len(c.Edges) > 0:
		return thinEdges(c.Edges, bins)
	}
	return cutSteps(c, bins, heavyBulk)
}

// Fine cuts a number without declared edges into many cells, as Cuts does; but
// where the tail is heavy it spends as many on each order of magnitude, from 1 on.
func Fine(c *schema.Column, cells int) []float64 { return cutSteps(c, cells, math.Inf(1)) }

// cutSteps cuts between whole numbers or in equal steps on the column's scale.
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

// isCount reports whether a number counts something that is rare: a whole number from 0 or more
// whose default lies in the lowest part of its bounds. Visits and late payments are like that.
func isCount(c *schema.Column) bool {
	return c.Integer && c.Lower >= 0 && c.Default != nil && *c.Default-c.Lower <= (c.Upper-c.Lower)*lowestPart
}

// Whole reports whether a number without declared edges, cut into at most so many
// bins, has one for each whole number.
func Whole(c *schema.Column, bins int) bool {
	span := c.Upper - c.Lower
	return c.Integer && c.Transform == schema.Identity && span >= 2 && span < max(wholeNumbers, float64(bins))
}

// appendEdges appends the edges of so many equal steps from lo to hi on a scale, as
// far as they lie inside the bounds and apart.
func appendEdges(edges []float64, c *schema.Column, from func(float64) float64, lo, hi float64, bins int) []float64 {
	for k := 1; k < bins; k++ {
		e := from(lo + (hi-lo)*float64(k)/float64(bins))
		if e > c.Lower && e < c.Upper && (len(edges) == 0 || e > edges[len(edges)-1]) {
			edges = append(edges, e)
		}
	}
	return edges
}

// Finer cuts each of a number's bins into parts, as wide as each other on the
// column's scale. The middle of a bin lies within a part where parts is odd.
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

// Middles are those of a number's bins, on the column's scale.
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

// thinEdges keeps at most bins-1 edges, evenly by their place in the list.
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
	// A column that can be this many times as large as its least size, or as 1,
	// is taken to have a heavy tail: money, durations, counts of packets.
	heavyRatio = 256
	// The same for a column that can be negative: by its range.
	heavyRange = 1000
	// The bulk of a heavy tail seldom lies below a thousandth of its bound, where
	// the logarithm of 1 + x alone would spend half of the bins.
	heavyBulk = 1000
	// So few whole numbers are kept apart at any ε: counts, grades, months late.
	wholeNumbers = 13
	// The default of a count lies within this part of its bounds, from the lower one on.
	lowestPart = 1. / 16
)

// scaleOf returns the scale on which bins are equally wide, and its inverse:
// the declared transform, the logarithm where the bounds suggest a heavy tail
// (to both sides of 0 if they lie on both), the root of a count, else the number
// itself. Numbers below 1 and below a bulk-th of the bounds are not told apart by the
// logarithm. On the scale of the root a Poisson count of any mean spreads alike, so most
// bins lie where most rows do.
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
