// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// fits are local classifiers: K vectors of d parameters a row, or one where
// there are two classes.
type fits struct {
	matrix
	classes, d int
}

// fitOwners splits the rows, in the given order, evenly among owners and fits
// each owner's classifier, one class against the rest, or the second of two
// against the first. Weights are by row of train.
func fitOwners(train labelled, order []int, owners int, weight []float64) fits {
	n, d := len(order)/owners, train.Dim()
	first, vectors := 0, train.classes
	if vectors == 2 {
		first, vectors = 1, 1
	}
	out := fits{matrix{vectors * d, make([]float32, owners*vectors*d)}, vectors, d}
	eachInParallel(owners, func(l int) {
		own := order[l*n : (l+1)*n]
		x := denseOf(train.Rows, own)
		y, w := make([]uint8, n), make([]float64, n)
		for i, r := range own {
			y[i], w[i] = train.y[r], weight[r]
		}
		f := newFitter(x, w, d)
		for k := range vectors {
			theta, _ := f.fitSigns(classSigns(y, uint8(first+k)))
			for j, t := range theta {
				out.cells[l*out.width+k*d+j] = float32(t)
			}
		}
	})
	return out
}

// firstFits are the fits of the first owners.
func (f fits) firstFits(owners int) fits {
	f.cells = f.cells[:owners*f.width]
	return f
}

// meanOfOwners of all owners' parameters, each perturbed at ε, and what it costs in
// units of ε. Each class's vector is a report of its own, as the paper's
// numbers require, or the whole row is one. A nil mechanism perturbs nothing.
func (f fits) meanOfOwners(make func(d int) continuous.Mechanism, whole bool, src rng.Source) []float64 {
	reports, d := f.classes, f.d
	if whole {
		reports, d = 1, f.width
	}
	var out []float64
	for k := range reports {
		part := columns{f.matrix, k * d, d}
		if make == nil {
			out = append(out, plainSum(clamped{part})...)
		} else {
			out = append(out, make(d).Sum(part, 0, part.Len(), src)...)
		}
	}
	for j := range out {
		out[j] /= float64(f.Len())
	}
	return out
}

// meanSquare is the mean of all owners' squared parameters.
func (f fits) meanSquare() float64 {
	sum := 0.0
	for _, t := range f.cells {
		c := min(max(float64(t), -1), 1)
		sum += c * c
	}
	return sum / float64(len(f.cells))
}

// closedForm is the mean squared error that a mechanism's variance makes of the
// mean of n reports whose coordinates have the given mean square. All variances
// are linear in the square of the truth.
func closedForm(m continuous.Mechanism, meanSquare float64, n int) float64 {
	return (m.Variance(0) + (m.Variance(1)-m.Variance(0))*meanSquare) / float64(n)
}

// classifyRows answers with the class of the largest product, for a single vector
// with class 1 if the product is positive.
func classifyRows(rows continuous.Rows, parameters []float64) []uint8 {
	d := rows.Dim()
	row := make([]float64, d)
	out := make([]uint8, rows.Len())
	for i := range out {
		rows.Row(i, row)
		if len(parameters) == d {
			if dotProduct(row, parameters) > 0 {
				out[i] = 1
			}
			continue
		}
		best := dotProduct(row, parameters[:d])
		for k := 1; k < len(parameters)/d; k++ {
			if s := dotProduct(row, parameters[k*d:(k+1)*d]); s > best {
				best, out[i] = s, uint8(k)
			}
		}
	}
	return out
}

// columns are some of others' dimensions.
type columns struct {
	of          matrix
	from, width int
}

func (c columns) Len() int { return c.of.Len() }
func (c columns) Dim() int { return c.width }
func (c columns) Row(i int, out []float64) {
	for j, v := range c.of.cells[i*c.of.width+c.from:][:c.width] {
		out[j] = float64(v)
	}
}

// clamped are rows in [-1, 1], the declared range of parameters.
type clamped struct{ continuous.Rows }

func (c clamped) Row(i int, out []float64) {
	c.Rows.Row(i, out)
	for j, v := range out {
		out[j] = min(max(v, -1), 1)
	}
}

func squaredError(got, want []float64) float64 {
	sum := 0.0
	for j, v := range got {
		sum += (v - want[j]) * (v - want[j])
	}
	return sum / float64(len(got))
}
