// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"math"
	"sort"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// slopeParts is the number of steps that lead from the middle of a bin to that of the next. An odd number
// leaves what lies in the middle where it is: a bin may be there for one value alone.
const slopeParts = 5

// hasSlopes reports whether the steps of bins are to become slopes: those of a number cut by its
// bounds. Declared edges are meant to be edges; of bins that follow from counts of rows the rows
// need not lie in the middle; and a bin for each whole number has no inside.
func hasSlopes(s *schema.Schema, bins *feature.Bins) bool {
	c := &s.Columns[bins.Column]
	return bins.Ordered() && len(c.Edges) == 0 && !c.Quantiles && !feature.Whole(c, bins.Len()-bins.Marks())
}

// drawSlopes draws a line from the middle of each bin to that of the next, on the column's scale,
// in steps of a fifth of a bin: what noise allows to be measured in bins seldom jumps at their
// edges. Where part is below 1 it goes that part of the way from the bin's own value to the line,
// and the rest is a jump. Free: post-processing. values are by bin, each list on its own;
// deviations may be among them, since that of a point between two is at most the mean of theirs,
// whatever they have in common.
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
