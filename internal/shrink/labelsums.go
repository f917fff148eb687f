// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"

	"gonum.org/v1/gonum/blas"
)

// LabelSums is the information about a table with a private label and public columns: the exact rows,
// and for each bin of each column a noisy number of positive rows.
type LabelSums struct {
	Rows  []float64  // by group of rows that agree on all columns
	Bins  [][]uint32 // by column, then group: the bin of its rows
	Sizes []int      // by column: number of bins
	// Ordered is, by column, the number of its first bins that are in order, so that neighbours are
	// correlated.
	Ordered []int
	Sums    [][]float64 // by column, then bin: positive rows, as released
	Noise   []float64   // by column: the variance of the noise on each of its sums
	// Vectors are used instead of sums if they are not nil; Released is the released sum of vectors,
	// with noise of Variance on each number.
	Vectors  *LabelVectors
	Released []float64
	Variance float64
}

// LabelFit is the log-odds of the label as a sum of one step per column and an intercept, in nats.
type LabelFit struct {
	Intercept float64
	Steps     [][]float64 // by column, then bin
	Variance  [][]float64 // posterior variance of steps
	Scores    []float64   // by group
	of        *labelFit
}

const (
	labelPasses     = 8
	labelSettled    = 1e-3 // nats; a fit whose steps change less has converged
	firstSpread     = 0.3  // prior standard deviation of the steps of a column, nats
	leastSpread     = 0.01
	largestSpread   = 2.0
	baseVariance    = 1e4 // prior variance of the intercept
	leastPart       = 1.0 / 64
	labelReach      = 0.3 // correlation length of ordered bins, as a share of the number of bins
	surelySatisfied = 1e-6
)

// Fit estimates the steps from the sums, which is post-processing: rows and bins are public, and sums
// are released. In the exact likelihood of a logistic regression the labels occur only in these sums
// (its sufficient statistic), so that information is lost only to noise. Near a fit with probabilities
// p, the sums are normal around their expectation. Their covariance is H = XᵀWX with W = p(1 − p), due
// to the labels, plus that of the noise. A column's steps have a normal prior whose spread is
// estimated from the sums themselves (MacKay 1992). Time: O(groups·columns² + bins³) for each of at
// most 8 passes, on all processors.
func (s *LabelSums) Fit() *LabelFit {
	f := newLabelFit(s)
	f.readSums()
	for range labelPasses {
		if moved := f.improve(); moved < labelSettled {
			break
		}
	}
	return f.result()
}

// labelFit is the state of a fit. Its coefficients are those of all bins, column after column,
// followed by the intercept.
type labelFit struct {
	*LabelSums
	first     []int // by column: index of its first bin
	width     int   // number of all bins
	coef      []float64
	inverse   []dense // by column: inverse of the prior's correlation
	spread    []float64
	start     float64
	last      *labelCurve // result of the last pass
	scores    []float64
	variances []float64
	sums      []float64 // of all bins; with vectors, followed by that of all rows
}

func newLabelFit(s *LabelSums) *labelFit {
	f := &labelFit{LabelSums: s, scores: make([]float64, len(s.Rows))}
	for k, n := range s.Sizes {
		f.first = append(f.first, f.width)
		f.width += n
		f.spread = append(f.spread, firstSpread*firstSpread)
		f.inverse = append(f.inverse, invertCorrelation(n, s.Ordered[k]))
	}
	f.coef, f.variances = make([]float64, f.width+1), make([]float64, f.width)
	return f
}

// readSums reads the releases, and starts with the share of positive rows that they imply.
func (f *labelFit) readSums() {
	total, rows := 0.0, 0.0
	for g, n := range f.Rows {
		rows += n * f.weight(g)
	}
	if f.Vectors != nil {
		f.sums = f.Vectors.sumsOf(f.Released)
		total = f.sums[f.width]
	} else {
		for _, column := range f.Sums {
			f.sums = append(f.sums, column...)
			for _, x := range column {
				total += x / float64(len(f.Sizes))
			}
		}
	}
	share := math.Min(math.Max(total, 0.5), math.Max(rows-0.5, 0.5)) / math.Max(rows, 1)
	f.start = math.Log(share / math.Max(1-share, 1e-9))
	f.coef[f.width] = f.start
}

