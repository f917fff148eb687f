// SPDX-License-Identifier: Apache-2.0

package shrink

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// LabelSums is the information about a table with a private label and public columns: the exact rows,
// and for each bin of each column a noisy number of positive rows.
type LabelSums struct {
	Rows  []float64  // by group of rows that agree on all columns
	Bins  [][]uint32 // by column, then group: the bin of its rows
	Sizes []int      // by column: number of bins
	// Ordered is, by column, the number of its first bins that are in order, so that neighbours are correlated.
	Ordered []int
	Sums    [][]float64 // by column, then bin: positive rows, as released
	Noise   []float64   // by column: the variance of the noise on each of its sums
	// Positive is, by group, its positive rows, if the label is public: they are used instead of sums if they are not nil.
	Positive []float64
	// Vectors are used instead of sums if they are not nil; Released is the released sum of vectors,
	// with noise of Variance on each number.
	Vectors  *LabelVectors
	Released []float64
	Variance float64
	// Start is the log-odds of the label if a release of its own says so, with the variance that noise has in them;
	// StartVariance is 0 if none does.
	Start, StartVariance float64
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
	labelPasses   = 8    // how often curves are worked out, at most
	labelSteps    = 2    // how often coefficients move by each
	labelSettled  = 0.05 // nats; coefficients that move less by a curve have been found
	firstSpread   = 0.2  // of the steps of one of spreadColumns columns before anything is known, nats
	spreadColumns = 10.0 // with more columns each says less: the variance falls with the root of their number
	leastSpread   = 0.01
	largestSpread = 2.0
	labelReach    = 0.3 // correlation length of ordered bins, as a share of the number of bins
	startSpread   = 0.3 // of the intercept about log-odds that are known, nats: steps move it

)

// Fit estimates the steps from the sums, which is post-processing: rows and bins are public, sums have left. In the
// exact likelihood of a logistic regression the labels occur in these sums alone (its sufficient statistic), so
// nothing is lost but to noise. Near a fit with probabilities p the sums are normal about those expected, with
// covariance H = XᵀWX, W = p(1 − p), of the labels and that of the noise beside it; a column's steps have a normal
// prior whose spread is found from the sums themselves (MacKay 1992). Time: O(groups·columns² + bins³) for each of at
// most labelPasses curves, and a third of bins³ for each step, on all processors.
func (s *LabelSums) Fit() *LabelFit {
	f := newLabelFit(s)
	f.readSums()
	for range labelPasses {
		f.findCurve()
		moved := 0.0
		for range labelSteps {
			moved = math.Max(moved, f.improve())
		}
		if moved < labelSettled {
			break
		}
	}
	return f.result()
}

// labelFit is the state of a fit. Its coefficients are those of all bins, column after column,
// followed by the intercept.
type labelFit struct {
	*LabelSums
	first   []int // by column: where its bins begin
	width   int   // of all bins
	coef    []float64
	inverse []dense // by column: the inverse of the prior's correlation
	spread  []float64
	start   float64
	// How the sums follow the coefficients near those at which that was worked out.
	about dense // L, L·Lᵀ being the covariance of the sums
	half  dense // L⁻¹·curve, curve being by how much sums grow with the coefficients
	known dense // halfᵀ·half, what the sums say of the coefficients
	low   dense // R⁻¹, R·Rᵀ being known and the prior: lowᵀ·low is the covariance of the coefficients

	// At the coefficients visited:
	visited []float64
	scores  []float64
	rest    []float64 // of the sums
	misfit  float64   // twice the negative log-likelihood of a public label

	variance [][]float64 // of the steps, by column
	weights  []float64   // of a row of each group in the sums
	sums     []float64   // of all bins; with vectors or a public label, followed by that of all rows
}

