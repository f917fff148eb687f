// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/discreet-dp/discreet/internal/table/feature"

// Limit clamps the numbers that noise made too large for a file. With so small an ε, scores carry no
// information anyway, and a paid model must be written.
func (a *Additive) Limit() {
	limit(&a.Intercept)
	if m := a.Moved; m != nil {
		limit(&m.Intercept, &m.Slope, &m.Middle)
	}
	for k := range a.Shapes {
		limitAll(a.Shapes[k].LogOdds, a.Shapes[k].Noise, a.Shapes[k].Moved)
	}
	for k := range a.Pairs {
		limitAll(a.Pairs[k].LogOdds, a.Pairs[k].Noise, a.Pairs[k].Moved)
	}
}

// Limit is as in Additive.
func (a *MulticlassAdditive) Limit() {
	limitAll(a.Intercepts)
	for k := range a.Shapes {
		limitAll(a.Shapes[k].LogShares...)
		limitAll(a.Shapes[k].Noise...)
	}
}

// Limit is as in Additive.
func (g *Grids) Limit() {
	limitAll(g.Intercepts)
	for k := range g.Grids {
		limitAll(g.Grids[k].Steps...)
	}
}

func limitAll(lists ...[]float64) {
	for _, list := range lists {
		for i := range list {
			limit(&list[i])
		}
	}
}

func limit(numbers ...*float64) {
	for _, x := range numbers {
		*x = min(max(*x, -feature.MaxStep), feature.MaxStep)
	}
}
