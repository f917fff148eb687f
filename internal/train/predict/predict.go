// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Params select what to add to a table in addition to labels and scores.
type Params struct {
	Explain  bool   // the contribution of each column
	Class    string // with Explain and more than two classes: the class to explain, "" for each row's predicted one
	Interval bool   // a 95 % interval of the score for the effect of noise
	// Threshold determines which rows are predicted positive, if the label has two classes.
	Threshold Threshold
}

// Check returns a *dp.ParamError for what the model does not support.
func (p Params) Check(m *model.Model) error {
	if p.Explain {
		if err := explain.CanSplit("predict: explain", m); err != nil {
			return err
		}
	}
	if p.Interval {
		if err := explain.CanBracket("predict: interval", m); err != nil {
			return err
		}
	}
	if p.Threshold.Given() && m.Width() > 1 {
		return &dp.ParamError{Op: "predict", Param: "threshold", Want: "must not be given if the label has more than " +
			"two classes", Got: m.Schema.Classes()}
	}
	bad := func(want string) error {
		return &dp.ParamError{Op: "predict", Param: "class", Want: want, Got: strconv.Quote(p.Class)}
	}
	switch {
	case p.Class == "":
		return nil
	case !p.Explain:
		return bad("must not be given without explain")
	case m.Schema.Classes() == 2:
		return bad("must not be given if the label has two classes: a column that favours one counts against the other")
	case classCode(m, p.Class) < 0:
		return bad("must be one of " + strings.Join(schema.Values(m.Schema.Label.Levels), ", "))
	}
	return nil
}

func classCode(m *model.Model, name string) int { return schema.CodeOf(m.Schema.Label.Levels, name) }

// Columns returns the columns to add to the rows of t. Of two classes, the positive one is predicted
// from the score from on.
func (p Params) Columns(m *model.Model, t *dataset.Table, from float64) ([]dataset.Added, error) {
	scores, err := m.Scores(t.Cols, t.Rows)
	if err != nil {
		return nil, err
	}
	return p.columnsOf(m, t, scores, p.labelsOf(m, scores, from))
}

// labelsOf returns the predicted classes of rows. Of two classes, the positive one is predicted from
// the score from on.
func (p Params) labelsOf(m *model.Model, scores []float64, from float64) []uint8 {
	if m.Width() > 1 {
		return m.Labels(scores)
	}
	positive := uint8(m.Schema.Label.Positive)
	labels := make([]uint8, len(scores))
	for i, s := range scores {
		labels[i] = 1 - positive
		if s >= from {
			labels[i] = positive
		}
	}
	return labels
}

// Tally counts the predictions, and the cells that were not as the model's schema declares.
type Tally struct {
	m      *model.Model
	from   float64 // of a score, see labelsOf
	rows   int
	counts []int           // by class
	sum    float64         // of scores, for two classes
	cells  []coding.Counts // see dataset.Table
}

// NewTally counts predictions of m, of whose two classes the positive one is predicted from the score
// from on.
func NewTally(m *model.Model, from float64) Tally {
	return Tally{m: m, from: from, counts: make([]int, len(m.Schema.Label.Levels))}
}

// addBlock adds rows.
func (t *Tally) addBlock(scores []float64, labels []uint8, cells []coding.Counts) {
	t.cells = coding.AddCounts(t.cells, cells)
	t.rows += len(labels)
	for _, l := range labels {
		t.counts[l]++
	}
	for _, s := range scores {
		t.sum += s
	}
}

// Add adds rows that somebody else counted: their predicted class and, for two classes, the sum of their
// scores. It returns an error if the model does not have the class.
func (t *Tally) Add(class string, rows int, sum float64) error {
	k := classCode(t.m, class)
	if k < 0 {
		return errors.New("predict: the predicted classes must be those of the model")
	}
	t.rows += rows
	t.counts[k] += rows
	t.sum += sum
	return nil
}