func newLabelFit(s *LabelSums) *labelFit {
	f := &labelFit{LabelSums: s, scores: make([]float64, len(s.Rows))}
	for k, n := range s.Sizes {
		f.first = append(f.first, f.width)
		f.width += n
		f.spread = append(f.spread, firstSpread*firstSpread*math.Sqrt(spreadColumns/float64(len(s.Sizes))))
		f.inverse = append(f.inverse, invertCorrelation(n, s.Ordered[k]))
	}
	f.coef, f.variance = make([]float64, f.width+1), make([][]float64, len(s.Sizes))
	return f
}

// readSums reads the releases, and starts with the share of positive rows that they imply.
func (f *labelFit) readSums() {
	total, rows := 0.0, 0.0
	if f.weights = slices.Repeat([]float64{1}, len(f.Rows)); f.Vectors != nil {
		f.weights = f.Vectors.weights
	}
	for g, n := range f.Rows {
		rows += n * f.weights[g]
	}
	switch {
	case f.Positive != nil:
		f.sums = make([]float64, f.width+1)
		for g, x := range f.Positive {
			for k, first := range f.first {
				f.sums[first+int(f.Bins[k][g])] += x
			}
			total += x
		}
		f.sums[f.width] = total
	case f.Vectors != nil:
		f.sums = f.Vectors.sumsOf(f.Released)
		total = f.sums[f.width]
	default:
		for _, column := range f.Sums {
			f.sums = append(f.sums, column...)
			for _, x := range column {
				total += x / float64(len(f.Sizes))
			}
		}
	}
	share := math.Min(math.Max(total, 0.5), math.Max(rows-0.5, 0.5)) / math.Max(rows, 1)
	if f.start = math.Log(share / math.Max(1-share, 1e-9)); f.StartVariance > 0 {
		f.start = f.Start
	}
	f.coef[f.width] = f.start
}

// invertCorrelation inverts the prior correlation of the steps of a column: of the first bins, which
// are ordered, exp(−distance/reach), and none of the others.
func invertCorrelation(n, ordered int) dense {
	m, reach := newDense(n, n), labelReach*float64(n)
	for i := range n {
		m.row(i)[i] = 1
		for j := 0; j < ordered && i < ordered; j++ {
			m.row(i)[j] = math.Exp(-math.Abs(float64(i-j)) / reach)
		}
	}
	return m.invertFactor().squares()
}

// findCurve works out the curve at the coefficients.
func (f *labelFit) findCurve() {
	curve, about := f.linearize()
	if f.Positive != nil { // what the sums are off is exact
		f.known = curve
		return
	}
	f.about, f.half = about.factor(), curve
	f.about.solve(f.half, false)
	f.known = f.half.squares()
}

// improve makes one step of Gauss and Newton by the curve and finds the priors' spreads again. It
// returns by how much the coefficients moved at most.
func (f *labelFit) improve() (moved float64) {
	precision := dense{f.width + 1, slices.Clone(f.known.a)}
	f.eachPrior(func(i, j int, p float64) { precision.row(i)[j] += p })
	f.low = precision.invertFactor()
	slope, misfit := f.slopeAndMisfit()
	f.eachPrior(func(i, j int, p float64) { slope[i] -= p * f.offset(j) })
	moved = f.move(f.low.timesTransposed(f.low.times(slope)), misfit)
	f.findSpreads()
	return moved
}

// eachPrior calls do with each number of the inverse of the prior's covariance that may not be 0.
func (f *labelFit) eachPrior(do func(i, j int, p float64)) {
	for k, n := range f.Sizes {
		first := f.first[k]
		for i := range n {
			for j, x := range f.inverse[k].row(i) {
				do(first+i, first+j, x/f.spread[k])
			}
		}
	}
	loose := 1e-4 // the intercept may be anywhere
	if f.StartVariance > 0 {
		loose = 1 / (f.StartVariance + startSpread*startSpread)
	}
	do(f.width, f.width, loose)
}

// offset is how far a coefficient is from the prior's mean.
func (f *labelFit) offset(i int) float64 {
	if i == f.width {
		return f.coef[i] - f.start
	}
	return f.coef[i]
}

