// SPDX-License-Identifier: Apache-2.0

package heldout

import (
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Evaluation holds one model's results on held-out rows.
type Evaluation struct {
	Private bool `json:"private"` // false: the numbers are exact
	*metrics.Report
	// Undeclared are the cells that were not as the model's schema declares; null if t did not count them.
	Undeclared []coding.Undeclared `json:"undeclared"`

	label, positive string
	model           *model.Model
}

// Evaluate compares the predictions of m with the labels of t, read with the model's own schema.
// threshold returns the score from which on rows are predicted positive if the label has two classes;
// nil means that of the model.
func Evaluate(m *model.Model, t *dataset.Table, threshold func(scores []float64) float64) (*Evaluation, error) {
	scores, err := m.Scores(t.Cols, t.Rows)
	if err != nil {
		return nil, err
	}
	from := m.Threshold()
	if threshold != nil {
		if m.Width() > 1 {
			return nil, &dp.ParamError{Op: "evaluate", Param: "threshold", Want: "must not be given if the label has " +
				"more than two classes", Got: m.Schema.Classes()}
		}
		from = threshold(scores)
	}
	l := &m.Schema.Label
	classes := schema.Values(l.Levels)
	r, err := metrics.Evaluate(t.Labels, scores, classes, l.Positive, from)
	if err != nil {
		return nil, err
	}
	e := &Evaluation{Report: r, Undeclared: coding.FindUndeclared(m.Schema, t.Counts), label: l.Name, model: m}
	if len(classes) == 2 {
		e.positive = classes[l.Positive]
	}
	return e, nil
}

// WriteText writes the numbers as text for readers.
func (e *Evaluation) WriteText(w io.Writer) error {
	if err := e.Report.WriteText(w, e.label); err != nil {
		return err
	}
	for k, line := range e.describeCells() {
		if k == 0 {
			line = "\n" + line
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func (e *Evaluation) describeCells() []string {
	return coding.DescribeUndeclared(e.model.Schema, e.Undeclared, e.Rows)
}

// Rates are the shares of the positive rows and of the negative rows that a threshold selects.
type Rates struct {
	FalsePositives float64 `json:"fpr"`
	TruePositives  float64 `json:"tpr"`
}

// Curve is the ROC curve of a label of two classes, starting at (0, 0). It is a single point if no row
// is negative.
func (e *Evaluation) Curve() []Rates {
	out := []Rates{{}}
	for _, q := range e.Ranking.Points {
		wrong := (q.Predicted - q.Recall*e.Ranking.PositiveRate) / (1 - e.Ranking.PositiveRate)
		if last := len(out) - 1; wrong > out[last].FalsePositives+1e-12 {
			out = append(out, Rates{min(wrong, 1), q.Recall})
		} else {
			out[last].TruePositives = q.Recall
		}
	}
	return out
}
