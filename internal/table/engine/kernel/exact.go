// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Sums of losses must not depend on the order of the rows, on how they are laid out or on where
// they lie. So whatever is added over rows is a whole number of some unit, and the numbers of one
// row are computed from that row and the question alone: cells add to a score multiples of one
// unit, so few that their sum is exact in any order; slopes and second derivatives are rounded
// before they are added.

// rounder rounds a number to the nearest multiple of its unit if it is added to the number and
// subtracted again. The unit is that of rounder's own last bit, for numbers that are small enough.
type rounder float64

// rounderTo rounds numbers of less than 2^51 units of 2^exp.
func rounderTo(exp int) rounder { return rounder(math.Ldexp(3, 51+exp)) }

func (r rounder) round(x float64) float64 { return x + float64(r) - float64(r) }

// units returns x in units, rounded.
func (r rounder) units(x float64) int64 {
	return int64(math.Float64bits(x+float64(r)) - math.Float64bits(float64(r)))
}

// roundFeature returns the rounded value of a feature, with an error of at most 2^-41.
func roundFeature(x float64) float64 { return rounderTo(engine.FeatureExp).round(x) }

const featureUnits = 1 << -engine.FeatureExp

// featureInUnits returns a rounded feature in units.
func featureInUnits(x float64) int64 { return int64(x * featureUnits) }

// hashFeature returns the contribution of a non-zero feature to the sum that selects rows for samples.
func hashFeature(index int, value float64) uint64 {
	return mixBits(math.Float64bits(value) + uint64(index+1)*0x9e3779b97f4a7c15)
}

