// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/release"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// served is one model in the form for serving: read-only.
type served struct {
	name    string
	version string // the beginning of the file's SHA-256
	m       *model.Model
	coder   *coding.RowCoder
	scorer  *model.RowPredictor
	columns []string       // the inputs
	index   map[string]int // of each input
	numbers []bool         // whether each input is a number
	classes []string
	quoted  [][]byte  // the classes in JSON
	split   *splitter // nil if scores are not sums over columns

	fixedMemory int64 // memory of any request, in bytes
	labelMemory int64 // memory of a row's label
}

// loadServed reads the file of a model, or a release. A seeded model is refused.
func loadServed(name, path string, file []byte, trusted release.Trusted) (*served, error) {
	file, err := trusted.ModelIn(file)
	if err != nil {
		return nil, fmt.Errorf("%w (file %s)", err, path)
	}
	m, err := model.Unmarshal(file)
	if err != nil {
		return nil, fmt.Errorf("%w (file %s)", err, path)
	}
	sum := sha256.Sum256(file)
	return newServed(name, hex.EncodeToString(sum[:6]), m)
}

func newServed(name, version string, m *model.Model) (*served, error) {
	if m.Privacy.Seeded {
		return nil, dp.Refuse("serve", "model "+strconv.Quote(name),
			"must not be seeded: anyone with the seed can remove the noise", nil)
	}
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		return nil, err
	}
	scorer, err := m.RowPredictor()
	if err != nil {
		return nil, err
	}
	split, err := newSplitter(m)
	if err != nil {
		return nil, err
	}
	s := &served{name: name, version: version, m: m, coder: coder, scorer: scorer, columns: coder.Names(),
		index: map[string]int{}, split: split}
	for i, name := range s.columns {
		s.index[name] = i
		j := m.Schema.Find(name)
		c := &m.Schema.Columns[j]
		s.numbers = append(s.numbers, c.Kind == schema.Number && (c.Date == "" || c.Days))
	}
	for _, l := range m.Schema.Label.Levels {
		s.classes, s.quoted = append(s.classes, l.Value), append(s.quoted, appendQuoted(nil, l.Value))
	}
	s.measure()
	return s, nil
}

// input is one column of a request.
type input struct {
	name  string
	shape []int64
	cells func(rows int) ([]coding.Cell, error) // reads them, if they are one per row
}

// answer is the model's results for the rows of a request.
type answer struct {
	rows   int
	labels []uint8   // by row
	scores []float64 // by row, then score
	parts  []float64 // contributions of columns to scores, if requested: by row, then term, then class
	// undeclared counts the cells that were not as the model's schema declares, for the caller alone.
	undeclared []coding.Undeclared
}

// predictRows scores the rows of a request, at most most, within the given memory. It shares no
// buffers between requests.
func (s *served) predictRows(c *call, most int, memory int64) (*answer, error) {
	splits := c.asksFor(contributionsOutput)
	if s.split == nil && (splits || c.asksFor(termsOutput)) {
		return nil, refuse("this model has no contributions: its scores are no sums over columns")
	}
	at, rows, err := s.orderInputs(c.inputs, most)
	if err != nil {
		return nil, err
	}
	if int64(rows)*int64(len(at)) > c.size { // a cell has a byte
		return nil, refuse("inputs must have as many cells as their shapes have rows")
	}
	if s.memoryFor(c.size, int64(rows), splits) > memory {
		return nil, errTooMuch
	}
	cells := make([][]coding.Cell, len(at))
	for i, in := range at {
		if cells[i], err = in.cells(rows); err != nil {
			return nil, refuse("input %q: %w", in.name, err)
		}
	}
	width := s.scorer.Width()
	out := &answer{rows: rows, labels: make([]uint8, rows), scores: make([]float64, rows*width)}
	if splits {
		out.parts = make([]float64, 0, rows*len(s.split.parts)*s.split.classes)
	}
	row, fates := make([]column.Cell, len(s.m.Schema.Columns)), make([]coding.Counts, len(at))
	for r := range rows {
		for i := range at {
			fate, err := s.coder.Code(i, cells[i][r], row)
			if err != nil {
				return nil, refuse("row %d: %w", r, err)
			}
			fates[i][fate]++
		}
		s.coder.Derive(row)
		scores := out.scores[r*width:][:width]
		if err := s.scorer.Scores(row, scores); err != nil {
			return nil, err
		}
		out.labels[r] = s.m.Label(scores)
		if splits {
			out.parts = s.split.splitRow(out.parts, row)
		}
	}
	out.undeclared = s.coder.CountUndeclared(fates)
	return out, nil
}

// orderInputs finds the input of each column, and the number of rows, at most most.
func (s *served) orderInputs(inputs []input, most int) (at []*input, rows int, err error) {
	if len(inputs) == 0 {
		return nil, 0, refuse("inputs must be given, one for each of the model's %d columns; see the model's metadata",
			len(s.columns))
	}
	at, rows = make([]*input, len(s.columns)), -1
	for k := range inputs {
		in := &inputs[k]
		i, ok := s.index[in.name]
		switch {
		case !ok && s.m.Schema.Find(in.name) >= 0: // a column of the table that the model does not read
			continue
		case !ok:
			return nil, 0, s.refuseInput(k, in.name)
		case at[i] != nil:
			return nil, 0, refuse("input %q must not be given twice", in.name)
		}
		if len(in.shape) < 1 || len(in.shape) > 2 || in.shape[0] < 1 || len(in.shape) == 2 && in.shape[1] != 1 ||
			in.shape[0] > int64(most) {
			return nil, 0, refuse("the shape of input %q must be [rows] or [rows, 1], with 1 to %d rows", in.name, most)
		}
		if rows >= 0 && int64(rows) != in.shape[0] {
			return nil, 0, refuse("input %q must have as many rows as those before it", in.name)
		}
		rows, at[i] = int(in.shape[0]), in
	}
	if i := slices.Index(at, nil); i >= 0 {
		return nil, 0, refuse("the input for column %q must be given: the model reads %d columns", s.columns[i], len(s.columns))
	}
	return at, rows, nil
}

// refuseInput is the error for input k, from 0, whose name is not a column's. It does not repeat the
// name, because a caller may have put a cell there.
func (s *served) refuseInput(k int, name string) error {
	for _, column := range s.columns {
		if schema.FoldName(column) == schema.FoldName(name) {
			return refuse("input %d must be named %q to the letter, which it is but for letter case, spaces or signs", k, column)
		}
	}
	return refuse("input %d must be a column of the model; see the model's metadata", k)
}
