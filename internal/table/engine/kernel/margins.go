// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// MarginRows implements engine.Margins: MarginSums laid out for evaluation at many coefficients, of
// one Loss after another. Columns of few codes are joined: a row has one code for several of them,
// so that its score takes one look into a table, and its slope is added once and shared out among
// features at the end. Where all columns join, equal rows become one.
//
// Rows are kept in an order in which every run from the first on is a sample
// spread over the table.
//
// It does not change once made and may be used by several goroutines.
type MarginRows struct {
	dim      int
	one      []bool // per column of the space: it has one feature
	joints   []joint
	plain    []plainColumn
	pos, neg []float64
	scale    float64    // of all rows
	factor   []float64  // of each row, beyond scale; nil: 1
	spare    *sync.Pool // of *marginScratch
}

// joint is several columns with one code.
type joint struct {
	code  []uint16 // per row
	size  int
	parts []jointPart
}

// jointPart is one column of a joint: of code c, its own is c/every%codes.
type jointPart struct {
	k            int     // column of the space
	every, codes int     // every is the product of the codes of the parts before
	index        []int32 // per code of the joint: the feature that is non-zero
	value        []float64
}

// plainColumn is a column of too many codes to be joined: of one feature, with
// a value for each row, or of several with value 1 (index is then set).
type plainColumn struct {
	k       int
	feature int
	index   []int32
	value   []float64
}

const (
	jointCodes    = 1 << 11 // a table of scores and one of slopes stay in the nearest cache
	collapseShare = 4       // the same where all columns join, which makes one of equal rows
	jointShare    = 16      // rows per code of a joint, or more: tables must not cost more than rows
)

// NewMargins lays out rows; its arguments are those of MarginSums. Time
// O(rows × columns), memory at most 8 bytes per row and column.
func NewMargins(sp *feature.Space, cols []column.Column, rows int, weigh Weigh, r engine.Rows) *MarginRows {
	return Lay(sp, cols, rows, r).Weigh(weigh)
}

// Layout is rows laid out whose labels are still open: Margins of several
// labels share one. It does not change.
type Layout struct {
	order []int32    // of the rows
	m     MarginRows // pos and neg are nil
}

