// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"context"
	"encoding/json"
	"io"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// Model is a trained classifier with the statement of what it cost. It does not
// change; goroutines may share it. It holds nothing that was not paid for.
type Model struct{ m *model.Model }

// LoadModel reads a model file.
func LoadModel(path string) (*Model, error) {
	m, err := model.Load(path)
	if err != nil {
		return nil, err
	}
	return &Model{m}, nil
}

// Save writes the model to path: whatever happens, the old file or the whole new
// one is there.
func (m *Model) Save(path string) error { return m.m.Save(path) }

// MarshalBinary is the model as Save writes it: the same model, the same bytes.
func (m *Model) MarshalBinary() ([]byte, error) { return model.Marshal(m.m) }

// UnmarshalBinary reads what MarshalBinary wrote; what it allocates is bounded by
// the length of b.
func (m *Model) UnmarshalBinary(b []byte) (err error) {
	m.m, err = model.Unmarshal(b)
	return err
}

// Schema is what the model knows of its table: the columns it reads, and the label.
func (m *Model) Schema() *Schema {
	text, err := m.m.Schema.YAML()
	if err != nil {
		panic(err) // a model's schema was checked when it was made
	}
	return &Schema{m.m.Schema, text}
}

// Learner is what was trained.
func (m *Model) Learner() string { return m.m.Learner }

// ReadTable reads rows to predict, as the function ReadTable does with the model's
// own schema. Their label need not be there and is not read.
func (m *Model) ReadTable(ctx context.Context, paths ...string) (*Table, error) {
	t, err := dataset.Read(ctx, m.m.Schema, dataset.Options{Labels: dataset.LabelsIgnored}, paths...)
	if err != nil {
		return nil, err
	}
	return &Table{m.Schema(), t, paths}, nil
}

// Predictions are those of the rows of a table.
type Predictions struct {
	// Class is the predicted value of the label, one per row.
	Class []string
	// Scores are numbers in [0, 1]. Of a label of two values there is one per row,
	// larger where the positive value is likelier, which is predicted from 1/2 on. Of
	// K > 2 values there are K per row, in the order of Schema.Classes, which add up
	// to 1; the largest is predicted.
	Scores []float64
}

// PredictTable predicts the rows of a table, on all processors; the table may have
// been read with another schema that has the model's columns. What it returns is as
// private as the rows are.
func (m *Model) PredictTable(t *Table) (*Predictions, error) {
	scores, err := m.score(t)
	if err != nil {
		return nil, err
	}
	out := &Predictions{Class: make([]string, t.t.Rows), Scores: scores}
	for i, code := range m.m.Labels(scores) {
		out.Class[i] = m.m.Schema.Label.Levels[code].Value
	}
	return out, nil
}

func (m *Model) score(t *Table) ([]float64, error) {
	p, err := m.m.Bind(t.t.Schema)
	if err != nil {
		return nil, err
	}
	return p.Scores(t.t.Cols, t.t.Rows)
}

// Report says how well predictions meet the labels of some rows. Its numbers are
// exact, and so NOT PRIVATE.
type Report struct {
	Rows             int
	Accuracy         float64  // share of rows that are predicted right
	BalancedAccuracy float64  // mean of that over the classes that occur
	AUC              *float64 // area under the ROC curve, of more than two classes the mean of each against the rest; nil where a class does not occur
	LogLoss          float64  // mean of -ln(score of the true class), nats
	CalibrationError float64  // expected calibration error over ten bins
	Confusion        [][]int  // rows by true class, then predicted one, in the order of Schema.Classes
}

// Evaluate compares the model's predictions with the labels of a table, which
// should be rows that were held out of training.
func (m *Model) Evaluate(t *Table) (*Report, error) {
	if t.t.Labels == nil {
		return nil, &dp.ParamError{Op: "evaluate", Param: "table", Want: "must have labels"}
	}
	scores, err := m.score(t)
	if err != nil {
		return nil, err
	}
	r, err := metrics.Evaluate(t.t.Labels, scores, m.Schema().Classes(), m.m.Schema.Label.Positive)
	if err != nil {
		return nil, err
	}
	return &Report{
		Rows: r.Rows, Accuracy: r.Accuracy, BalancedAccuracy: r.BalancedAccuracy, AUC: r.AUC,
		LogLoss: r.LogLoss, CalibrationError: r.CalibrationError, Confusion: r.Confusion.Counts,
	}, nil
}

// Statement is what a model promises and what it cost: what a privacy officer
// signs.
type Statement struct {
	Price       Price     // 0 where nothing is protected
	Bill        []Release // every release, in order
	Claim       string    // the page and claim under docs/guarantees that proves it
	Text        string    // the guarantee in words
	Unprotected []string  // what is NOT protected, one sentence each
	Counted     bool      // an account was charged
	NotPrivate  bool      // trained without noise although columns are private
	Overrides   []string  // limits that were exceeded on purpose

	card string
}

// String is the whole statement, one fact per line.
func (s Statement) String() string { return s.card }

// Statement is the model's privacy statement.
func (m *Model) Statement() Statement {
	p := m.m.Privacy
	return Statement{
		Price: priceOf(dp.Price{Epsilon: p.Epsilon, Delta: p.Delta}), Bill: releasesOf(p.Bill), Claim: p.Claim, Text: p.Words(),
		Unprotected: append([]string(nil), p.Unprotected...), Counted: p.Counted, NotPrivate: p.NotPrivate,
		Overrides: append([]string(nil), p.Overrides...), card: p.Card(),
	}
}

// Explanation is what a model learnt of each column. It tells nothing that the
// model does not.
type Explanation struct{ e *explain.Explanation }

// Explain explains an additive or a linear model; others are refused with a
// *ParamError, since none of their parts means anything alone.
func (m *Model) Explain() (*Explanation, error) {
	e, err := explain.Of(m.m)
	if err != nil {
		return nil, err
	}
	return &Explanation{e}, nil
}

// WriteHTML writes one page with a drawing per column, which loads nothing.
func (e *Explanation) WriteHTML(w io.Writer) error { return e.e.WriteHTML(w) }

// MarshalJSON writes the numbers of the page, as `discreet explain --json` does.
func (e *Explanation) MarshalJSON() ([]byte, error) { return json.Marshal(e.e) }
