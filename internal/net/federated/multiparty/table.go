// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Auxiliary is the public table without labels, parallel to the schema's columns. Its rows must not
// depend on any party's data.
type Auxiliary struct {
	Cols   []column.Column
	Rows   int
	Digest Digest // of the files from which it was read
}

// unitBits is the precision of features in the statistic: they are multiples of 2^-unitBits, so that
// sums are exact in any order.
const unitBits = 40

// public is the auxiliary table in the form that the plan uses: each row scaled to length at most 1,
// with a constant for the intercept at the end.
type public struct {
	pl    *Plan
	cols  []column.Column
	rows  int
	scale float64
	one   int64 // the constant, in units of 2^-unitBits
	cells []cells
}

// cells are the features of one column by code.
type cells struct {
	index []int32
	units []int64 // of 2^-unitBits
}

func newPublic(pl *Plan, aux *Auxiliary) *public {
	p := &public{pl: pl, cols: aux.Cols, rows: aux.Rows}
	scale := 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
	p.scale = math.Nextafter(math.Nextafter(scale, 0), 0)
	p.one = p.roundValue(1)
	for k, j := range pl.space.Columns {
		n := pl.space.Codes(k, &p.cols[j])
		c := cells{make([]int32, n), make([]int64, n)}
		for code := range n {
			f, x := pl.space.Cell(k, &p.cols[j], code)
			c.index[code], c.units[code] = int32(f), p.roundValue(x)
		}
		p.cells = append(p.cells, c)
	}
	return p
}

// roundValue rounds towards zero, so that no row becomes longer than 1.
func (p *public) roundValue(x float64) int64 { return int64(math.Ldexp(p.scale*x, unitBits)) }

// rowShape describes the same scaling to the engine.
func (p *public) rowShape() engine.Rows { return engine.Rows{Scale: p.scale, Norm: 1} }

// firstRows returns the first n rows.
func (p *public) firstRows(n int) *public {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	q := *p
	q.rows = n
	q.cols = make([]column.Column, len(p.cols))
	for _, j := range p.pl.space.Columns {
		q.cols[j] = p.cols[j].Pick(rows)
	}
	return &q
}