// weight returns the weight of a row of the group in the sums.
func (f *labelFit) weight(g int) float64 {
	if f.Vectors == nil {
		return 1
	}
	return f.Vectors.weights[g]
}

// invertCorrelation inverts the prior correlation of the steps of a column: the first bins are
// ordered, the others are independent.
func invertCorrelation(n, ordered int) dense {
	m := newDense(n, n)
	correlation := neighbourCorrelation(labelReach * float64(n))
	for i := range n {
		for j := range n {
			if max(i, j) < ordered {
				m.row(i)[j] = correlation(i, j)
			} else if i == j {
				m.row(i)[j] = 1
			}
		}
	}
	return m.invertPositive()
}

// neighbourCorrelation returns the correlation of ordered bins: exp(−distance/reach), minus an
// independent part.
func neighbourCorrelation(reach float64) func(i, j int) float64 {
	return func(i, j int) float64 {
		if i == j {
			return 1
		}
		return (1 - rough) * math.Exp(-math.Abs(float64(i-j))/reach)
	}
}

// rough is the part of the spread that is independent between neighbours.
const rough = 0.1

// labelCurve is the linear approximation in a pass: the dependence of the sums on the coefficients,
// near the current ones.
type labelCurve struct {
	low        dense     // L⁻¹, where L·Lᵀ is the covariance of the sums
	half       dense     // L⁻¹·curve
	rest       []float64 // sums minus their expectation
	covariance dense     // posterior covariance of the coefficients
	right      []float64 // vector that covariance is multiplied by to get the coefficients
}

// improve makes one Gauss-Newton step and updates the priors' spreads. It returns the largest change
// of a coefficient.
func (f *labelFit) improve() (moved float64) {
	c := f.solve()
	step := make([]float64, f.width+1)
	for i := range step {
		step[i] = -f.coef[i]
		for j, x := range c.covariance.row(i) {
			step[i] += x * c.right[j]
		}
	}
	moved = f.move(step, c.low, c.rest)
	f.findSpreads(c.covariance)
	f.last = c
	return moved
}

// solve sets up the normal equations of a step: the residual of the sums is about curve·(coef − new
// coefficients).
func (f *labelFit) solve() *labelCurve {
	curve, about, rest := f.linearize()
	d := f.width
	low := about.invertFactor()
	half := newDense(len(rest), d+1)
	half.addProduct(blas.NoTrans, low, curve)
	precision := half.squares()
	right := make([]float64, d+1)
	for i := range rest {
		sought := 0.0
		for k, l := range low.row(i)[:i+1] {
			sought += l * rest[k]
		}
		h := half.row(i)
		for j, c := range f.coef {
			sought += h[j] * c
		}
		for j, x := range h {
			right[j] += x * sought
		}
	}
	for k, n := range f.Sizes {
		for i := range n {
			for j := range n {
				precision.row(f.first[k] + i)[f.first[k]+j] += f.inverse[k].row(i)[j] / f.spread[k]
			}
		}
	}
	precision.row(d)[d] += 1 / baseVariance
	right[d] += f.start / baseVariance
	return &labelCurve{low: low, half: half, rest: rest, covariance: precision.invertPositive(), right: right}
}

// move takes the step, or half of it repeatedly if the step would increase the misfit. Highly
// correlated columns make it long, and probabilities are not linear. low whitens the residual, and
// rest is the residual before the step.
func (f *labelFit) move(step []float64, low dense, rest []float64) (moved float64) {
	for _, x := range step {
		moved = math.Max(moved, math.Abs(x))
	}
	before, from := f.misfit(low, rest), append([]float64(nil), f.coef...)
	for part := 1.0; part >= leastPart; part /= 2 {
		for i := range f.coef {
			f.coef[i] = from[i] + part*step[i]
		}
		if f.misfit(low, f.leftOver()) <= before {
			return part * moved
		}
	}
	copy(f.coef, from)
	return 0
}

