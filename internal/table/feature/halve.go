// SPDX-License-Identifier: Apache-2.0

package feature

import "math"

// Halve divides consecutive cells, with the given numbers of rows, into at most bins runs: near the
// median, then each half near its median, and so on. It returns the first cell of each run except the
// first run. A cell with many rows becomes a run of its own, and the rows next to it are then halved
// fewer times; n equal quantiles would not separate them at all. Among equally good positions it
// chooses the middle one. Time O(cells·log bins).
func Halve(rows []float64, bins int) []int {
	if bins < 2 {
		return nil
	}
	total, best, from, to := 0.0, math.Inf(1), 0, 0
	for _, x := range rows {
		total += x
	}
	below := 0.0
	for i := 1; i < len(rows); i++ {
		below += rows[i-1]
		switch off := math.Abs(below - (total - below)); {
		case off < best:
			best, from, to = off, i, i
		case off == best && to == i-1:
			to = i
		}
	}
	if !(best < total) { // all rows are in one cell
		return nil
	}
	at := (from + to + 1) / 2
	out := append(Halve(rows[:at], bins/2), at)
	for _, i := range Halve(rows[at:], bins/2) {
		out = append(out, at+i)
	}
	return out
}
