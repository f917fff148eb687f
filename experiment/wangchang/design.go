// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/census"
	"github.com/discreet-dp/discreet/experiment/wangchang/continuous"
)

// design is one owner's rows as a solver wants them: X, n×d.
type design interface {
	rows() int
	// times writes X·v to out, of length n.
	times(v, out []float64)
	// back writes Xᵀ·c to out, of length d.
	back(c, out []float64)
	// gram writes XᵀX to out, d×d; its upper triangle is enough.
	gram(out []float64)
}

// dense holds all numbers.
type dense struct {
	n, d  int
	cells []float64
}

// denseOf copies some rows.
func denseOf(all continuous.Rows, rows []int) *dense {
	x := &dense{len(rows), all.Dim(), make([]float64, len(rows)*all.Dim())}
	for i, r := range rows {
		all.Row(r, x.row(i))
	}
	return x
}

func (x *dense) row(i int) []float64 { return x.cells[i*x.d : (i+1)*x.d] }

func (x *dense) rows() int { return x.n }

func (x *dense) times(v, out []float64) {
	for i := range x.n {
		out[i] = dot(x.row(i), v)
	}
}

func (x *dense) back(c, out []float64) {
	clear(out)
	for i, by := range c {
		add(out, by, x.row(i))
	}
}

func (x *dense) gram(out []float64) {
	clear(out)
	for i := range x.n {
		row := x.row(i)
		for j, v := range row {
			add(out[j*x.d+j:(j+1)*x.d], v, row[j:])
		}
	}
}

// people are consecutive rows of the census, of which few numbers differ from 0.
type people struct {
	of       *census.Vectors
	from, to int
}

func (p people) rows() int { return p.to - p.from }

func (p people) times(v, out []float64) {
	var at [census.NonZeros]uint8
	var value [census.NonZeros]float64
	for i := range out {
		p.of.Sparse(p.from+i, &at, &value)
		sum := 0.0
		for k, j := range at {
			sum += value[k] * v[j]
		}
		out[i] = sum
	}
}

func (p people) back(c, out []float64) {
	clear(out)
	var at [census.NonZeros]uint8
	var value [census.NonZeros]float64
	for i, by := range c {
		p.of.Sparse(p.from+i, &at, &value)
		for k, j := range at {
			out[j] += by * value[k]
		}
	}
}

func (p people) gram(out []float64) {
	clear(out)
	var at [census.NonZeros]uint8
	var value [census.NonZeros]float64
	for i := range p.rows() {
		p.of.Sparse(p.from+i, &at, &value)
		for k, j := range at {
			for l := k; l < len(at); l++ {
				out[int(j)*census.Width+int(at[l])] += value[k] * value[l]
			}
		}
	}
}
