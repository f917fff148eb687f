// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// Cell is one cell of a row to predict: Text, Number, or the zero Cell, which is
// missing.
type Cell struct{ c dataset.Cell }

// Text is a cell as a CSV file would spell it, whether a category's or a number's.
func Text(s string) Cell { return Cell{dataset.TextCell(s)} }

// Number is a cell that is a number.
func Number(x float64) Cell { return Cell{dataset.NumberCell(x)} }

// Predictor predicts one row at a time, to the last bit as PredictTable does and
// without allocation. Goroutines may share it.
type Predictor struct {
	m       *model.Model
	coder   *dataset.RowCoder
	scorer  *model.RowPredictor
	columns []string
	scratch sync.Pool // of *rowScratch
}

type rowScratch struct {
	cells  []column.Cell
	scores []float64
}

// Predictor prepares the prediction of single rows.
func (m *Model) Predictor() (*Predictor, error) {
	coder, err := dataset.NewRowCoder(m.m.Schema)
	if err != nil {
		return nil, err
	}
	scorer, err := m.m.RowPredictor()
	if err != nil {
		return nil, err
	}
	p := &Predictor{m: m.m, coder: coder, scorer: scorer, columns: coder.Names()}
	p.scratch.New = func() any {
		return &rowScratch{make([]column.Cell, len(m.m.Schema.Columns)), make([]float64, scorer.Width())}
	}
	return p, nil
}

// Columns are the columns that a row has a cell for, in order: those that the model
// reads.
func (p *Predictor) Columns() []string { return append([]string(nil), p.columns...) }

// Predict is the predicted value of the label for a row, and its score in [0, 1]:
// of a label of two values that of the positive one (1/2 or more where it is
// predicted), of more that of the predicted one. A row with another number of
// cells, or with one that a public column cannot hold, is refused with a
// *ParamError, which never repeats the cell.
func (p *Predictor) Predict(row []Cell) (class string, score float64, err error) {
	s := p.scratch.Get().(*rowScratch)
	defer p.scratch.Put(s)
	if err := p.score(row, s, s.scores); err != nil {
		return "", 0, err
	}
	code := p.m.Label(s.scores)
	score = s.scores[0]
	if len(s.scores) > 1 {
		score = s.scores[code]
	}
	return p.m.Schema.Label.Levels[code].Value, score, nil
}

// Scores writes a row's scores: one number for a label of two values, else one per
// value; see Predictions.
func (p *Predictor) Scores(row []Cell, out []float64) error {
	if len(out) != p.scorer.Width() {
		return &dp.ParamError{Op: "predict", Param: "scores", Want: "must number " + strconv.Itoa(p.scorer.Width()), Got: len(out)}
	}
	s := p.scratch.Get().(*rowScratch)
	defer p.scratch.Put(s)
	return p.score(row, s, out)
}

func (p *Predictor) score(row []Cell, s *rowScratch, out []float64) error {
	if len(row) != len(p.columns) {
		return &dp.ParamError{Op: "predict", Param: "row", Want: fmt.Sprintf("must have %d cells", len(p.columns)), Got: len(row)}
	}
	for i := range row {
		if err := p.coder.Code(i, row[i].c, s.cells); err != nil {
			return err
		}
	}
	p.coder.Derive(s.cells)
	return p.scorer.Scores(s.cells, out)
}
