// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/table/column"
)

// The outputs of a request. The last two exist only for models whose scores are sums over columns.
const (
	labelOutput         = "label"
	scoreOutput         = "score"
	contributionsOutput = "contributions"
	termsOutput         = "terms" // the column or pair of columns of each contribution
)

// splitter splits the scores of a model into the contributions of its columns and pairs.
type splitter struct {
	parts   []explain.Contribution
	terms   []string
	classes int // 1 if the sum is the log-odds of the positive class
}

// newSplitter returns nil for a model whose scores are not sums over columns.
func newSplitter(m *model.Model) (*splitter, error) {
	if explain.CanSplit("serve", m) != nil {
		return nil, nil
	}
	parts, err := explain.Terms(m)
	if err != nil {
		return nil, err
	}
	s := &splitter{parts: parts, classes: m.Width()}
	for k := range parts {
		s.terms = append(s.terms, parts[k].Column)
	}
	return s, nil
}

// splitRow appends a row's contributions, as predict --explain writes them: by term, then class.
func (s *splitter) splitRow(out []float64, row []column.Cell) []float64 {
	for k := range s.parts {
		for class := range s.classes {
			out = append(out, s.parts[k].Of(row, uint8(class)))
		}
	}
	return out
}
