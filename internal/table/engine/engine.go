// SPDX-License-Identifier: Apache-2.0

// Package engine is what a learner may ask of a table: statistics, never rows.
// Answers are exact and private; nothing of them may leave a learner except
// through a mech.Exit.
package engine

import (
	"context"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Table answers questions about labelled rows. Answers are sums of integers over rows: an engine
// that holds rows in several places answers in each of them and adds up. Those about losses are
// turned into floating-point numbers once they are added up: see ExactSums.
type Table interface {
	Schema() *schema.Schema
	// Rows is the number of rows, n. Public under replace-one.
	Rows() int
	// Persons settles what rows count for if the schema declares persons, which comes before any
	// question below; nil if a row is a unit of its own.
	Persons() Persons
	// Against is the same rows, not a copy, with a label of two classes: the given
	// one, which is positive and has code 1, and all others together, code 0. Its
	// Schema says so.
	Against(class int) Table
	// Mistakes scores every classifier on every row and counts the rows by
	// which classifiers are wrong about them. The label must be binary. One
	// pass over the rows.
	Mistakes(ctx context.Context, sp *feature.Space, cs []feature.Threshold) (*Patterns, error)
	// Groups counts, per label, the rows that agree on all of cols (indices
	// into the schema's Columns), in the order of their keys (PackKeys); what rows
	// weigh, where persons were weighed. One pass.
	Groups(ctx context.Context, cols []int) (*Groups, error)
	// Sum adds up a statistic over the rows, as many numbers as its Size. The sums are exact, hence
	// the same for any order of the rows. One pass. An engine may keep what rows score until it is
	// asked about another Score.
	Sum(ctx context.Context, s Statistic) ([]int64, error)
	// Margins prepares the rows for many questions about losses. The label
	// must be binary. One pass.
	Margins(ctx context.Context, sp *feature.Space, r Rows) (Margins, error)
}

// Margins asks about rows of one space and shape at many coefficients, of one Loss after
// another: what an engine must know of a question once (the space, the shape of rows) it was
// told when Margins was made. It may be used by several goroutines.
type Margins interface {
	// Sample is about so many of the rows, all if there are fewer: a row is in it or not by what
	// its features say, wherever it lies, and equal rows are in it together.
	Sample(rows int) Margins
	// Sums are the gradient and, with hess, the Hessian at coef for
	// the loss l, and how many rows they are sums over. The value of the loss is not
	// computed. It fails only when ctx ends or coef has the wrong length.
	Sums(ctx context.Context, l Loss, coef []float64, hess bool) (*LossSums, error)
	// Right is, for each of the cuts, what the rows weigh that are answered rightly
	// by calling positive whatever scores at least the cut. The score is that of
	// features as the space has them, neither scaled nor shortened: coef as a model
	// holds it, the intercept last. A row moves each number by at most its weight.
	// It fails only when ctx ends, coef has the wrong length or there is no cut.
	Right(ctx context.Context, coef []float64, cuts Cuts) ([]float64, error)
}

// OneVersusRest is what a learner of two classes is asked to learn: the table itself
// where its label has two, else each class against all others, in order.
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

// Patterns counts rows by mistake pattern. Pattern p is the words
// Bits[p*Words:(p+1)*Words]; bit t of it (t%64 of word t/64) says that
// classifier t is wrong. The order of patterns is deterministic for one table
// and does not depend on the order of its rows.
type Patterns struct {
	Words int
	Bits  []uint64
	Count []uint64 // rows with that pattern; the sum is n
}

// KeyField is where the code of a column stands in the key of a group, which is one or more
// words.
type KeyField struct{ Word, Shift, Width int }

// PackKeys lays out the keys of groups of columns that have so many codes each, one after
// another from the lowest bit of the first word on, each in as many bits as it needs and none
// across two words. Groups are listed by their keys, the first word first. It returns the
// fields and how many bits a key has, at least 1.
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

// Groups is a table of distinct rows with, for each, how many rows of each
// label it stands for.
type Groups struct {
	Cols   []column.Column // parallel to the schema's Columns; zero if not asked for
	Len    int             // number of distinct rows
	Counts [][]uint64      // Counts[label][group]
}

// LossSums is a twice differentiable loss at one point, summed over rows.
type LossSums struct {
	Rows uint64 // how many were added up, if they were exact
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
