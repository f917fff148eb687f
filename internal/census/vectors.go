// SPDX-License-Identifier: Apache-2.0

package census

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Width is the length of a person's vector.
const Width = 67

// NonZeros is how many numbers of a vector can differ from 0.
const NonZeros = columns

// Vectors reads people as vectors of 67 numbers: 62 binary ones, of which each
// category has one per level, missing included, and the size of the household
// one per size; and the five other number columns, scaled to [-1, 1] by their
// declared bounds (capital_income by its logarithm). The vectors are made when
// asked for, so a million people still take 17 MB. Safe for concurrent use.
type Vectors struct {
	t      *dataset.Table
	layout *layout
}

// layout says which dimension a cell sets to what, by column and code.
type layout struct {
	names  []string
	binary []bool
	at     [columns][]uint8
	value  [columns][]float64
}

// NewVectors reads a table of this package.
func NewVectors(t *dataset.Table) *Vectors { return &Vectors{t, newLayout(t.Schema)} }

// Len is the number of people.
func (v *Vectors) Len() int { return v.t.Rows }

// Dim is Width.
func (v *Vectors) Dim() int { return Width }

// Name is the j-th dimension's: a column's, for a binary one with "=" and the
// level.
func (v *Vectors) Name(j int) string { return v.layout.names[j] }

// Binary says whether the j-th dimension is 0 or 1.
func (v *Vectors) Binary(j int) bool { return v.layout.binary[j] }

// Row writes person i's vector to out, of length Width.
func (v *Vectors) Row(i int, out []float64) {
	clear(out)
	for c := range columns {
		code := v.t.Cols[c].Codes.At(i)
		out[v.layout.at[c][code]] = v.layout.value[c][code]
	}
}

// Sparse writes the dimensions of person i that can differ from 0, ascending,
// and their numbers.
func (v *Vectors) Sparse(i int, at *[NonZeros]uint8, value *[NonZeros]float64) {
	for c := range columns {
		code := v.t.Cols[c].Codes.At(i)
		at[c], value[c] = v.layout.at[c][code], v.layout.value[c][code]
	}
}

func newLayout(s *schema.Schema) *layout {
	l := &layout{}
	for c := range columns {
		if col := &s.Columns[c]; col.Kind == schema.Number && c != colHousehold {
			l.addNumber(c, col)
		} else {
			l.addLevels(c, col.Name, cellTexts(s, c))
		}
	}
	return l
}

func (l *layout) addColumn(name string, binary bool) {
	l.names, l.binary = append(l.names, name), append(l.binary, binary)
}

func (l *layout) addNumber(c int, col *schema.Column) {
	scale := func(x float64) float64 { return x }
	if col.Transform == schema.Log1p {
		scale = math.Log1p
	}
	lo, hi := scale(col.Lower), scale(col.Upper)
	for _, x := range sharedWorld().values[c] {
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