// move takes the step, or the half of it, or of that, where it would lead past the valley: columns that say nearly
// the same make it long, and probabilities bend. before is the misfit.
func (f *labelFit) move(step []float64, before float64) (moved float64) {
	for _, x := range step {
		moved = math.Max(moved, math.Abs(x))
	}
	from := slices.Clone(f.coef)
	for part := 1.0; part > 0.01; part /= 2 {
		for i := range f.coef {
			f.coef[i] = from[i] + part*step[i]
		}
		if _, misfit := f.slopeAndMisfit(); misfit <= before {
			return part * moved
		}
	}
	copy(f.coef, from)
	return 0
}

// slopeAndMisfit is, at the coefficients, twice the negative logarithm of the posterior, and by how much half of that
// falls with each of them, the prior's part left out.
func (f *labelFit) slopeAndMisfit() (slope []float64, misfit float64) {
	rest := f.leftOver()
	if slope = rest; f.Positive == nil {
		rest = f.about.solveOne(rest)
		slope, misfit = f.half.timesTransposed(rest), floats.Dot(rest, rest)
	}
	if f.Positive != nil {
		misfit = f.misfit
	}
	f.eachPrior(func(i, j int, p float64) { misfit += f.offset(i) * p * f.offset(j) })
	return slope, misfit
}

// leftOver returns the sums minus their expectation at the coefficients.
func (f *labelFit) leftOver() []float64 {
	f.visitGroups()
	return slices.Clone(f.rest)
}

// visitGroups computes what groups say at the coefficients: scores, what is left over, and the misfit of a public
// label. There may be a group for each row, so it does so once for the same coefficients.
func (f *labelFit) visitGroups() {
	if slices.Equal(f.visited, f.coef) {
		return
	}
	f.visited, f.rest, f.misfit = slices.Clone(f.coef), slices.Clone(f.sums), 0
	f.scoreGroups()
	for g, rows := range f.Rows {
		z := f.scores[g]
		odds := math.Exp(-z)
		expected := rows * (1 / (1 + odds)) * f.weights[g]
		for k, first := range f.first {
			f.rest[first+int(f.Bins[k][g])] -= expected
		}
		if len(f.rest) > f.width {
			f.rest[f.width] -= expected
		}
		if f.Positive != nil {
			if z < 0 {
				odds = math.Exp(z)
			}
			f.misfit += 2 * (rows*(max(z, 0)+math.Log1p(odds)) - f.Positive[g]*z)
		}
	}
}

// linearize returns XᵀWX at the coefficients, the intercept last, each row by its weight in the
// sums; and the covariance of the sums.
func (f *labelFit) linearize() (curve, about dense) {
	d := f.width
	curve = newDense(d+1, d+1)
	f.visitGroups()
	// The variance of the number of positive rows of a group, times their weight once and twice.
	once, twice := make([]float64, len(f.Rows)), make([]float64, len(f.Rows))
	for g, rows := range f.Rows {
		p := sigmoid(f.scores[g])
		once[g] = rows * p * (1 - p) * f.weights[g]
		twice[g] = once[g] * f.weights[g]
	}
	if f.addSquares(curve, once); f.Positive != nil {
		return curve, about
	}
	about = newDense(len(f.sums), len(f.sums))
	if f.Vectors != nil {
		f.addSquares(about, twice)
		for i, x := range f.Vectors.square.a {
			about.a[i] += f.Variance * x
		}
		return curve, about
	}
	for k, first := range f.first {
		for i := first; i < first+f.Sizes[k]; i++ {
			copy(about.row(i), curve.row(i)[:d])
			about.row(i)[i] += f.Noise[k] + 1e-6 // without noise the factor would not exist
		}
	}
	curve.a = curve.a[:d*curve.n] // the intercept has no sum of its own
	return curve, about
}

