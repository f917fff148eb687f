// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"context"
	"math"

	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// fitStudent fits the public columns to the public label: coefficients of
// pl.public, the intercept last. No private cell is read, so it is free (1.4).
// The ridge is scikit-learn's default, C = 1.
func (pl *Plan) fitStudent(ctx context.Context, tab engine.Table) ([]float64, error) {
	groups, err := tab.Groups(ctx, pl.public.Columns)
	if err != nil {
		return nil, err
	}
	weights := labelWeights(groups)
	positive := pl.s.Label.Positive
	best, err := logistic.FitGroups(ctx, pl.public, groups, weights[positive], weights[1-positive],
		1/float64(tab.Rows()), nil)
	if err != nil {
		return nil, err
	}
	return best.Coef, nil
}

func labelWeights(g *engine.Groups) [][]float64 {
	out := make([][]float64, len(g.Counts))
	for label, counts := range g.Counts {
		out[label] = make([]float64, len(counts))
		for i, c := range counts {
			out[label][i] = float64(c)
		}
	}
	return out
}

// linearScore tabulates coef, the intercept last, for the codes of cols and returns
// the score of a group.
func linearScore(sp *feature.Space, cols []column.Column, coef []float64) func(g int) float64 {
	terms := make([][]float64, len(sp.Columns))
	for k, j := range sp.Columns {
		for code := range sp.Codes(k, &cols[j]) {
			f, v := sp.Cell(k, &cols[j], code)
			terms[k] = append(terms[k], coef[f]*v)
		}
	}
	return func(g int) float64 {
		z := coef[len(coef)-1]
		for k, j := range sp.Columns {
			z += terms[k][cols[j].Codes.At(g)]
		}
		return z
	}
}

func sigmoid(z float64) float64 { return 1 / (1 + math.Exp(-z)) }
