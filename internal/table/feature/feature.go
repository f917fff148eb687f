// SPDX-License-Identifier: Apache-2.0

// Package feature converts coded cells to numbers in [-1, 1] or {0, 1}, by the schema alone.
package feature

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Encoding is a way to convert a category to numbers.
type Encoding string

const (
	// Ordinal is the paper's label coding: one feature per category, its declared levels spread evenly
	// over [-1, 1] in their declared order. "Other" and "missing" are not in that order and are 0.
	Ordinal Encoding = "ordinal"
	// OneHot is one 0/1 feature per code, "other" and "missing" included.
	OneHot Encoding = "onehot"
)

// ParseEncoding accepts the names of the encodings.
func ParseEncoding(s string) (Encoding, error) {
	switch e := Encoding(s); e {
	case Ordinal, OneHot:
		return e, nil
	}
	return "", &dp.ParamError{Op: "feature", Param: "encoding", Want: `must be "ordinal" or "onehot"`, Got: s}
}

// Space maps some columns of a schema to features. Exactly one feature of each column is non-zero at a
// time (the only feature of a number or an ordinal category, or the one-hot feature of the cell's
// code). A row is therefore stored as one (feature, value) pair per column.
type Space struct {
	Encoding Encoding
	Columns  []int    // indices into the schema's Columns
	Names    []string `json:"-"`
	blocks   []block
}

type block struct {
	first int // index of the column's first feature
	col   schema.Column
	lo    float64 // transformed bounds of a number
	hi    float64
}

// NewSpace builds the space of the given columns, in the given order.
func NewSpace(s *schema.Schema, enc Encoding, cols []int) (*Space, error) {
	if _, err := ParseEncoding(string(enc)); err != nil {
		return nil, err
	}
	sp := &Space{Encoding: enc, Columns: cols}
	for _, j := range cols {
		c := s.Columns[j]
		b := block{first: len(sp.Names), col: c}
		switch {
		case c.Kind == schema.Number:
			b.lo, b.hi = transformNumber(c.Transform, c.Lower), transformNumber(c.Transform, c.Upper)
			sp.Names = append(sp.Names, c.Name)
		case enc == Ordinal:
			sp.Names = append(sp.Names, c.Name)
		default:
			for code := range c.Codes() {
				sp.Names = append(sp.Names, fmt.Sprintf("%s=%s", c.Name, c.CodeName(code)))
			}
		}
		sp.blocks = append(sp.blocks, b)
	}
	return sp, nil
}

// Width returns the number of features, d.
func (sp *Space) Width() int { return len(sp.Names) }

// Block returns the index of the first feature of the k-th column of the space, and the number of its
// features.
func (sp *Space) Block(k int) (first, width int) {
	b := &sp.blocks[k]
	if b.col.Kind == schema.Category && sp.Encoding == OneHot {
		return b.first, b.col.Codes()
	}
	return b.first, 1
}

// Number encodes a cell of the k-th column, a number that is already clamped to its bounds. It returns
// the feature and its value in [-1, 1].
func (sp *Space) Number(k int, x float64) (index int, value float64) {
	b := &sp.blocks[k]
	// Rounded before 1 is taken off: evidence/decisions/0006-floats.md.
	return b.first, float64(2*(transformNumber(b.col.Transform, x)-b.lo)/(b.hi-b.lo)) - 1
}

// Code encodes a cell of the k-th column, a category. It returns the feature and its value.
func (sp *Space) Code(k, code int) (index int, value float64) {
	b := &sp.blocks[k]
	if sp.Encoding == OneHot {
		return b.first + code, 1
	}
	levels := len(b.col.Levels)
	if code >= levels || levels < 2 {
		return b.first, 0
	}
	return b.first, float64(2*float64(code)/float64(levels-1)) - 1
}

// Codes returns the number of codes that col can have as the k-th column of the space.
func (sp *Space) Codes(k int, col *column.Column) int {
	if col.Values != nil {
		return len(col.Values)
	}
	return sp.blocks[k].col.Codes()
}

// Cell encodes the cells of the k-th column, a number or a category, that have this code. It returns
// the feature and its value.
func (sp *Space) Cell(k int, col *column.Column, code int) (index int, value float64) {
	if col.Values != nil {
		return sp.Number(k, col.Values[code])
	}
	return sp.Code(k, code)
}

// Reach returns the largest |Σ coef·feature| that the declared bounds and levels allow.
func (sp *Space) Reach(coef []float64) (reach float64) {
	for k := range sp.blocks {
		first, width := sp.Block(k)
		most := 0.0
		for _, c := range coef[first : first+width] {
			most = max(most, math.Abs(c))
		}
		reach += most
	}
	return reach
}

func transformNumber(t schema.Transform, x float64) float64 {
	if t == schema.Log1p {
		return math.Log1p(x)
	}
	return x
}
