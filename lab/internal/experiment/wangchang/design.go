// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/vectors"
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
		out[i] = dotProduct(x.row(i), v)
	}
}

func (x *dense) back(c, out []float64) {
	clear(out)
	for i, by := range c {
		addScaled(out, by, x.row(i))
	}
}

func (x *dense) gram(out []float64) {
	clear(out)
	for i := range x.n {
		row := x.row(i)
		for j, v := range row {
			addScaled(out[j*x.d+j:(j+1)*x.d], v, row[j:])
		}
	}
}

// people are rows of the census, of which few numbers differ from 0.
type people struct {
	at    [][vectors.NonZeros]uint8
	value [][vectors.NonZeros]float64
}

// newPeople reads the rows from..to-1.
func newPeople(v *vectors.People, from, to int) *people {
	p := &people{make([][vectors.NonZeros]uint8, to-from), make([][vectors.NonZeros]float64, to-from)}
	for i := range p.at {
		v.Sparse(from+i, &p.at[i], &p.value[i])
	}
	return p
}

func (p *people) rows() int { return len(p.at) }

func (p *people) times(v, out []float64) {
	for i := range out {
		sum := 0.0
		for k, j := range p.at[i] {
			sum += p.value[i][k] * v[j]
		}
		out[i] = sum
	}
}

func (p *people) back(c, out []float64) {
	clear(out)
	for i, by := range c {
		for k, j := range p.at[i] {
			out[j] += by * p.value[i][k]
		}
	}
}

func (p *people) gram(out []float64) {
	clear(out)
	for i, at := range p.at {
		for k, j := range at {
			for l := k; l < len(at); l++ {
				out[int(j)*vectors.Width+int(at[l])] += p.value[i][k] * p.value[i][l]
			}
		}
	}
}
