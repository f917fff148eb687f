// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// What a model states of the cells of its columns, so that a reader can tell how important a column
// without an effect would seem.

// noteCells notes a release of the cells of a column, from which steps followed, of which part enters the model.
func (r *binaryFit) noteCells(sh *binaryShape, c *shrink.Cells, steps []float64, part float64) {
	if sh.cells == nil {
		sh.cells = &model.Cells{}
	}
	if r.plan.NotPrivate {
		sh.cells.Weights = shrink.ShareOut(floats.AddTo(make([]float64, len(steps)), c.Positive, c.Negative))
		return
	}
	sh.cells.Weights = c.ShareWeights(steps)
	sh.cells.Releases = append(sh.cells.Releases, model.Release{Rows: sumAll(r.classes[:]),
		Weights:  [2]float64{sumAll(c.Positive), sumAll(c.Negative)},
		Noise:    [2]float64{c.Noise.Positive, c.Noise.Negative},
		Gaussian: c.Noise.Gaussian, Balanced: r.totals != nil, Part: part})
}

// divideByLevel returns weights, one per bin, in the layout of a model: the codes of a group have equal parts.
func divideByLevel(bins *feature.Bins, weights []float64) []float64 {
	index := make([]float64, len(weights))
	for b := range index {
		index[b] = float64(b)
	}
	of := bins.ByLevel(index)
	out, codes := make([]float64, len(of)), make([]float64, len(weights))
	for _, b := range of {
		codes[int(b)]++
	}
	for at, b := range of {
		out[at] = weights[int(b)] / codes[int(b)]
	}
	return out
}

// countGroups counts the rows in bins of public columns.
func (r *binaryFit) countGroups(bins *feature.Bins) []float64 {
	rows := make([]float64, bins.Len())
	bound := bins.Bind(r.groups.Cols)
	for g := range r.groups.Len {
		rows[bound.At(g)] += r.byClass[0][g] + r.byClass[1][g]
	}
	return shrink.ShareOut(rows)
}

// countRows counts the rows in the bins of column i.
func (l *labelled) countRows(i int) []float64 {
	rows := make([]float64, l.Sizes[i])
	for g, b := range l.Bins[i] {
		rows[b] += l.Rows[g]
	}
	return rows
}
