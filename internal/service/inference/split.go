// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// The outputs of a request. The last two are of models alone whose scores are sums over columns.
const (
	labelOutput         = "label"
	scoreOutput         = "score"
	contributionsOutput = "contributions"
	termsOutput         = "terms" // what each contribution is of: a column, or a pair of them
)

// splitter takes the scores of a model apart, by what its columns and pairs add.
type splitter struct {
	m       *model.Model
	terms   []string
	classes int // 1 where log-odds of the positive class are added up
}

// newSplitter is nil for a model whose scores are no sums over columns.
func newSplitter(m *model.Model) (*splitter, error) {
	if explain.CanSplit("serve", m) != nil {
		return nil, nil
	}
	parts, err := explain.Contributions(m, make([]column.Column, len(m.Schema.Columns)))
	if err != nil {
		return nil, err
	}
	s := &splitter{m: m, classes: m.Width()}
	for k := range parts {
		s.terms = append(s.terms, parts[k].Column)
	}
	return s, nil
}

// gatherColumns makes columns of rows of cells.
func gatherColumns(s *schema.Schema, rows [][]column.Cell) []column.Column {
	cols := make([]column.Column, len(s.Columns))
	for j := range cols {
		c, codes := &cols[j], make([]uint32, len(rows))
		for r, row := range rows {
			codes[r] = row[j].Code
			if s.Columns[j].Kind == schema.Number { // each row has a code of its own
				codes[r] = uint32(r)
				c.Values, c.Marks = append(c.Values, row[j].Number), append(c.Marks, uint8(row[j].Code))
			}
		}
		c.Codes = column.Codes{U32: codes}
	}
	return cols
}

// splitRows is what predict --explain says of the rows: by row, then term, then class.
func (s *splitter) splitRows(rows [][]column.Cell) ([]float64, error) {
	parts, err := explain.Contributions(s.m, gatherColumns(s.m.Schema, rows))
	if err != nil {
		return nil, err
	}
	out := make([]float64, 0, len(rows)*len(parts)*s.classes)
	for r := range rows {
		for k := range parts {
			for class := range s.classes {
				out = append(out, parts[k].At(r, uint8(class)))
			}
		}
	}
	return out, nil
}
