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
	start, parts := 0.0, [][]float64(nil)
	switch c := m.Classifier.(type) {
	case *Additive:
		start = c.Intercept
		for _, sh := range c.Shapes {
			parts = append(parts, sh.LogOdds)
		}
		for _, p := range c.Pairs {
			parts = append(parts, p.LogOdds)
		}
	case *Grids:
		if len(c.Intercepts) > 1 {
			return nil
		}
		start = c.Intercepts[0]
		for _, g := range c.Grids {
			parts = append(parts, g.Steps[0])
		}
	default:
		return nil
	}
	sums := []int64{feature.Units(start)}
	for _, steps := range parts {
		units := make([]int64, len(steps))
		for i, step := range steps {
			units[i] = feature.Units(step)
		}
		if units = distinct(units); len(units) > most {
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