// misfit is twice the negative logarithm of the posterior at the coefficients, where rest is the
// residual of the sums.
func (f *labelFit) misfit(low dense, rest []float64) (sum float64) {
	for i := range rest {
		x := 0.0
		for j, l := range low.row(i)[:i+1] {
			x += l * rest[j]
		}
		sum += x * x
	}
	for k, n := range f.Sizes {
		coef := f.coef[f.first[k]:][:n]
		for i, x := range coef {
			for j, y := range coef {
				sum += x * f.inverse[k].row(i)[j] * y / f.spread[k]
			}
		}
	}
	off := f.coef[f.width] - f.start
	return sum + off*off/baseVariance
}

// leftOver returns the sums minus their expectation at the coefficients.
func (f *labelFit) leftOver() []float64 {
	rest := append([]float64(nil), f.sums...)
	f.scoreGroups()
	for g, rows := range f.Rows {
		expected := rows * sigmoid(f.scores[g]) * f.weight(g)
		for k, first := range f.first {
			rest[first+int(f.Bins[k][g])] -= expected
		}
		if len(rest) > f.width {
			rest[f.width] -= expected
		}
	}
	return rest
}

// linearize returns XᵀWX at the coefficients, with the intercept last and each row weighted as in the
// sums; the covariance of the sums; and their residual.
func (f *labelFit) linearize() (curve, about dense, rest []float64) {
	d := f.width
	curve, rest = newDense(d+1, d+1), f.leftOver()
	// The variance of the number of positive rows of a group, times their weight once and twice.
	once, twice := make([]float64, len(f.Rows)), make([]float64, len(f.Rows))
	for g, rows := range f.Rows {
		p := sigmoid(f.scores[g])
		once[g] = rows * p * (1 - p) * f.weight(g)
		twice[g] = once[g] * f.weight(g)
	}
	f.addSquares(curve, once)
	about = newDense(len(rest), len(rest))
	if f.Vectors != nil {
		f.addSquares(about, twice)
		for i, x := range f.Vectors.square.a {
			about.a[i] += f.Variance * x
		}
		return curve, about, rest
	}
	for i := range d {
		copy(about.row(i), curve.row(i)[:d])
	}
	for k := range f.Sizes {
		for b := range f.Sizes[k] {
			i := f.first[k] + b
			about.row(i)[i] += f.Noise[k] + surelySatisfied
		}
	}
	return curve, about, rest
}

// scoreGroups computes the scores for the coefficients.
func (f *labelFit) scoreGroups() {
	for g := range f.scores {
		z := f.coef[f.width]
		for k := range f.Bins {
			z += f.coef[f.first[k]+int(f.Bins[k][g])]
		}
		f.scores[g] = math.Min(math.Max(z, -30), 30)
	}
}

// findSpreads sets the spread of each column's prior to the estimated spread of its steps, and stores
// their variances.
func (f *labelFit) findSpreads(covariance dense) {
	for k, n := range f.Sizes {
		first := f.first[k]
		size := 0.0
		for i := range n {
			for j := range n {
				size += f.inverse[k].row(i)[j] *
					(f.coef[first+i]*f.coef[first+j] + covariance.row(first + i)[first+j])
			}
			f.variances[first+i] = math.Max(0, covariance.row(first + i)[first+i])
		}
		f.spread[k] = math.Min(math.Max(size/float64(n), leastSpread*leastSpread), largestSpread*largestSpread)
	}
}

func (f *labelFit) result() *LabelFit {
	f.scoreGroups()
	out := &LabelFit{Intercept: f.coef[f.width], Scores: f.scores, of: f}
	for k, n := range f.Sizes {
		out.Steps = append(out.Steps, f.coef[f.first[k]:f.first[k]+n])
		out.Variance = append(out.Variance, f.variances[f.first[k]:f.first[k]+n])
	}
	return out
}
