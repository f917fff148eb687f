// SPDX-License-Identifier: Apache-2.0

// Package engine defines the questions that a learner may ask about a table: statistics, never rows.
// Answers are exact and private; they may be released only through a mech.Exit.
package engine

import (
	"context"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Table answers questions about labelled rows. Answers are sums of integers over rows, so that an
// engine with rows in several places can answer in each of them and add up. Answers about losses are
// converted to floating-point numbers after adding up: see ExactSums.
type Table interface {
	// Schema returns a copy of the schema by which rows are read. No one holds the table's own.
	Schema() *schema.Schema
	// Rows returns the number of rows, n. It is public under replace-one.
	Rows() int
	// Persons settles the weights of rows if the schema declares persons; that must come before any
	// question below. It is nil if each row is a unit.
	Persons() Persons
	// Against returns a view of the same rows with a label of two classes: the given one, which is
	// positive and has code 1, and all others together, with code 0. Its Schema declares that label.
	Against(class int) Table
	// Mistakes scores every classifier on every row and counts the rows by the set of classifiers that
	// are wrong on them. The label must be binary. It takes one pass over the rows.
	Mistakes(ctx context.Context, sp *feature.Space, cs []feature.Threshold) (*Patterns, error)
	// Groups counts, by label, the rows that agree on all of cols (indices into the schema's Columns),
	// in the order of their keys (PackKeys). If persons are weighted, it adds up the weights of rows.
	// It takes one pass.
	Groups(ctx context.Context, cols []int) (*Groups, error)
	// Sum adds up a statistic over the rows, with as many numbers as its Size. The sums are exact, and
	// hence the same for any order of the rows. It takes one pass. An engine may keep the scores of
	// rows until a question with another Score.
	Sum(ctx context.Context, s Statistic) ([]int64, error)
	// Margins prepares the rows for many questions about losses. The label must be binary. It takes
	// one pass.
	Margins(ctx context.Context, sp *feature.Space, r Rows) (Margins, error)
}

// Margins answers questions about rows of one space and shape at many coefficients, for one Loss after
// another. The space and the shape of rows are fixed when it is made. It is safe for concurrent use.
type Margins interface {
	// Sample selects about the given number of rows, or all if there are fewer. A row's features, not
	// its position, determine whether it is in the sample, so that equal rows are in it together.
	Sample(rows int) Margins
	// Sums returns the gradient and, with hess, the Hessian at coef for the loss l, and the number of
	// rows in the sums. It does not compute the value of the loss. It fails only if ctx ends or coef
	// has the wrong length.
	Sums(ctx context.Context, l Loss, coef []float64, hess bool) (*LossSums, error)
	// Right returns, for each of the cuts, the total weight of the rows that are classified correctly
	// if scores of at least the cut are predicted positive. Scores use features of the space without
	// scaling or clipping: coef is as in a model, with the intercept last. A row changes each number
	// by at most its weight. It fails only if ctx ends, coef has the wrong length or there is no cut.
	Right(ctx context.Context, coef []float64, cuts Cuts) ([]float64, error)
}

// OneVersusRest returns the problems of a learner of two classes: the table itself if its label has
// two, otherwise each class against all others, in order.
func OneVersusRest(t Table) []Table {
	classes := t.Schema().Classes()
	if classes == 2 {
		return []Table{t}
	}
	views := make([]Table, classes)
	for class := range views {
		views[class] = t.Against(class)
	}
	return views
}

// Patterns counts rows by mistake pattern. Pattern p is the words Bits[p*Words:(p+1)*Words]; its bit t
// (t%64 of word t/64) is set if classifier t is wrong. The order of patterns is deterministic for one
// table and does not depend on the order of its rows.
type Patterns struct {
	Words int
	Bits  []uint64
	Count []uint64 // rows with that pattern; the sum is n
}

// KeyField is the position of a column's code in the key of a group, which is one or more words.
type KeyField struct{ Word, Shift, Width int }

// PackKeys lays out the keys of groups of columns with the given numbers of codes: one after another
// from the lowest bit of the first word, each in as many bits as it needs and none across two words.
// Groups are ordered by their keys, the first word first. It returns the fields and the number of bits
// of a key, at least 1.
func PackKeys(codes []int) (fields []KeyField, keyBits int) {
	word, at := 0, 0
	for _, n := range codes {
		width := bits.Len(uint(max(n-1, 1)))
		if at+width > 64 {
			word, at = word+1, 0
		}
		fields = append(fields, KeyField{word, at, width})
		at += width
	}
	return fields, max(1, 64*word+at)
}

// Groups holds distinct rows and, for each, the number of rows of each label.
type Groups struct {
	Cols   []column.Column // parallel to the schema's Columns; zero if not requested
	Len    int             // number of distinct rows
	Counts [][]uint64      // Counts[label][group]
}

// LossSums is a twice differentiable loss at one point, summed over rows.
type LossSums struct {
	Rows uint64 // number of rows, if the sums were exact
	Loss float64
	Grad []float64 // length d+1, the intercept last
	Hess []float64 // (d+1)×(d+1) row-major, symmetric
}

// Add adds the sums over other rows at the same point.
func (l *LossSums) Add(m *LossSums) {
	l.Loss += m.Loss
	for i, g := range m.Grad {
		l.Grad[i] += g
	}
	for i, h := range m.Hess {
		l.Hess[i] += h
	}
}
