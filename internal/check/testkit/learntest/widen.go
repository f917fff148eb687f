// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Widen returns row i of tab as package perturbed defines it: the features of sp and a constant 1,
// scaled to length at most 1 and then clipped to norm.
func Widen(sp *feature.Space, norm float64, tab *dataset.Table, i int) []float64 {
	x := make([]float64, sp.Width()+1)
	x[len(x)-1] = 1
	length := 1.0
	for k, j := range sp.Columns {
		c := &tab.Cols[j]
		f, v := 0, 0.0
		if code := c.Codes.At(i); c.Values != nil {
			f, v = sp.Number(k, c.Values[code])
		} else {
			f, v = sp.Code(k, int(code))
		}
		x[f] = v
		length += v * v
	}
	t := min(1/math.Sqrt(float64(len(sp.Columns)+1)), norm/math.Sqrt(length))
	for f := range x {
		x[f] *= t
	}
	return x
}
