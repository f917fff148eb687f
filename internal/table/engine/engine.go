// SPDX-License-Identifier: Apache-2.0

// Package engine is what a learner may ask of a table: statistics, never rows.
// Answers are exact and private; nothing of them may leave a learner except
// through a mech.Exit.
package engine

import (
	"context"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Table answers questions about labelled rows.
type Table interface {
	Schema() *schema.Schema
	// Rows is the number of rows, n. Public under replace-one.
	Rows() int
	// Against is the same rows, not a copy, with a label of two levels: the given
	// one, which is positive and has code 1, and all others together, code 0. Its
	// Schema says so.
	Against(level int) Table
	// Mistakes scores every classifier on every row and counts the rows by
	// which classifiers are wrong about them. The label must be binary. One
	// pass over the rows.
	Mistakes(ctx context.Context, sp *feature.Space, cs []feature.Threshold) (*Patterns, error)
	// Groups counts, per label, the rows that agree on all of cols (indices
	// into the schema's Columns), in a deterministic order. One pass.
	Groups(ctx context.Context, cols []int) (*Groups, error)
	// Cells adds up, for each of bins, the weights of the rows in each bin by
	// label. A row weighs Weight(m), m its score under f where its label is
	// positive, minus that where not; nil weighs every row WeightOne. The label
	// must be binary. The sums are exact, hence the same for any order of the
	// rows. One pass.
	Cells(ctx context.Context, f *feature.Additive, bins []feature.Bins) ([]CellSums, error)
	// LevelCells counts, for each of bins, the rows of each level in each bin. One
	// pass.
	LevelCells(ctx context.Context, bins []feature.Bins) ([]LevelCells, error)
	// LevelScores starts scores of every row and level at the given ones, one per
	// level, for a label of any number of levels.
	LevelScores(start []float64) *LevelScores
	// LogisticSums evaluates the logistic loss, its gradient and its Hessian,
	// summed over the rows, at coef. The label must be binary. One pass.
	LogisticSums(ctx context.Context, sp *feature.Space, coef []float64) (*LossSums, error)
	// MarginSums is LogisticSums for any Loss of rows that are scaled and
	// projected one by one as r says. One pass.
	MarginSums(ctx context.Context, sp *feature.Space, l Loss, r Rows, coef []float64) (*LossSums, error)
	// Margins lays the rows out for many evaluations of MarginSums. The label
	// must be binary. One pass.
	Margins(ctx context.Context, sp *feature.Space, r Rows) (*Margins, error)
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

// Groups is a table of distinct rows with, for each, how many rows of each
// label it stands for.
type Groups struct {
	Cols   []column.Column // parallel to the schema's Columns; zero where not asked for
	Len    int             // number of distinct rows
	Counts [][]uint64      // Counts[label][group]
}

// LossSums is a twice differentiable loss at one point, summed over rows.
type LossSums struct {
	Loss float64
	Grad []float64 // length d+1, the intercept last
	Hess []float64 // (d+1)×(d+1) row-major, symmetric
}
