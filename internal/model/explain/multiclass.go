// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ClassShape holds the step functions of one column, one per class.
type ClassShape struct {
	Origin
	// Importance is the mean of |log-share| over bins and classes, each counted once.
	Importance float64    `json:"importance"`
	Bins       []ClassBin `json:"bins"`

	column *schema.Column
}

// ClassBin is one step. Its contributions are centred: each is relative to the mean over all classes,
// so that the numbers of a bin add up to 0.
type ClassBin struct {
	Cut
	LogShares  []float64 `json:"log_shares"`   // one per class
	Deviations []float64 `json:"posterior_sd"` // as in Bin
}

// Start is the starting value of every row for one class: the centred intercept, and the probability
// if all other contributions are 0.
type Start struct {
	Class       string  `json:"level"`
	LogShare    float64 `json:"log_share"`
	Probability float64 `json:"probability"`
}

func (e *Explanation) addMulticlass(m *model.Model, a *model.MulticlassAdditive) {
	e.addStarts(m, a.Intercepts)
	for i := range a.Shapes {
		sh := &a.Shapes[i]
		c := &m.Schema.Columns[m.Schema.Find(sh.Column)]
		out := ClassShape{Origin: originOf(m, c), column: c}
		for b := range sh.LogShares[0] {
			bin := ClassBin{Cut: cutOf(c, sh.Edges, b)}
			steps := make([]float64, len(sh.LogShares))
			for k := range steps {
				steps[k] = sh.LogShares[k][b]
				bin.Deviations = append(bin.Deviations, sh.Noise[k][b])
			}
			bin.LogShares = centreValues(steps)
			out.Importance += meanSize(bin.LogShares) / float64(len(sh.LogShares[0]))
			out.Bins = append(out.Bins, bin)
		}
		e.ClassShapes = append(e.ClassShapes, out)
	}
	slices.SortStableFunc(e.ClassShapes, func(a, b ClassShape) int {
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(m.Schema.Find(a.Column), m.Schema.Find(b.Column)))
	})
}

// addStarts adds the intercepts of a model of several classes.
func (e *Explanation) addStarts(m *model.Model, intercepts []float64) {
	e.Link = model.Softmax
	centred, sum := centreValues(intercepts), 0.0
	for _, z := range centred {
		sum += math.Exp(z)
	}
	for k, class := range m.Schema.Label.Levels {
		e.Starts = append(e.Starts, Start{class.Value, centred[k], math.Exp(centred[k]) / sum})
	}
}

// centreValues subtracts the mean, which does not change a softmax.
func centreValues(z []float64) []float64 {
	mean := 0.0
	for _, x := range z {
		mean += x / float64(len(z))
	}
	out := make([]float64, len(z))
	for k, x := range z {
		out[k] = x - mean
	}
	return out
}

// CanBracket refuses intervals for a model of more than two classes.
func CanBracket(op string, m *model.Model) error {
	if _, ok := m.Classifier.(*model.MulticlassAdditive); ok {
		return &dp.ParamError{Op: op, Param: "model",
			Want: "requires a label of two classes: with more classes, separate intervals do not describe the scores together",
			Got:  fmt.Sprintf("one of %d classes", m.Schema.Classes()),
			Hint: "explain draws how far noise may have moved each step"}
	}
	return CanSplit(op, m)
}
