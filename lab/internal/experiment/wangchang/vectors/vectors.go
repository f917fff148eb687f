// SPDX-License-Identifier: Apache-2.0

// Package vectors reads the invented people of package census as vectors of numbers.
package vectors

import (
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Width is the length of a person's vector.
const Width = 67

// NonZeros is how many numbers of a vector can differ from 0: one of each column.
const NonZeros = 14

// People reads people as vectors of 67 numbers: 62 binary ones, of which each
// category has one per level, missing included, and the size of the household
// one per size; and the five other number columns, scaled to [-1, 1] by their
// declared bounds (capital_income by its logarithm). The vectors are made when
// asked for, so a million people still take 17 MB. Safe for concurrent use.
type People struct {
	t      *dataset.Table
	layout *layout
}

// layout says which dimension a cell sets to what, by column and code.
type layout struct {
	names  []string
	binary []bool
	at     [NonZeros][]uint8
	value  [NonZeros][]float64
}

// New reads a table of package census.
func New(t *dataset.Table) *People { return &People{t, newLayout(t)} }

// Len is the number of people.
func (v *People) Len() int { return v.t.Rows }

// Dim is Width.
func (v *People) Dim() int { return Width }

// Name is the j-th dimension's: a column's, for a binary one with "=" and the
// level.
func (v *People) Name(j int) string { return v.layout.names[j] }

// Binary says whether the j-th dimension is 0 or 1.
func (v *People) Binary(j int) bool { return v.layout.binary[j] }

// Row writes person i's vector to out, of length Width.
func (v *People) Row(i int, out []float64) {
	clear(out)
	for c := range NonZeros {
		code := v.t.Cols[c].Codes.At(i)
		out[v.layout.at[c][code]] = v.layout.value[c][code]
	}
}

// Sparse writes the dimensions of person i that can differ from 0, ascending,
// and their numbers.
func (v *People) Sparse(i int, at *[NonZeros]uint8, value *[NonZeros]float64) {
	for c := range NonZeros {
		code := v.t.Cols[c].Codes.At(i)
		at[c], value[c] = v.layout.at[c][code], v.layout.value[c][code]
	}
}

func newLayout(t *dataset.Table) *layout {
	l := &layout{}
	for c := range NonZeros {
		if col := &t.Schema.Columns[c]; col.Kind == schema.Number && col.Name != "household_size" {
			l.addNumber(c, col, t.Cols[c].Values)
		} else {
			l.addLevels(c, col.Name, cellTexts(t, c))
		}
	}
	return l
}

// neverDrawn stands for the code of undeclared levels.
const neverDrawn = "other: never drawn"

// cellTexts is how each code of the j-th column is written.
func cellTexts(t *dataset.Table, j int) (out []string) {
	for _, x := range t.Cols[j].Values {
		out = append(out, strconv.Itoa(int(x)))
	}
	c := &t.Schema.Columns[j]
	out = append(out, schema.Values(c.Levels)...)
	if c.Missing {
		out = append(out, neverDrawn, t.Schema.Dialect.Missing[0])
	}
	return out
}

func (l *layout) addColumn(name string, binary bool) {
	l.names, l.binary = append(l.names, name), append(l.binary, binary)
}

func (l *layout) addNumber(c int, col *schema.Column, values []float64) {
	scale := func(x float64) float64 { return x }
	if col.Transform == schema.Log1p {
		scale = math.Log1p
	}
	lo, hi := scale(col.Lower), scale(col.Upper)
	for _, x := range values {
		l.at[c] = append(l.at[c], uint8(len(l.names)))
		l.value[c] = append(l.value[c], 2*(scale(x)-lo)/(hi-lo)-1)
	}
	l.addColumn(col.Name, false)
}

// addLevels gives each text a dimension, but for the code that is never drawn.
func (l *layout) addLevels(c int, name string, texts []string) {
	for _, text := range texts {
		l.at[c] = append(l.at[c], uint8(len(l.names)))
		l.value[c] = append(l.value[c], 1)
		if text != neverDrawn {
			l.addColumn(name+"="+text, true)
		}
	}
}
