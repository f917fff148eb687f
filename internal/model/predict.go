// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Predictor is a model bound to the columns of one schema. It is read-only, so
// goroutines may share it.
type Predictor struct {
	m      *Model
	cols   []int // for each of the model's columns, its index in the bound schema; -1 for ignored ones
	spaces []*feature.Space
}

// Bind prepares prediction for tables read with s. Columns are found by name,
// whatever their order and however many more there are; one whose cells would
// mean something else than they did in training is refused by name, and so is a
// model that is not consistent.
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

// Mismatch is what a table's schema must have for a model to read its rows.
type Mismatch struct{ Want string }

func (e *Mismatch) Error() string { return "model: bind: " + e.Want }

// nameDifference is the property by which a and b code the same cell differently, ""
// if none.
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
	case a.Date != b.Date || a.Since != b.Since:
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

// equalValues compares levels by value. Aliases are how a cell was spelt, which
// no longer matters once it is coded.
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

// Width is the number of numbers that Scores gives per row: 1 for a label of two classes,
// else one per class.
func (m *Model) Width() int {
	if classes := m.Schema.Classes(); classes > 2 {
		return classes
	}
	return 1
}

// Labels turns scores into label codes. Of two classes it is the positive one
// where the score is at least 1/2, the other elsewhere; of more, the first that
// scores highest.
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
	case scores[0] >= 0.5:
		return positive
	}
	return 1 - positive
}

// Scores returns numbers in [0, 1], shares of votes or probabilities. Of a label
// with two classes it returns one per row, larger where the positive class is
// likelier; of one with K > 2 classes it returns K per row, rows × K row-major in
// the order of the classes, each row adding up to 1 but for rounding. cols is
// parallel to the bound schema's Columns, each with rows cells. A row's scores
// depend on that row alone, to the last bit, whatever the number of rows or
// cores.
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

// scoreChunks fills out, width numbers per row, on all cores. Rows are scored one
// by one, so where the chunks lie does not show.
func scoreChunks(out []float64, width int, score func(from int, out []float64)) {
	const chunk = 1 << 13
	rows := len(out) / width
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (rows+chunk-1)/chunk) {
		wg.Go(func() {
			for from := range next {
				score(from, out[from*width:min(from+chunk, rows)*width])
			}
		})
	}
	for from := 0; from < rows; from += chunk {
		next <- from
	}
	close(next)
	wg.Wait()
}
