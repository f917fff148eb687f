// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"sort"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// slopeParts is the number of steps from the middle of a bin to that of the next. It is odd, so that
// values in the middle of a bin are unchanged: a bin may contain a single value.
const slopeParts = 5

// hasSlopes reports whether steps are to be interpolated: those of a number divided by its bounds.
// Declared edges are intended as steps; in counted bins the rows need not be in the middle; and a bin
// for a single whole number has no inside.
func hasSlopes(s *schema.Schema, bins *feature.Bins) bool {
	c := &s.Columns[bins.Column]
	return bins.Ordered() && len(c.Edges) == 0 && !c.Quantiles && !feature.Whole(c, bins.Len()-bins.Marks())
}

// drawSlopes interpolates from the middle of each bin to that of the next, on the column's scale, in
// steps of a fifth of a bin, because most effects do not jump at the edges of bins. If part is below
// 1, values move only that part of the way from the bin's own value to the line. It is
// post-processing, and free. values are by bin, each list separately. They may be standard deviations,
// because the standard deviation at a point between two is at most the mean of theirs, for any
// correlation.
func drawSlopes(s *schema.Schema, bins *feature.Bins, part float64, values ...[]float64) ([]float64, [][]float64) {
	c := &s.Columns[bins.Column]
	edges, finer := feature.Finer(c, bins.Edges, slopeParts), [][]float64(nil)
	at, to := feature.Middles(c, bins.Edges), feature.Middles(c, edges)
	for _, of := range values {
		out := make([]float64, len(to))
		for i, x := range to {
			k := sort.SearchFloat64s(at, x) // the first middle that is not before x
			switch {
			case k == 0:
				out[i] = of[0]
			case k == len(at):
				out[i] = of[k-1]
			default:
				way := (x - at[k-1]) / (at[k] - at[k-1])
				own := math.Round(way) // 0 or 1: bins are as wide as each other on this scale
				way = own + part*(way-own)
				// Rounding must not undo what follows a monotone column.
				a, b := of[k-1], of[k]
				out[i] = max(min(a, b), min(max(a, b), a+(b-a)*way))
			}
		}
		finer = append(finer, append(out, of[len(at):]...)) // those of marks stay
	}
	return edges, finer
}