// mixBits is the finalizer of SplitMix64.
func mixBits(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// countHalvings returns how often samples may be halved and still contain a row whose features hash to
// this sum.
func countHalvings(hash uint64) int {
	return min(bits.LeadingZeros64(mixBits(hash)), engine.MaxHalvings)
}

// terms holds what is common to the rows of one question.
type terms struct {
	engine.LossUnits
	loss         engine.Loss
	coef         []float64 // times Scale
	score        rounder   // by cell, its contribution
	slope, curve rounder
}

func newTerms(u engine.LossUnits, l engine.Loss, coef []float64, reach float64) *terms {
	t := &terms{LossUnits: u, loss: l, coef: make([]float64, len(coef)), slope: rounderTo(u.Slope),
		curve: rounderTo(u.Curve)}
	for f, c := range coef {
		t.coef[f] = c * u.Scale
	}
	// Sums of scores are at most twice the reach: 2^53 units.
	_, exp := math.Frexp(reach * u.Scale)
	t.score = rounderTo(exp - 51)
	t.coef[len(coef)-1] = t.score.round(t.coef[len(coef)-1])
	return t
}

// fillSlopes fills slope and, with curves, curve of n rows from their scores, their weights and their
// factors, if they have any, and then their slopes in units.
func (t *terms) fillSlopes(n int, pos, neg, factor []float64, s *marginScratch, curves bool) {
	pos, neg = pos[:n], neg[:n]
	score, slope, curve := s.score[:n], s.slope[:n], s.curve[:n]
	if t.loss.Huber > 0 {
		for i, z := range score {
			_, d, c := t.loss.At(z)
			_, e, g := t.loss.At(-z)
			slope[i] = pos[i]*d - neg[i]*e
			curve[i] = pos[i]*c + neg[i]*g
		}
	} else {
		writeSigmoids(s.prob[:n], score)
		for i, p := range s.prob[:n] {
			slope[i] = (pos[i]+neg[i])*p - pos[i]
		}
		if curves {
			for i, p := range s.prob[:n] {
				curve[i] = (pos[i] + neg[i]) * p * (1 - p)
			}
		}
	}
	for i, t := range factor {
		slope[i] *= t
		if curves {
			curve[i] *= t * t
		}
	}
	t.fixSlopes(n, s, curves)
}

// fixSlopes rounds slopes and curves.
func (t *terms) fixSlopes(n int, s *marginScratch, curves bool) {
	fixed, r := s.fixed[:n], t.slope
	for i, x := range s.slope[:n] {
		fixed[i] = r.units(x)
	}
	if curves {
		for i, x := range s.curve[:n] {
			s.curve[i] = t.curve.round(x)
		}
	}
}

// exactStrip is one goroutine's sums. Its short numbers have space for stripWeight rows.
type exactStrip struct {
	sums *engine.ExactSums
	rows int       // since the last flush
	grad []int64   // slopes by feature, for features that are 0 or 1, and for the intercept
	hess []float64 // upper triangle of a square, nil if not requested
}

// stripWeight is the number of rows whose slopes in units fit into 63 bits, and whose curves fit into
// 53.
const stripWeight = 1 << 15

func newExactStrip(dim int, hess bool) *exactStrip {
	e := &exactStrip{sums: NewExactSums(dim, hess), grad: make([]int64, dim)}
	if hess {
		e.hess = make([]float64, dim*dim)
	}
	return e
}

// NewExactSums returns sums over no rows.
func NewExactSums(dim int, hess bool) *engine.ExactSums {
	s := &engine.ExactSums{Grad: make([]engine.Wide, dim)}
	if hess {
		s.Hess = make([]engine.Wide, dim*(dim+1)/2)
	}
	return s
}

// flush adds the short numbers to the long ones.
func (e *exactStrip) flush(t *terms) {
	e.sums.Rows += uint64(e.rows)
	e.rows = 0
	for f, x := range e.grad {
		e.sums.Grad[f].AddProduct(x, featureUnits)
	}
	clear(e.grad)
	if e.hess == nil {
		return
	}
	dim, at, unit := len(e.grad), 0, math.Ldexp(1, -t.Curve)
	for i := range dim {
		for j := i; j < dim; j++ {
			e.sums.Hess[at].Add(engine.WideOf(int64(e.hess[i*dim+j] * unit)))
			at++
		}
	}
	clear(e.hess)
}

// addProducts adds Σ slope·value to the sum at feature f. sum is the sum of the slopes.
func (e *exactStrip) addProducts(f int, slope []int64, sum int64, value []float64) {
	var high, low, carry uint64
	value = value[:len(slope)]
	for i, x := range slope {
		// A value counts from -1 on, so that only slopes have a sign: what that adds is taken off below.
		v := uint64(int64(value[i]*featureUnits) + featureUnits)
		h, l := bits.Mul64(uint64(x), v)
		low, carry = bits.Add64(low, l, 0)
		high, _ = bits.Add64(high, h-uint64(x>>63)&v, carry)
	}
	e.sums.Grad[f].Add(engine.Wide{High: int64(high), Low: low})
	e.sums.Grad[f].AddProduct(sum, -featureUnits)
}

func sumUnits(a []int64) (sum int64) {
	for _, x := range a {
		sum += x
	}
	return sum
}

// mostLoss bounds a row's contribution to ExactSums.Whole.
const mostLoss = 1 << 46

// ExactRows computes the answer to a question over coded rows.
type ExactRows struct {
	of   *exactRows // nil if the coefficients are not engine.Bounded
	s    *marginScratch
	into *exactStrip
}

// NewExactRows answers q about rows of cols, parallel to the schema's, whose codes may change between
// calls of Add. The rows' weights are at most most. q must have one coefficient per feature of its
// space, and one more.
func NewExactRows(cols []column.Column, weigh Weigh, most float64, q *engine.LossQuestion) *ExactRows {
	r := &ExactRows{into: newExactStrip(len(q.Coef), q.Hess)}
	if engine.Bounded(q.Space, q.Coef) {
		r.of = newExactRows(cols, weigh, most, q)
		r.s = newExactScratch(len(r.of.tables))
	}
	return r
}

// Add adds the first rows rows.
func (r *ExactRows) Add(rows int) {
	if r.of == nil {
		return
	}
	for at := 0; at < rows; at += lossBlock {
		if r.into.rows > stripWeight-lossBlock {
			r.into.flush(r.of.terms)
		}
		r.of.addBlock(at, min(lossBlock, rows-at), r.s, r.into)
	}
}

// Sums returns the answer for all rows so far.
func (r *ExactRows) Sums() *engine.ExactSums {
	if r.of != nil {
		r.into.flush(r.of.terms)
	}
	return r.into.sums
}

// exactRows is a question about coded rows.
type exactRows struct {
	*lossModel
	terms *terms
	rows  engine.Rows
	weigh Weigh
	value bool
	hess  bool
	pick  int        // number of halvings of the sample
	hash  [][]uint64 // by column of the space and code, for a sample
}

func newExactRows(cols []column.Column, weigh Weigh, most float64, q *engine.LossQuestion) *exactRows {
	t := newTerms(engine.UnitsOf(q.Space, q.Loss, q.Rows, most), q.Loss, q.Coef, reachOf(q.Space, q.Coef))
	e := &exactRows{lossModel: newExactModel(q.Space, cols, t), terms: t, rows: q.Rows, weigh: weigh, value: q.Value,
		hess: q.Hess, pick: q.Halvings}
	if e.pick == 0 {
		return e
	}
	for k := range e.tables {
		e.hash = append(e.hash, e.tables[k].hashCodes())
	}
	return e
}

// hashCodes returns hashFeature by code.
func (t *lossTable) hashCodes() []uint64 {
	out := make([]uint64, len(t.index))
	for code := range out {
		out[code] = hashFeature(int(t.index[code]), t.value[code])
	}
	return out
}

// newExactModel tabulates rounded features and their contributions to scores.
func newExactModel(sp *feature.Space, cols []column.Column, t *terms) *lossModel {
	m := newLossModel(sp, cols, t.coef)
	for k := range m.tables {
		table := &m.tables[k]
		for code, v := range table.value {
			v = roundFeature(v)
			table.value[code] = v
			table.score[code] = t.score.round(t.coef[table.index[code]] * v)
		}
	}
	return m
}

func newExactScratch(columns int) *marginScratch {
	s := newMarginScratch()
	s.lossScratch = newLossScratch(columns)
	for range columns {
		s.cells = append(s.cells, make([]uint32, lossBlock))
	}
	return s
}

// addBlock adds those of the n rows from at on that are in the sample.
func (e *exactRows) addBlock(at, n int, s *marginScratch, into *exactStrip) {
	for k := range e.tables {
		e.tables[k].codes.Read(at, s.cells[k][:n])
	}
	e.weigh(at, s.pos[:n], s.neg[:n])
	if e.pick > 0 {
		n = e.pickRows(n, s)
	}
	for i := range n {
		s.score[i] = e.bias
	}
	for k := range e.tables {
		t := &e.tables[k]
		index, value, score := s.index[k][:n], s.value[k][:n], s.score[:n]
		for i, code := range s.cells[k][:n] {
			index[i], value[i] = t.index[code], t.value[code]
			score[i] += t.score[code]
		}
	}
	var factor []float64
	if e.terms.Short {
		factor = s.factor[:n]
		fillFactors(e.rows, factor, s.value)
		for i, t := range factor {
			s.score[i] *= t
		}
	}
	e.terms.fillSlopes(n, s.pos, s.neg, factor, s, e.hess)
	into.rows += n
	if e.value {
		e.terms.addValues(n, s, into.sums)
	}
	fixed := s.fixed[:n]
	sum := sumUnits(fixed)
	for k := range e.tables {
		if first := int(e.tables[k].index[0]); e.tables[k].one {
			into.addProducts(first, fixed, sum, s.value[k])
			continue
		}
		for i, f := range s.index[k][:n] {
			into.grad[f] += fixed[i]
		}
	}
	into.grad[e.dim-1] += sum
	if e.hess && n > 0 {
		e.addCurves(n, s.lossScratch, into.hess, e.terms.curve)
	}
}

// pickRows moves the rows of a block that are in the sample to its front and counts them.
func (e *exactRows) pickRows(n int, s *marginScratch) (picked int) {
	hash := s.hash[:n]
	clear(hash)
	for k, table := range e.hash {
		for i, code := range s.cells[k][:n] {
			hash[i] += table[code]
		}
	}
	for i, h := range hash {
		if countHalvings(h) < e.pick {
			continue
		}
		for k := range s.cells {
			s.cells[k][picked] = s.cells[k][i]
		}
		s.pos[picked], s.neg[picked] = s.pos[i], s.neg[i]
		picked++
	}
	return picked
}

// addValues adds the losses of rows whose scores are in s.
func (t *terms) addValues(n int, s *marginScratch, into *engine.ExactSums) {
	part := rounderTo(engine.PartExp)
	var wholes, parts int64
	for i, z := range s.score[:n] {
		v := 0.0
		if s.pos[i] != 0 {
			l, _, _ := t.loss.At(z)
			v = s.pos[i] * l
		}
		if s.neg[i] != 0 {
			l, _, _ := t.loss.At(-z)
			v += s.neg[i] * l
		}
		whole := math.Floor(min(v, mostLoss))
		wholes += int64(whole)
		parts += part.units(min(v-whole, 1))
	}
	into.Whole.Add(engine.WideOf(wholes))
	into.Part.Add(engine.WideOf(parts))
}

// fillFactors fills t with the scaling factor of each row of a block, computed from its features.
func fillFactors(r engine.Rows, t []float64, value [][]float64) {
	for i := range t {
		square := 1.0
		for k := range value {
			square += value[k][i] * value[k][i]
		}
		t[i] = min(r.Scale, r.Norm/math.Sqrt(square))
	}
}

// passedCuts returns the number of cuts that a score passes.
type passedCuts struct{ first, inverse, most float64 }

func newPassedCuts(c engine.Cuts) passedCuts {
	return passedCuts{c.First, 1 / c.Step, float64(c.Count)}
}

func (p passedCuts) count(z float64) int {
	switch x := (z-p.first)*p.inverse + 1; {
	case x >= p.most:
		return int(p.most)
	case x >= 1:
		return int(x)
	}
	return 0
}