// Lay is the part of NewMargins that knows no label.
func Lay(sp *feature.Space, cols []column.Column, rows int, r engine.Rows) *Layout {
	l := &Layout{order: spreadOrder(rows)}
	m := &l.m
	m.dim, m.scale, m.spare = sp.Width()+1, r.Scale, new(sync.Pool)
	if shortensRows(r, sp) {
		m.setFactors(sp, cols, rows, r)
		m.factor = inOrder(m.factor, l.order)
	}
	reader := columnReader{l.order, make([]uint32, rows)}
	sizes := make([]int, len(sp.Columns))
	ks := make([]int, len(sp.Columns))
	for k, j := range sp.Columns {
		_, width := sp.Block(k)
		m.one = append(m.one, width == 1)
		sizes[k], ks[k] = sp.Codes(k, &cols[j]), k
	}
	slices.SortStableFunc(ks, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	most := min(jointCodes, rows/jointShare)
	if whole := cappedProduct(sizes, jointCodes); whole <= rows/collapseShare {
		most = max(most, whole)
	}
	var members [][]int
	var products []int
	for _, k := range ks { // first fit, the largest first
		if sizes[k] > most {
			m.plain = append(m.plain, newPlainColumn(sp, k, cols, reader))
			continue
		}
		at := slices.IndexFunc(products, func(p int) bool { return p*sizes[k] <= most })
		if at < 0 {
			at = len(products)
			members, products = append(members, nil), append(products, 1)
		}
		members[at], products[at] = append(members[at], k), products[at]*sizes[k]
	}
	for i, ks := range members {
		m.joints = append(m.joints, newJoint(sp, ks, sizes, products[i], cols, reader))
	}
	return l
}

// Weigh gives the rows labels and weights. Time and memory O(rows).
func (l *Layout) Weigh(weigh Weigh) *MarginRows {
	m := &MarginRows{
		dim: l.m.dim, one: l.m.one, joints: slices.Clone(l.m.joints), plain: l.m.plain, scale: l.m.scale, factor: l.m.factor,
		spare: l.m.spare,
	}
	pos, neg := make([]float64, len(l.order)), make([]float64, len(l.order))
	weigh(0, pos, neg)
	m.pos, m.neg = inOrder(pos, l.order), inOrder(neg, l.order)
	if len(m.joints) == 1 && len(m.plain) == 0 {
		m.collapseRows()
	}
	return m
}

// setFactors sets factor, from what MarginSums does to the same rows.
func (m *MarginRows) setFactors(sp *feature.Space, cols []column.Column, rows int, r engine.Rows) {
	sh := &shape{rows: r, bites: true}
	tables, s := newLossModel(sp, cols, make([]float64, m.dim)), newLossScratch(len(sp.Columns))
	m.scale, m.factor = 1, make([]float64, rows)
	for at := 0; at < rows; at += lossBlock {
		n := min(lossBlock, rows-at)
		tables.scoreBlock(at, n, s)
		sh.fillFactors(n, s)
		copy(m.factor[at:], s.factor[:n])
	}
}

// spreadOrder is an order of rows 0..n-1 in which each run from the first on lies
// evenly over all: multiples of a number near n times the golden section, modulo
// n (Weyl's sequence).
func spreadOrder(n int) []int32 {
	step := max(1, int(float64(n)*(math.Sqrt(5)-1)/2))
	for gcd(step, n) > 1 {
		step++
	}
	order := make([]int32, n)
	at := 0
	for i := range order {
		order[i] = int32(at)
		if at += step; at >= n {
			at -= n
		}
	}
	return order
}

// cappedProduct of sizes, or more than most where it is more.
func cappedProduct(sizes []int, most int) int {
	p := 1
	for _, s := range sizes {
		if p *= s; p > most {
			return math.MaxInt
		}
	}
	return p
}

func gcd(a, b int) int {
	for b > 0 {
		a, b = b, a%b
	}
	return a
}

func inOrder(from []float64, order []int32) []float64 {
	out := make([]float64, len(order))
	for i, row := range order {
		out[i] = from[row]
	}
	return out
}

// columnReader reads the codes of a column in the order of the layout.
type columnReader struct {
	order []int32
	codes []uint32 // scratch
}

func (r columnReader) eachCode(col *column.Column, do func(i int, code uint32)) {
	col.Codes.Read(0, r.codes)
	for i, row := range r.order {
		do(i, r.codes[row])
	}
}

func newPlainColumn(sp *feature.Space, k int, cols []column.Column, r columnReader) plainColumn {
	col, rows := &cols[sp.Columns[k]], len(r.order)
	first, width := sp.Block(k)
	p := plainColumn{k: k, feature: first, value: make([]float64, rows)}
	if width > 1 {
		p.index = make([]int32, rows)
		r.eachCode(col, func(i int, c uint32) {
			f, v := sp.Cell(k, col, int(c))
			p.index[i], p.value[i] = int32(f), v
		})
		return p
	}
	if sp.Codes(k, col) > rows {
		r.eachCode(col, func(i int, c uint32) { _, p.value[i] = sp.Cell(k, col, int(c)) })
		return p
	}
	table := make([]float64, sp.Codes(k, col))
	for code := range table {
		_, table[code] = sp.Cell(k, col, code)
	}
	r.eachCode(col, func(i int, c uint32) { p.value[i] = table[c] })
	return p
}

func newJoint(sp *feature.Space, ks, sizes []int, size int, cols []column.Column, r columnReader) joint {
	j := joint{code: make([]uint16, len(r.order)), size: size}
	every := 1
	for _, k := range ks {
		col := &cols[sp.Columns[k]]
		p := jointPart{k: k, every: every, codes: sizes[k], index: make([]int32, size), value: make([]float64, size)}
		for c := range size {
			f, v := sp.Cell(k, col, c/every%sizes[k])
			p.index[c], p.value[c] = int32(f), v
		}
		j.parts = append(j.parts, p)
		r.eachCode(col, func(i int, c uint32) { j.code[i] += uint16(int(c) * every) })
		every *= sizes[k]
	}
	return j
}

// collapseRows makes one row of the rows with one code. They are equal, and so are
// their factors.
func (m *MarginRows) collapseRows() {
	j := &m.joints[0]
	pos, neg := make([]float64, j.size), make([]float64, j.size)
	var factor []float64
	if m.factor != nil {
		factor = make([]float64, j.size)
	}
	seen := make([]bool, j.size)
	for i, c := range j.code {
		pos[c] += m.pos[i]
		neg[c] += m.neg[i]
		seen[c] = true
		if factor != nil {
			factor[c] = m.factor[i]
		}
	}
	j.code = nil // the layout's
	m.pos, m.neg, m.factor = nil, nil, nil
	for c, ok := range seen {
		if !ok {
			continue
		}
		j.code, m.pos, m.neg = append(j.code, uint16(c)), append(m.pos, pos[c]), append(m.neg, neg[c])
		if factor != nil {
			m.factor = append(m.factor, factor[c])
		}
	}
}

// Len is the number of rows laid out, fewer than rows where equal ones became
// one.
func (m *MarginRows) Len() int { return len(m.pos) }

// Head is the first rows of m, all where it has fewer: a sample spread over the
// table. It shares memory with m.
func (m *MarginRows) Head(rows int) engine.Margins {
	if rows >= m.Len() {
		return m
	}
	part := &MarginRows{dim: m.dim, one: m.one, scale: m.scale, pos: m.pos[:rows], neg: m.neg[:rows], spare: m.spare}
	if m.factor != nil {
		part.factor = m.factor[:rows]
	}
	for _, j := range m.joints {
		part.joints = append(part.joints, joint{j.code[:rows], j.size, j.parts})
	}
	for _, p := range m.plain {
		p.value = p.value[:rows]
		if p.index != nil {
			p.index = p.index[:rows]
		}
		part.plain = append(part.plain, p)
	}
	return part
}

// Weight is what all rows stand for together.
func (m *MarginRows) Weight() float64 { return sumInterleaved(m.pos) + sumInterleaved(m.neg) }

// Sums are the gradient and, with hess, the Hessian of MarginSums at coef for
// the loss l, to an absolute error of some 1e-13 of the weights. The value of
// the loss is not computed. The sums do not depend on the number of processors.
// It fails only when ctx ends or coef has the wrong length.
func (m *MarginRows) Sums(ctx context.Context, l engine.Loss, coef []float64, hess bool) (*engine.LossSums, error) {
	if len(coef) != m.dim {
		return nil, fmt.Errorf("engine: margins: coef must have %d numbers, one per feature and the intercept (got %d)",
			m.dim, len(coef))
	}
	scaled := make([]float64, m.dim)
	for f, c := range coef {
		scaled[f] = c * m.scale
	}
	first := m.newScratch(hess) // its tables serve all
	defer m.spare.Put(first)
	m.tabulateJoints(scaled, first.tables)
	strips := make([]*engine.LossSums, m.stripCount())
	var next atomic.Int64
	work := func(s *marginScratch) {
		for p := int(next.Add(1) - 1); p < len(strips); p = int(next.Add(1) - 1) {
			strips[p] = m.sumStrip(ctx, p*m.Len()/len(strips), (p+1)*m.Len()/len(strips), l, scaled, first.tables, s, hess)
		}
	}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(strips)) - 1 {
		workers.Go(func() {
			s := m.newScratch(hess)
			work(s)
			m.spare.Put(s)
		})
	}
	work(first)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	sum := strips[0]
	for _, s := range strips[1:] {
		sum.Add(s)
	}
	for f := range sum.Grad {
		sum.Grad[f] *= m.scale
	}
	for f := range sum.Hess {
		sum.Hess[f] *= m.scale * m.scale
	}
	mirrorHessian(sum)
	return sum, nil
}