// Lines returns the Summary and what became of cells that were not as declared.
func (t *Tally) Lines() []string {
	undeclared := coding.FindUndeclared(t.m.Schema, t.cells)
	return append([]string{t.Summary()}, coding.DescribeUndeclared(t.m.Schema, undeclared, t.rows)...)
}

// Causes says why cells of the source that was predicted are not as declared.
func (t *Tally) Causes(ctx context.Context, src *Source) ([]string, error) {
	opts, end := src.open("")
	defer end()
	return dataset.DescribeCauses(ctx, t.m.Schema, opts, coding.FindUndeclared(t.m.Schema, t.cells), t.rows, src.Paths...)
}

// MarshalJSON implements json.Marshaler.
func (t *Tally) MarshalJSON() ([]byte, error) {
	predicted := map[string]int{}
	for k, c := range t.m.Schema.Label.Levels {
		predicted[c.Value] = t.counts[k]
	}
	return json.Marshal(struct {
		Private    bool                `json:"private"` // false: the numbers are exact
		Rows       int                 `json:"rows"`
		Predicted  map[string]int      `json:"predicted"` // by class
		Undeclared []coding.Undeclared `json:"undeclared"`
	}{false, t.rows, predicted, coding.FindUndeclared(t.m.Schema, t.cells)})
}

// Summary states how many rows of each class are predicted and, for two classes, the number of
// positive rows that the scores imply.
func (t *Tally) Summary() string {
	classes := t.m.Schema.Label.Levels
	share := func(n float64) string { return fmt.Sprintf("%.1f %%", 100*n/float64(max(1, t.rows))) }
	if t.m.Width() > 1 {
		parts := make([]string, len(classes))
		for k, c := range classes {
			parts[k] = fmt.Sprintf("%s: %d", c.Value, t.counts[k])
		}
		return fmt.Sprintf("predicted %s (%s)", plaintext.Count(t.rows, "row"), strings.Join(parts, ", "))
	}
	at := t.m.Schema.Label.Positive
	from := fmt.Sprintf("from a score of %.4g on", t.from)
	if t.counts[at] == 0 {
		from = "no score reaches the threshold"
	}
	return fmt.Sprintf("predicted %s for %d of %s (%s, %s); scores expect %s", classes[at].Value, t.counts[at],
		plaintext.Count(t.rows, "row"), share(float64(t.counts[at])), from, share(t.sum))
}

// columnsOf returns the columns that hold these scores and labels.
func (p Params) columnsOf(m *model.Model, t *dataset.Table, scores []float64, labels []uint8) ([]dataset.Added, error) {
	classes, width := m.Schema.Label.Levels, m.Width()
	added := []dataset.Added{{Name: "label", Text: func(row int) string { return classes[labels[row]].Value }}}
	for k := range width {
		name := "score"
		if width > 1 {
			name += "_" + classes[k].Value
		}
		added = append(added, dataset.Added{Name: name, Number: func(row int) float64 { return scores[row*width+k] }})
	}
	if p.Interval {
		iv, err := explain.NewIntervals(m, t.Cols)
		if err != nil {
			return nil, err
		}
		added = append(added,
			dataset.Added{Name: "score_low", Number: func(row int) float64 { low, _ := iv.At(row); return low }},
			dataset.Added{Name: "score_high", Number: func(row int) float64 { _, high := iv.At(row); return high }})
	}
	if !p.Explain {
		return added, nil
	}
	parts, err := explain.Contributions(m, t.Cols)
	if err != nil {
		return nil, err
	}
	class := func(row int) uint8 { return labels[row] } // the predicted one
	if p.Class != "" {
		asked := uint8(classCode(m, p.Class))
		class = func(int) uint8 { return asked }
	}
	for i := range parts {
		c := &parts[i]
		added = append(added, dataset.Added{
			Name:   c.Column + "_" + c.Quantity,
			Number: func(row int) float64 { return c.At(row, class(row)) },
		})
	}
	return added, nil
}
