// SPDX-License-Identifier: Apache-2.0

package evaluation

// pairs is a quadratic form of counts, Σ S[i][j]·n[i]·n[j]/2: a sum over all pairs of a positive row
// and a row of another class.
type pairs struct {
	s [][]float64 // symmetric; 0 for cells of one class
}

// newPairs makes the form from the value of a pair, given the cells of its positive row and its other
// row.
func newPairs(cells int, positive func(cell int) bool, value func(i, j int) float64) *pairs {
	p := &pairs{make([][]float64, cells)}
	for i := range p.s {
		p.s[i] = make([]float64, cells)
	}
	for i := range cells {
		for j := range cells {
			if positive(i) && !positive(j) {
				v := value(i, j)
				p.s[i][j], p.s[j][i] = v, v
			}
		}
	}
	return p
}

// gradient returns S·n.
func (p *pairs) gradient(n []float64) []float64 {
	out := make([]float64, len(n))
	for i, row := range p.s {
		out[i] = dot(row, n)
	}
	return out
}

// crossed returns S with each row projected: S·M, where M is the projection of c.
func (p *pairs) crossed(c *counts) [][]float64 {
	out := make([][]float64, len(p.s))
	for i, row := range p.s {
		out[i] = c.project(row)
	}
	return out
}

// trace returns the trace of A·B.
func trace(a, b [][]float64) (sum float64) {
	for i, row := range a {
		for j, x := range row {
			sum += x * b[j][i]
		}
	}
	return sum
}

// pairErrors holds the errors that noise causes in two forms of pairs, for the form a - θ·b.
type pairErrors struct {
	bias   [2]float64   // of a and of b
	square quadratic    // of noise alone, tr(SMSM)
	rows   [3][]float64 // by cell, the diagonal of SMS
}

func newPairErrors(c *counts, a, b *pairs) pairErrors {
	am, bm := a.crossed(c), b.crossed(c)
	e := pairErrors{square: quadratic{trace(am, am), -2 * trace(am, bm), trace(bm, bm)}}
	for i := range am {
		e.bias[0] += am[i][i] / 2
		e.bias[1] += bm[i][i] / 2
		e.rows[0] = append(e.rows[0], dot(am[i], a.s[i]))
		e.rows[1] = append(e.rows[1], -2*dot(am[i], b.s[i]))
		e.rows[2] = append(e.rows[2], dot(bm[i], b.s[i]))
	}
	return e
}

// pairRatio asks for the form a over the form b. Noise on both rows of a pair adds the amounts in e to
// the form and to its variance. They are subtracted again, so that on average over the noise the
// variance is right for any number of rows.
func (c *counts) pairRatio(a, b *pairs, e pairErrors, low, high float64) question {
	ga, gb := a.gradient(c.n), b.gradient(c.n)
	v := c.variance
	q := question{first: dot(ga, c.n)/2 - v*e.bias[0], second: dot(gb, c.n)/2 - v*e.bias[1],
		noise: spread(c.noise, ga, gb), sampling: spread(c.sampling, ga, gb), low: low, high: high}
	for k := range q.noise {
		q.noise[k] -= v * v * e.square[k] / 2
		q.sampling[k] -= v * dot(e.rows[k], c.n)
	}
	return q
}

// order is the contribution of a pair, with the positive row in cell i and the other row in cell j, to
// the number of pairs that the score orders correctly. For two rows in one cell it is one half,
// corrected by how the densities of both classes rise in the cell: with linear densities 1 + s·u and 1
// + t·u, u from -1/2 to 1/2, it is 1/2 + (s - t)/12. The slopes are measured between the neighbouring
// cells, so that the number of pairs stays a sum over pairs of cells.
func (g *grid) order(i, j int) float64 {
	switch {
	case i == j:
		return 0.5
	case i > j+1:
		return 1
	case j > i+1:
		return 0
	case i > j:
		return 1 + g.slope(j, i) + g.slope(i, j)
	}
	return -g.slope(j, i) - g.slope(i, j)
}

// slope is the contribution of the rows of a neighbour of cell k to k's slope, divided by twelve.
func (g *grid) slope(k, neighbour int) float64 {
	if !g.smooth(k) {
		return 0
	}
	w := g.width(k)
	return w * w / g.width(neighbour) / (w + (g.width(k-1)+g.width(k+1))/2) / 12
}