// marginStrip is long, as each strip has tables of its own to share out.
const marginStrip = 1 << 15

// stripCount depends on public sizes only.
func (m *MarginRows) stripCount() int {
	fit := max(2, maxPartials/(m.dim*m.dim))
	return max(1, min((m.Len()+marginStrip-1)/marginStrip, maxStrips, fit))
}

// tabulateJoints writes what each code of each joint adds to a score.
func (m *MarginRows) tabulateJoints(coef []float64, tables []*jointTable) {
	for t, j := range m.joints {
		table := tables[t][:j.size]
		table[0] = 0
		for _, p := range j.parts { // every code of the columns so far, for each of the next
			for v := p.codes - 1; v >= 0; v-- {
				at := v * p.every
				add := coef[p.index[at]] * p.value[at]
				for c, sum := range table[:p.every] {
					table[at+c] = sum + add
				}
			}
		}
	}
}

// jointTable is as long as any joint needs, so that no look-up need be checked.
type jointTable [jointCodes]float64

type marginScratch struct {
	*lossScratch
	prob   []float64
	tables []*jointTable // per joint: what each code adds to a score
	slopes []*jointTable // per joint: slopes added up by code
	other  []*jointTable // the same for every other row
}

// newScratch is clear where it must be: share leaves slopes and other so.
func (m *MarginRows) newScratch(hess bool) *marginScratch {
	s, _ := m.spare.Get().(*marginScratch)
	if s == nil {
		s = &marginScratch{lossScratch: newLossScratch(0), prob: make([]float64, lossBlock)}
		for range m.joints {
			s.tables = append(s.tables, new(jointTable))
			s.slopes, s.other = append(s.slopes, new(jointTable)), append(s.other, new(jointTable))
		}
	}
	for hess && len(s.index) < len(m.one) {
		s.index, s.value = append(s.index, make([]int32, lossBlock)), append(s.value, make([]float64, lossBlock))
	}
	return s
}

