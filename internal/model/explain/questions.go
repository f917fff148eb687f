// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// nearlyAll is the share of the rows from which a question is asked about them.
const nearlyAll = 0.98

// Questions returns the questions of an explanation, none if the model cannot be explained.
func Questions(m *model.Model) []string {
	e, err := of(m)
	if err != nil {
		return nil
	}
	return e.ask(m)
}

// ask returns questions about the schema that the model raises: it may have been trained on a table that the
// schema does not fit. They follow from released numbers alone.
func (e *Explanation) ask(m *model.Model) (questions []string) {
	label := &m.Schema.Label
	if share, class := largestClass(m); share >= nearlyAll {
		questions = append(questions, fmt.Sprintf("does the label %q hold the values that the schema declares? As released, "+
			"nearly all rows are %q", label.Name, label.Levels[class].Value))
	}
	a, ok := m.Classifier.(*model.Additive)
	if !ok {
		return questions
	}
	for i := range a.Shapes {
		sh := &a.Shapes[i]
		c := &m.Schema.Columns[m.Schema.Find(sh.Column)]
		if bin := fullBin(sh); bin < 0 {
			continue
		} else if c.Kind != schema.Category {
			questions = append(questions, fmt.Sprintf("do the bounds of column %q, and how its cells are spelt, fit the table? As "+
				"released, nearly all rows lie in one bin", c.Name))
		} else if other := c.OtherCode(); other == bin || sh.Cells.Groups != nil && int(sh.Cells.Groups[other]) == bin {
			questions = append(questions, fmt.Sprintf("does column %q hold the values that the schema declares? As released, "+
				"nearly all rows hold others", c.Name))
		}
	}
	lines, exceeds := 0, false
	e.eachLine(m, a, func(s *Shape, _, rare float64) bool {
		lines++
		exceeds = s.Importance > rare
		return !exceeds
	})
	if lines > 0 && !exceeds {
		questions = append(questions, "does the schema fit the table, and are there enough rows? No column's effect exceeds its noise")
	}
	return questions
}

// largestClass returns the class that a row has by the intercepts alone, and its probability; 0 if the model has
// none.
func largestClass(m *model.Model) (share float64, class int) {
	var starts []float64
	switch c := m.Classifier.(type) {
	case *model.Additive:
		starts = []float64{c.Intercept}
	case *model.MulticlassAdditive:
		starts = c.Intercepts
	case *model.Grids:
		starts = c.Intercepts
	default:
		return 0, 0
	}
	if len(starts) == 1 {
		odds := starts
		starts = make([]float64, 2)
		starts[m.Schema.Label.Positive] = odds[0]
	}
	sum := 0.0
	for k, z := range starts {
		if z > starts[class] {
			class = k
		}
		sum += math.Exp(z - slices.Max(starts))
	}
	return 1 / sum, class
}

// fullBin returns the bin of a column that holds nearly all rows, -1 if none does or noise may be why it seems so.
func fullBin(sh *model.Shape) int {
	if sh.Cells == nil || len(sh.Cells.Weights) < 2 {
		return -1
	}
	all := nearlyAll
	for _, r := range sh.Cells.Releases[:min(1, len(sh.Cells.Releases))] {
		part := math.Hypot(r.Noise[0], r.Noise[1]) / weightOf(&r)
		if !(part <= 0.02) {
			return -1
		}
		all -= 2 * part // which noise alone puts into other bins
	}
	return slices.IndexFunc(sh.Cells.Weights, func(w float64) bool { return w >= all })
}
