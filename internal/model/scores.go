// SPDX-License-Identifier: Apache-2.0

package model

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/feature"
)

// ListScores returns all scores that the model can give, increasing, or nil if there are more than
// most. It uses the model alone. Only models of two classes that are sums of steps are supported. Some
// of the scores may belong to no row, because columns are assumed to vary independently.
func (m *Model) ListScores(most int) []float64 {
	c, ok := m.Classifier.(stepped)
	if !ok || m.Width() > 1 {
		return nil
	}
	sum := c.toSteps(m.Schema)
	sums := sum.start
	for _, g := range sum.grids {
		units := distinct(g.units)
		if len(units) > most {
			return nil
		}
		var next []int64
		for _, z := range sums {
			for _, u := range units {
				next = append(next, z+u)
			}
		}
		if sums = distinct(next); len(sums) > most {
			return nil
		}
	}
	out := make([]float64, len(sums))
	for i, z := range sums {
		out[i] = logisticFunction(float64(z) / feature.ScoreOne)
	}
	return slices.Compact(out)
}

func distinct(units []int64) []int64 {
	slices.Sort(units)
	return slices.Compact(units)
}