func (m *MarginRows) sumStrip(ctx context.Context, from, to int, l engine.Loss, coef []float64, tables []*jointTable,
	s *marginScratch, hess bool) *engine.LossSums {
	sum := &engine.LossSums{Grad: make([]float64, m.dim)}
	var model *lossModel
	if hess {
		sum.Hess = make([]float64, m.dim*m.dim)
		model = &lossModel{dim: m.dim}
		for _, one := range m.one {
			model.tables = append(model.tables, lossTable{one: one})
		}
	}
	zero := l.Huber <= 0 && m.factor == nil && allZero(coef)
	for at := from; at < to && ctx.Err() == nil; at += lossBlock {
		n := min(lossBlock, to-at)
		if zero {
			m.fillAtZero(at, n, s)
		} else {
			m.scoreBlock(at, n, coef, tables, s)
			m.fillLosses(at, n, l, s, hess)
		}
		m.addGradient(at, n, s, sum.Grad)
		if hess {
			m.fetchCells(at, n, s)
			model.addCurves(n, s.lossScratch, sum)
		}
	}
	m.shareGradient(s, sum.Grad)
	return sum
}

// scoreBlock adds up the scores.
func (m *MarginRows) scoreBlock(at, n int, coef []float64, tables []*jointTable, s *marginScratch) {
	score, constant := s.score[:n], coef[len(coef)-1]
	t := 0
	if len(tables) >= 2 {
		a, b := tables[0], tables[1]
		ca, cb := m.joints[0].code[at:][:n], m.joints[1].code[at:][:n]
		for i := range score {
			score[i] = constant + a[ca[i]%jointCodes] + b[cb[i]%jointCodes]
		}
		t = 2
	} else {
		for i := range score {
			score[i] = constant
		}
	}
	for ; t+2 <= len(tables); t += 2 {
		a, b := tables[t], tables[t+1]
		ca, cb := m.joints[t].code[at:][:n], m.joints[t+1].code[at:][:n]
		for i, z := range score {
			score[i] = z + a[ca[i]%jointCodes] + b[cb[i]%jointCodes]
		}
	}
	if t < len(tables) {
		a, ca := tables[t], m.joints[t].code[at:][:n]
		for i, z := range score {
			score[i] = z + a[ca[i]%jointCodes]
		}
	}
	for _, p := range m.plain {
		value := p.value[at:][:n]
		if p.index == nil {
			floats.AddScaled(score, coef[p.feature], value)
			continue
		}
		index := p.index[at:][:n]
		for i, z := range score {
			score[i] = z + coef[index[i]]*value[i]
		}
	}
	if m.factor != nil {
		for i, t := range m.factor[at:][:n] {
			score[i] *= t
		}
	}
}

