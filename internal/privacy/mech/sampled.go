// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// drawSampled draws the report of the piecewise and hybrid mechanisms.
func drawSampled(src rng.Source, l response.Sampled, values []float64) response.Report {
	r := make(response.Report, 0, l.Words())
	for _, at := range drawSubset(src, l.Dim(), l.Told) {
		line, base := l.Lines[0], uint64(0)
		if len(l.Lines) > 1 && !flipCoin(src, l.First) {
			line, base = l.Lines[1], line.Cells()
		}
		r = append(r, uint32(at), uint32(base+drawLine(src, line, values[at])))
	}
	return r
}

// drawLine draws the cell of one number.
func drawLine(src rng.Source, l response.Line, v float64) uint64 {
	j := roundToPoint(src, v, bits.Len64(l.Steps)-1) // 1.1
	u := rng.Below(src, l.Total())
	if inside := l.Width * l.Inner; u >= inside { // 1.2
		if cell := (u - inside) / l.Outer; cell < j {
			return cell
		} else {
			return cell + l.Width
		}
	}
	return j + u/l.Inner
}

// drawSubset draws k of n numbers and returns them ascending (Floyd's algorithm). All sets are equally
// likely.
func drawSubset(src rng.Source, n, k int) []int {
	if k == n {
		all := make([]int, n)
		for i := range all {
			all[i] = i
		}
		return all
	}
	set := make([]int, 0, k)
	for last := n - k; last < n; last++ {
		x := int(rng.Below(src, uint64(last)+1))
		at, taken := slices.BinarySearch(set, x)
		if taken {
			at, x = len(set), last // greater than all before
		}
		set = slices.Insert(set, at, x)
	}
	return set
}
