// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Statistic is a sum over rows, as a value. What a row adds follows from the codes of its own cells,
// its label, what it weighs and the parameters of the statistic, which are fixed before the pass: not
// from its number, from another row or from what was added before. It is in whole numbers and of
// bounded size, whatever the parameters are.
type Statistic interface {
	// Size is the number of sums over the rows of a view. It refuses a view that the statistic is not
	// for.
	Size(v *View) (int, error)
	// Columns lists the columns, indices into the schema's, whose codes are read, one as often as it
	// is read; those of a Score are not among them.
	Columns() []int
	// Adder adds up what run holds, in one goroutine. As yet that is no row: codes have their width
	// alone.
	Adder(run *Run) Adder
}

// Adder adds up the rows of one Run after another.
type Adder interface {
	// Add adds the rows that the run holds now.
	Add()
	// AddTo adds the sums over all rows so far to sums.
	AddTo(sums []int64)
}

// Scored is a statistic of rows' scores.
type Scored interface {
	Statistic
	// Score is nil if all rows score the same, or what they score cannot be kept.
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
	// Width is the number of numbers that a row has.
	Width() int
	// Len is the number of terms.
	Len() int
	// TermColumns lists the columns that terms read, from number from on.
	TermColumns(from int) []int
	// Extends reports whether the score is old with terms added to it, or with none.
	Extends(old Score) bool
	// Keep is a copy that does not grow or change with the score.
	Keep() Score
	// Scorer brings the scores of the rows in run, where the terms before number from are added, to
	// those of all terms. If from is 0 they are of no score yet.
	Scorer(run *Run, from int) func()
}

// View is what the rows of a table have in common when they are asked about.
type View struct {
	Schema  *schema.Schema // its label is the one that is asked about
	Whole   bool           // the label has the classes of the table: see Table.Against
	Weighed bool           // rows weigh what their persons allow
	Label   [1 << 8]uint8  // the code of a label by that in the table
}

// NewView is a view of a table of schema s against a class of its label, or WholeLabel.
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

// WholeLabel stands for the class of a view that is not against one.
const WholeLabel = -1

// Positive is, by a label's code in the table, 1 if the label is the positive one of two.
func (v *View) Positive() (of [1 << 8]uint8) {
	for code, c := range v.Label {
		if int(c) == v.Schema.Label.Positive {
			of[code] = 1
		}
	}
	return of
}

// Run is some rows of a table, one after another. Nothing in it says where in the table they are.
type Run struct {
	*View
	Cols    []column.Column // parallel to the schema's Columns; codes of columns that no one named are not there
	Labels  []uint8         // as the table has them
	Weights []uint32        // in units of 1/WeightOne; nil if every row counts once
	Scores  []int32         // by row, then number of a Score
}

// Rows is the number of rows.
func (r *Run) Rows() int { return len(r.Labels) }