// fillLosses fills slope and, with curves, curve, the factor of each row included.
func (m *MarginRows) fillLosses(at, n int, l engine.Loss, s *marginScratch, curves bool) {
	pos, neg := m.pos[at:][:n], m.neg[at:][:n]
	score, slope, curve := s.score[:n], s.slope[:n], s.curve[:n]
	if l.Huber > 0 {
		for i, z := range score {
			_, d, c := l.At(z)
			_, e, g := l.At(-z)
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
	if m.factor != nil {
		for i, t := range m.factor[at:][:n] {
			slope[i] = slope[i] * t
			if curves {
				curve[i] = curve[i] * (t * t)
			}
		}
	}
}

// fillAtZero is look and losses of the logistic loss where all scores are zero, the
// place every fit starts from.
func (m *MarginRows) fillAtZero(at, n int, s *marginScratch) {
	pos, neg := m.pos[at:][:n], m.neg[at:][:n]
	slope, curve := s.slope[:n], s.curve[:n]
	for i, w := range pos {
		slope[i], curve[i] = (neg[i]-w)/2, (neg[i]+w)/4
	}
}

func allZero(coef []float64) bool {
	for _, c := range coef {
		if c != 0 {
			return false
		}
	}
	return true
}

// addGradient adds one block; the joints' part waits for share.
func (m *MarginRows) addGradient(at, n int, s *marginScratch, grad []float64) {
	slope := s.slope[:n]
	t := 0
	for ; t+2 <= len(m.joints); t += 2 { // four sums that need not wait for each other
		a, b, a2, b2 := s.slopes[t], s.slopes[t+1], s.other[t], s.other[t+1]
		ca, cb := m.joints[t].code[at:][:n], m.joints[t+1].code[at:][:n]
		i := 1
		for ; i < len(slope); i += 2 {
			x, y := slope[i-1], slope[i]
			a[ca[i-1]%jointCodes] += x
			b[cb[i-1]%jointCodes] += x
			a2[ca[i]%jointCodes] += y
			b2[cb[i]%jointCodes] += y
		}
		if i == len(slope) {
			a[ca[i-1]%jointCodes] += slope[i-1]
			b[cb[i-1]%jointCodes] += slope[i-1]
		}
	}
	if t < len(m.joints) {
		a, b := s.slopes[t], s.other[t]
		code := m.joints[t].code[at:][:n]
		i := 1
		for ; i < len(slope); i += 2 {
			a[code[i-1]%jointCodes] += slope[i-1]
			b[code[i]%jointCodes] += slope[i]
		}
		if i == len(slope) {
			a[code[i-1]%jointCodes] += slope[i-1]
		}
	}
	for _, p := range m.plain {
		if p.index == nil {
			grad[p.feature] += dotProduct(slope, p.value[at:][:n])
			continue
		}
		for i, f := range p.index[at:][:n] {
			grad[f] += slope[i] * p.value[at+i]
		}
	}
	grad[len(grad)-1] += sumInterleaved(slope)
}

// shareGradient shares out the sums of the joints among features, and clears them.
func (m *MarginRows) shareGradient(s *marginScratch, grad []float64) {
	for t, j := range m.joints {
		sums, other := s.slopes[t][:j.size], s.other[t][:j.size]
		for c, x := range other {
			sums[c] += x
		}
		clear(other)
		for k := len(j.parts) - 1; k >= 0; k-- { // the last column is added up and folded away
			p := &j.parts[k]
			for v := range p.codes {
				at := v * p.every
				run := sums[at:][:p.every]
				grad[p.index[at]] += sumInterleaved(run) * p.value[at]
				if v > 0 {
					for c, x := range run {
						sums[c] += x
					}
				}
			}
		}
		clear(sums)
	}
}

// fetchCells fetches each cell's feature and value; of a column of one feature, the
// first row's feature stands for all.
func (m *MarginRows) fetchCells(at, n int, s *marginScratch) {
	for _, j := range m.joints {
		for _, p := range j.parts {
			index, value := s.index[p.k][:n], s.value[p.k][:n]
			if m.one[p.k] {
				index[0] = p.index[0]
				for i, c := range j.code[at:][:n] {
					value[i] = p.value[c]
				}
				continue
			}
			for i, c := range j.code[at:][:n] {
				index[i], value[i] = p.index[c], p.value[c]
			}
		}
	}
	for _, p := range m.plain {
		if copy(s.value[p.k][:n], p.value[at:]); p.index != nil {
			copy(s.index[p.k][:n], p.index[at:])
			continue
		}
		s.index[p.k][0] = int32(p.feature)
	}
}
