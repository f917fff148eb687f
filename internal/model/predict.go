// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/parallel"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Predictor is a model bound to the columns of one schema. It is safe for concurrent use.
type Predictor struct {
	m      *Model
	cols   []int // index in the bound schema of each of the model's columns; -1 for ignored ones
	spaces []*feature.Space
}

// Bind prepares prediction for tables read with s. Columns are found by name, in any order and among
// any others. It refuses a column whose cells have another meaning than in training, and names it, and
// refuses a model that is not consistent.
func (m *Model) Bind(s *schema.Schema) (*Predictor, error) {
	if err := m.checkClassifier(); err != nil {
		return nil, err
	}
	p := &Predictor{m: m, cols: make([]int, len(m.Schema.Columns))}
	index := indexColumns(s)
	for j := range m.Schema.Columns {
		want := &m.Schema.Columns[j]
		if want.Role == schema.Ignored {
			p.cols[j] = -1
			continue
		}
		at, ok := index[want.Name]
		if !ok {
			return nil, &Mismatch{fmt.Sprintf("column %q must be in the schema of the data and not ignored", want.Name)}
		}
		what := nameDifference(want, &s.Columns[at])
		if what == "" && !slices.Equal(m.Schema.Sources(want), s.Sources(&s.Columns[at])) {
			what = "sources"
		}
		if what != "" {
			return nil, &Mismatch{fmt.Sprintf("column %q must have the %s it had in training", want.Name, what)}
		}
		p.cols[j] = at
	}
	if what := nameLabelDifference(&m.Schema.Label, &s.Label); what != "" {
		return nil, &Mismatch{fmt.Sprintf("label %q must have the %s it had in training", m.Schema.Label.Name, what)}
	}
	for k := range m.Spaces {
		sp, err := m.buildSpace(k)
		if err != nil {
			return nil, err
		}
		p.spaces = append(p.spaces, sp)
	}
	return p, nil
}

// Mismatch describes what a table's schema lacks for a model to read its rows.
type Mismatch struct{ Want string }

func (e *Mismatch) Error() string { return "model: bind: " + e.Want }

// nameDifference returns the property by which a and b code the same cell differently, "" if there is
// none.
func nameDifference(a, b *schema.Column) string {
	switch {
	case a.Kind != b.Kind:
		return "kind"
	case a.Derived != b.Derived:
		return "derivation"
	case a.Kind == schema.Category && !equalValues(a.Levels, b.Levels):
		return "levels"
	case a.Kind == schema.Category && a.Buckets != b.Buckets:
		return "buckets"
	case a.Kind == schema.Category && a.Missing != b.Missing:
		return `"missing" level`
	case a.Kind == schema.Number && (a.Lower != b.Lower || a.Upper != b.Upper):
		return "bounds"
	case a.Kind == schema.Number && (a.Missing != b.Missing || !slices.Equal(a.Special, b.Special)):
		return "missing and special cells"
	case a.Date != b.Date || a.Since != b.Since || a.Zone != b.Zone || a.Days != b.Days:
		return "dates"
	case a.Kind == schema.Number && a.Transform != b.Transform:
		return "transform"
	case a.Kind == schema.Number && ((a.Default == nil) != (b.Default == nil) ||
		a.Default != nil && *a.Default != *b.Default):
		return "default"
	}
	return ""
}

func nameLabelDifference(a, b *schema.Label) string {
	switch {
	case a.Name != b.Name:
		return "name"
	case !equalValues(a.Levels, b.Levels):
		return "classes"
	case a.Positive != b.Positive:
		return "positive class"
	}
	return ""
}

// equalValues compares levels by value. Aliases are spellings of a cell, which do not matter once it
// is coded.
func equalValues(a, b []schema.Level) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Value != b[i].Value {
			return false
		}
	}
	return true
}

// Scores predicts rows read with the model's own schema; see Predictor.Scores.
func (m *Model) Scores(cols []column.Column, rows int) ([]float64, error) {
	p, err := m.Bind(m.Schema)
	if err != nil {
		return nil, err
	}
	return p.Scores(cols, rows)
}

// Width returns the number of scores per row: 1 if the label has two classes, otherwise one per class.
func (m *Model) Width() int {
	if classes := m.Schema.Classes(); classes > 2 {
		return classes
	}
	return 1
}

// Threshold returns the score from which on the positive of two classes is predicted, unless the caller
// has another.
func (m *Model) Threshold() float64 {
	if l, ok := m.Classifier.(*Logistic); ok && l.Threshold != 0 {
		return l.Threshold
	}
	return 0.5
}

// Labels converts scores to label codes. For two classes, the positive one is predicted if the score
// is at least Threshold. For more, the class with the highest score is, the first if several are equal.
func (m *Model) Labels(scores []float64) []uint8 {
	width := m.Width()
	out := make([]uint8, len(scores)/width)
	for i := range out {
		out[i] = m.Label(scores[i*width:][:width])
	}
	return out
}

// Label is Labels for the scores of one row.
func (m *Model) Label(scores []float64) uint8 {
	positive := uint8(m.Schema.Label.Positive)
	switch {
	case m.Width() > 1:
		return uint8(feature.ArgMax(scores))
	case scores[0] >= m.Threshold():
		return positive
	}
	return 1 - positive
}

// Scores returns numbers in [0, 1], shares of votes or probabilities. If the label has two classes, it
// returns one per row, which is larger if the positive class is more likely. If it has K > 2 classes,
// it returns K per row, rows × K row-major in the order of the classes, and each row adds up to 1
// except for rounding. cols is parallel to the bound schema's Columns, each with rows cells. A row's
// scores depend only on that row, bit for bit, whatever the number of rows or cores.
func (p *Predictor) Scores(cols []column.Column, rows int) ([]float64, error) {
	own := make([]column.Column, len(p.cols))
	for j, at := range p.cols {
		if at < 0 {
			continue
		}
		c := &p.m.Schema.Columns[j]
		if at >= len(cols) || cols[at].Codes.Len() != rows {
			return nil, fmt.Errorf("model: scores: column %q must have %d cells", c.Name, rows)
		}
		if rows > 0 && (cols[at].Values != nil) != (c.Kind == schema.Number) {
			return nil, fmt.Errorf("model: scores: column %q must hold cells of kind %s", c.Name, c.Kind)
		}
		own[j] = cols[at]
	}
	width := p.m.Width()
	out := make([]float64, rows*width)
	if rows == 0 {
		return out, nil
	}
	scoreChunks(out, width, p.m.Classifier.bindTable(p, own))
	return out, nil
}

// scoreChunks fills out, width numbers per row, on all cores. Rows are scored one by one, so the
// result does not depend on the chunks.
func scoreChunks(out []float64, width int, score func(from int, out []float64)) {
	const chunk = 1 << 13
	rows := len(out) / width
	parallel.Each((rows+chunk-1)/chunk, runtime.GOMAXPROCS(0), func(k int) {
		from := k * chunk
		score(from, out[from*width:min(from+chunk, rows)*width])
	})
}