// scoreGroups computes the scores for the coefficients.
func (f *labelFit) scoreGroups() {
	for g := range f.scores {
		z := f.coef[f.width]
		for k := range f.Bins {
			z += f.coef[f.first[k]+int(f.Bins[k][g])]
		}
		f.scores[g] = min(max(z, -30), 30)
	}
}

// findSpreads sets the spread of each column's prior to what its steps have, as far as they are
// known, and keeps their variances.
func (f *labelFit) findSpreads() {
	for k, n := range f.Sizes {
		first, covariance := f.first[k], newDense(n, n)
		for l := first; l <= f.width; l++ { // low is lower triangular
			row := f.low.row(l)[first : first+n]
			for i, x := range row {
				floats.AddScaled(covariance.row(i), x, row)
			}
		}
		size := 0.0
		f.variance[k] = nil
		for i := range n {
			for j, x := range f.inverse[k].row(i) {
				size += x * (f.coef[first+i]*f.coef[first+j] + covariance.row(i)[j])
			}
			f.variance[k] = append(f.variance[k], covariance.row(i)[i])
		}
		next := size / float64(n)
		next *= next / f.spread[k] // twice as far: by itself this comes near its end slowly
		f.spread[k] = math.Min(math.Max(next, leastSpread*leastSpread), largestSpread*largestSpread)
	}
}

func (f *labelFit) result() *LabelFit {
	f.visitGroups()
	out := &LabelFit{Intercept: f.coef[f.width], Variance: f.variance, Scores: f.scores, of: f}
	for k, n := range f.Sizes {
		out.Steps = append(out.Steps, f.coef[f.first[k]:f.first[k]+n])
	}
	return out
}

// shareGroups is how many groups of rows, or a few more, are enough to say how variances are shared out.
const shareGroups = 128

// Moved is what to state of each step, by column, then bin, so that over the bins of a row it adds
// up to about the variance that noise alone has in its score: of each column the same, and by how much
// that of rows in a bin differs from that of all.
func (l *LabelFit) Moved() (out [][]float64) {
	f := l.of
	rows, sum := make([][]float64, len(f.Sizes)), make([][]float64, len(f.Sizes))
	for k, n := range f.Sizes {
		rows[k], sum[k] = make([]float64, n), make([]float64, n)
	}
	seen, all := 1e-300, 0.0
	for g := 0; g < len(f.Rows); g += 1 + len(f.Rows)/shareGroups {
		n, moved := f.Rows[g], f.movedScore(g)
		seen, all = seen+n, all+n*moved
		for k, bins := range f.Bins {
			rows[k][bins[g]] += n
			sum[k][bins[g]] += n * moved
		}
	}
	mean := all / seen
	each := mean / float64(len(f.Sizes))
	for k, n := range f.Sizes {
		moved := make([]float64, n)
		for b := range moved {
			if moved[b] = each; rows[k][b] > 0 { // that bins go together may hide much of one's part
				moved[b] = math.Max(each/4, each+sum[k][b]/rows[k][b]-mean)
			}
		}
		out = append(out, moved)
	}
	return out
}

// movedScore is the variance that noise alone has in the score of a group's rows: that of xᵀ·K·noise,
// K being how far coefficients move with the sums while the spreads stay, covariance·curveᵀ·(L·Lᵀ)⁻¹.
func (f *labelFit) movedScore(g int) (variance float64) {
	x := make([]float64, f.width+1)
	x[f.width] = 1
	for k, first := range f.first {
		x[first+int(f.Bins[k][g])] = 1
	}
	pull := f.about.solveTransposed(f.half.times(f.low.timesTransposed(f.low.times(x))))
	if f.Vectors != nil {
		return f.Variance * floats.Dot(pull, f.Vectors.square.times(pull))
	}
	for k, first := range f.first {
		for _, p := range pull[first : first+f.Sizes[k]] {
			variance += f.Noise[k] * p * p
		}
	}
	return variance
}
