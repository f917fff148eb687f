// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// wide is a table as features, to be scored by thousands of linear models: all
// of their labels and none of their scores are wanted.
type wide struct {
	rows, cols, positive int
	index                []int32
	value                []float64
}

func widenTable(t *dataset.Table, enc feature.Encoding) (*wide, error) {
	sp, err := feature.NewSpace(t.Schema, enc, t.Schema.Features())
	if err != nil {
		return nil, err
	}
	w := &wide{rows: t.Rows, cols: len(sp.Columns), positive: t.Schema.Label.Positive}
	for i := range t.Rows {
		for k, j := range sp.Columns {
			f, x := sp.Cell(k, &t.Cols[j], int(t.Cols[j].Codes.At(i)))
			w.index, w.value = append(w.index, int32(f)), append(w.value, x)
		}
	}
	return w, nil
}

// predictLabels are those of a linear model of all columns in their order.
func (w *wide) predictLabels(m *model.Model) []uint8 {
	out := make([]uint8, w.rows)
	parts := logisticParts(m)
	for i := range out {
		index, value := w.index[i*w.cols:][:w.cols], w.value[i*w.cols:][:w.cols]
		score := func(coef []float64, z float64) float64 {
			for k, f := range index {
				z += coef[f] * value[k]
			}
			return z
		}
		if len(parts) == 1 {
			out[i] = uint8(w.positive)
			if score(parts[0].Coef, parts[0].Bias) < 0 {
				out[i] = uint8(1 - w.positive)
			}
			continue
		}
		best := 0.0
		for k, part := range parts {
			if z := score(part.Coef, part.Bias); k == 0 || z > best {
				out[i], best = uint8(k), z
			}
		}
	}
	return out
}
