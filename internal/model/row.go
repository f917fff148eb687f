// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// RowPredictor scores single rows without allocation, bit for bit as Predictor scores tables. It is
// safe for concurrent use. Products are rounded before they are added, float64(a*b)+c, so that both
// agree on every machine: evidence/decisions/0006-floats.md.
type RowPredictor struct {
	columns, width int
	scorer         rowScorer
}

// RowPredictor prepares the prediction of single rows of the model's own schema.
func (m *Model) RowPredictor() (*RowPredictor, error) {
	p, err := m.Bind(m.Schema)
	if err != nil {
		return nil, err
	}
	e := &rowEncoder{m: m, spaces: p.spaces}
	e.spare.New = func() any { return e.newScratch() }
	return &RowPredictor{len(m.Schema.Columns), m.Width(), m.Classifier.bindRows(e)}, nil
}

// Width returns the number of scores that Scores writes; see Model.Width.
func (r *RowPredictor) Width() int { return r.width }

// Scores writes the scores of one row, as Predictor.Scores does. row is parallel to the columns of the
// model's schema, derived ones included. Cells of ignored columns are not read. It panics if a code is
// invalid for its column.
func (r *RowPredictor) Scores(row []column.Cell, out []float64) error {
	if len(row) != r.columns || len(out) != r.width {
		return fmt.Errorf("model: a row must have %d cells and %d scores", r.columns, r.width)
	}
	r.scorer.scoreRow(row, out)
	return nil
}

// rowEncoder writes the features of a row in the spaces of a model.
type rowEncoder struct {
	m      *Model
	spaces []*feature.Space
	spare  sync.Pool // pool of *rowScratch
}

// rowScratch is the working memory for scoring one row.
type rowScratch struct {
	index [][]int     // by space, then column of the space: the feature that is not 0
	value [][]float64 // likewise: its value
	sums  []float64   // one per class
	votes []float64   // likewise, for one member
}

func (e *rowEncoder) newScratch() *rowScratch {
	classes := e.m.Schema.Classes()
	s := &rowScratch{sums: make([]float64, classes), votes: make([]float64, classes)}
	for _, sp := range e.spaces {
		s.index = append(s.index, make([]int, len(sp.Columns)))
		s.value = append(s.value, make([]float64, len(sp.Columns)))
	}
	return s
}

func (e *rowEncoder) takeScratch() *rowScratch    { return e.spare.Get().(*rowScratch) }
func (e *rowEncoder) returnScratch(s *rowScratch) { e.spare.Put(s) }

// encodeSpace writes the features of the row in one space.
func (e *rowEncoder) encodeSpace(space int, row []column.Cell, s *rowScratch) {
	sp := e.spaces[space]
	for k, j := range sp.Columns {
		if e.m.Schema.Columns[j].Kind == schema.Number {
			s.index[space][k], s.value[space][k] = sp.Number(k, row[j].Number)
		} else {
			s.index[space][k], s.value[space][k] = sp.Code(k, int(row[j].Code))
		}
	}
}

// encodeAll writes the features of the row in every space.
func (e *rowEncoder) encodeAll(row []column.Cell, s *rowScratch) {
	for space := range e.spaces {
		e.encodeSpace(space, row, s)
	}
}

// isPositive reports whether t answers positive for the encoded row.
func (e *rowEncoder) isPositive(space int, t *feature.Threshold, s *rowScratch) bool {
	sp := e.spaces[space]
	sum := int64(sp.Fixed(t.Bias, 1))
	for k, f := range s.index[space] {
		sum += int64(sp.Fixed(t.Coef[f], s.value[space][k]))
	}
	return sum >= 0
}
