// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"math"
	"slices"
	"strconv"
)

// axis maps numbers to fractions of its length.
type axis struct {
	from, to float64
	log      bool
	ticks    []tick
}

type tick struct {
	at    float64
	label string
}

func (a *axis) fractionOf(x float64) float64 {
	if a.log {
		return math.Log(x/a.from) / math.Log(a.to/a.from)
	}
	return (x - a.from) / (a.to - a.from)
}

// xAxis has ticks exactly at the measured points, and a margin of a twentieth on both sides.
func (l *Lines) xAxis() axis {
	at := slices.Clone(l.XTicks)
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range l.Series {
		x := l.Series[i].X
		lo, hi = min(lo, x[0]), max(hi, x[len(x)-1])
		if len(l.XTicks) == 0 {
			at = append(at, x...)
		}
	}
	slices.Sort(at)
	at = slices.Compact(at)
	lo, hi = min(lo, at[0]), max(hi, at[len(at)-1])
	a := axis{log: l.LogX}
	if l.LogX {
		margin := math.Pow(hi/lo, 0.05)
		if lo == hi {
			margin = 2
		}
		a.from, a.to = lo/margin, hi*margin
	} else {
		margin := 0.05 * (hi - lo)
		if lo == hi {
			margin = 1
		}
		a.from, a.to = lo-margin, hi+margin
	}
	for _, x := range at {
		a.ticks = append(a.ticks, tick{x, strconv.FormatFloat(x, 'g', -1, 64)})
	}
	return a
}

// yAxis has about six round ticks.
func (l *Lines) yAxis() axis {
	lo, hi := math.Inf(1), math.Inf(-1)
	see := func(ys ...float64) {
		for _, y := range ys {
			lo, hi = min(lo, y), max(hi, y)
		}
	}
	for i := range l.Series {
		see(l.Series[i].Y...)
		see(l.Series[i].Low...)
		see(l.Series[i].High...)
	}
	for _, r := range l.References {
		see(r.Y)
	}
	if size := max(1, math.Abs(lo), math.Abs(hi)); hi-lo < 1e-9*size { // all but equal
		lo, hi = lo-size/2, hi+size/2
	}
	fixed := l.YFrom != 0 || l.YTo != 0
	if fixed {
		lo, hi = l.YFrom, l.YTo
	}
	step, decimals := roundStep((hi - lo) / 6)
	first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
	if !fixed {
		first, last = math.Floor(lo/step+1e-9), math.Ceil(hi/step-1e-9)
		lo, hi = first*step, last*step
	}
	a := axis{from: lo, to: hi}
	for k := first; k <= last; k++ {
		y := k * step
		if k == 0 {
			y = 0 // not -0
		}
		a.ticks = append(a.ticks, tick{y, strconv.FormatFloat(y, 'f', decimals, 64)})
	}
	return a
}

// roundStep returns the smallest of 1, 2, 2.5, 5 times a power of ten that is at least x > 0, and the
// number of decimals of its multiples.
func roundStep(x float64) (step float64, decimals int) {
	power := math.Floor(math.Log10(x))
	for {
		for _, m := range []float64{1, 2, 2.5, 5} {
			if step = m * math.Pow(10, power); step >= x*(1-1e-9) {
				decimals = int(-power)
				if m == 2.5 {
					decimals++
				}
				return step, max(0, decimals)
			}
		}
		power++
	}
}
