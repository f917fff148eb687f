// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Statistic is a sum over rows, as a value. A row's contribution is a function of the codes of its own
// cells, its label, its weight and the parameters of the statistic, which are fixed before the pass.
// It does not depend on the row's number, on other rows or on earlier sums. It consists of whole
// numbers of bounded size, for any parameters.
type Statistic interface {
	// Size returns the number of sums over the rows of a view. It refuses a view that the statistic
	// does not support.
	Size(v *View) (int, error)
	// Columns lists the columns, as indices into the schema's, whose codes are read, each as often as
	// it is read; those of a Score are not included.
	Columns() []int
	// Adder returns an adder for the content of run, for one goroutine. run has no rows yet: its codes
	// only have their widths.
	Adder(run *Run) Adder
}

// Adder adds up the rows of one Run after another.
type Adder interface {
	// Add adds the current rows of the run.
	Add()
	// AddTo adds the sums over all rows so far to sums.
	AddTo(sums []int64)
}

// Scored is a statistic of rows' scores.
type Scored interface {
	Statistic
	// Score returns nil if all rows have the same score, or if scores cannot be cached.
	Score() Score
}

// ScoreOf is what rows score, nil if that is not kept.
func ScoreOf(s Statistic) Score {
	if scored, ok := s.(Scored); ok {
		return scored.Score()
	}
	return nil
}

// ColumnsRead lists the columns, indices into the schema's, whose codes a pass reads if rows have the
// first terms of the score, so many; one as often as it is read.
func ColumnsRead(s Statistic, known int) []int {
	columns := slices.Clone(s.Columns())
	if score := ScoreOf(s); score != nil {
		columns = append(columns, score.TermColumns(known)...)
	}
	return columns
}

// Score gives each row some numbers. It grows by terms, so an engine may keep rows' numbers from one
// question to the next and add only what is new.
type Score interface {
	// Width returns how many numbers a row has.
	Width() int
	// Len returns the number of terms.
	Len() int
	// TermColumns lists the columns that the terms from the given one on read.
	TermColumns(from int) []int
	// Extends reports whether the score consists of old and possibly more terms.
	Extends(old Score) bool
	// Keep returns a copy that does not change when the score grows.
	Keep() Score
	// Scorer returns a function that adds the terms from the given one on to the scores of the rows in
	// run. If from is 0, the scores are uninitialised.
	Scorer(run *Run, from int) func()
}

// View describes a view of a table for questions.
type View struct {
	Schema  *schema.Schema // its label is that of the view
	Whole   bool           // the label has the classes of the table: see Table.Against
	Weighed bool           // rows are weighted by persons
	Label   [1 << 8]uint8  // the label's code in the view, by its code in the table
}

// NewView returns the view of a table of schema s against a class of its label, or WholeLabel.
func NewView(s *schema.Schema, against int) *View {
	v := &View{Schema: s, Whole: against == WholeLabel}
	if !v.Whole {
		v.Schema, v.Label[against] = SchemaAgainst(s, against), 1
		return v
	}
	for code := range v.Label {
		v.Label[code] = uint8(code)
	}
	return v
}

// WholeLabel is the class of a view of the whole label.
const WholeLabel = -1

// Positive returns, by a label's code in the table, 1 if the label is the positive one of two.
func (v *View) Positive() (of [1 << 8]uint8) {
	for code, c := range v.Label {
		if int(c) == v.Schema.Label.Positive {
			of[code] = 1
		}
	}
	return of
}

// Run is some consecutive rows of a table. It does not show their position in the table.
type Run struct {
	*View
	Cols    []column.Column // parallel to the schema's Columns; only requested columns have codes
	Labels  []uint8         // codes of the table
	Weights []uint32        // in units of 1/WeightOne; nil if all rows have weight one
	Scores  []int32         // by row, then number of a Score
}

// Rows is the number of rows.
func (r *Run) Rows() int { return len(r.Labels) }
