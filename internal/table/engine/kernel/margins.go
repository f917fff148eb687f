// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// MarginRows implements engine.Margins. It prepares rows for evaluation at many coefficients, for one
// Loss after another. Columns with few codes are joined: a row has one code for several of them, so
// that its score needs one table look-up, and its slope is added once and distributed over features at
// the end. If all columns are joined, equal rows are merged.
//
// Rows are ordered so that every sample consists of the first rows.
//
// It is immutable and safe for concurrent use.
type MarginRows struct {
	sp       *feature.Space
	rows     engine.Rows
	short    bool   // rows have factors
	one      []bool // by column of the space: it has one feature
	joints   []joint
	plain    []plainColumn
	pos, neg []float64
	most     float64    // largest weight of a row
	times    []int64    // multiplicity of each row, at most stripWeight; nil: 1
	factor   []float64  // of each row, in addition to the common scale; nil: 1
	total    int        // rows of the whole table
	samples  []int      // by halvings: number of rows in the sample
	ends     []int      // ends of strips
	spare    *sync.Pool // pool of *marginScratch
}

// joint is several columns with one code.
type joint struct {
	code  []uint16 // by row
	size  int
	parts []jointPart
}

// jointPart is one column of a joint: for code c of the joint, the column's code is c/every%codes.
type jointPart struct {
	k            int     // column of the space
	every, codes int     // product of the numbers of codes of the earlier parts
	index        []int32 // by code of the joint: the feature that is non-zero
	value        []float64
}

// plainColumn is a column with too many codes to be joined. It has either one feature, with a value
// for each row, or several with value 1 (then index is set).
type plainColumn struct {
	k       int
	feature int
	index   []int32
	value   []float64
}

const (
	jointCodes    = 1 << 11 // a table of scores and one of slopes fit into the nearest cache
	collapseShare = 4       // the same limit if all columns join, so that equal rows are merged
	jointShare    = 16      // minimum number of rows per code of a joint: tables must not cost more than rows
)

// NewMargins prepares rows; its arguments are as for MarginSums. Time O(rows × columns), memory at
// most 8 bytes per row and column.
func NewMargins(sp *feature.Space, cols []column.Column, rows int, weigh Weigh, r engine.Rows) *MarginRows {
	return Lay(sp, cols, rows, r).Weigh(weigh)
}

// Layout is prepared rows without labels, which Margins of several labels share. It is immutable.
type Layout struct {
	order []int32    // the rows in their order
	hash  []uint64   // of each row's features, in that order
	m     MarginRows // pos and neg are nil
}

// Lay is the part of NewMargins that does not depend on a label.
func Lay(sp *feature.Space, cols []column.Column, rows int, r engine.Rows) *Layout {
	l := &Layout{}
	m := &l.m
	m.sp, m.rows, m.total, m.spare = sp, r, rows, new(sync.Pool)
	m.short = engine.UnitsOf(sp, engine.Loss{}, r, 1).Short
	l.setOrder(sp, cols, rows)
	if m.short {
		m.setFactors(cols, l.order)
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

// setOrder hashes the features of each row and orders rows by how many halvings they remain in a
// sample.
func (l *Layout) setOrder(sp *feature.Space, cols []column.Column, rows int) {
	hash, codes := make([]uint64, rows), make([]uint32, rows)
	for k, j := range sp.Columns {
		col := &cols[j]
		col.Codes.Read(0, codes)
		if sp.Codes(k, col) > rows {
			for i, c := range codes {
				f, v := sp.Cell(k, col, int(c))
				hash[i] += hashFeature(f, roundFeature(v))
			}
			continue
		}
		table := make([]uint64, sp.Codes(k, col))
		for c := range table {
			f, v := sp.Cell(k, col, c)
			table[c] = hashFeature(f, roundFeature(v))
		}
		for i, c := range codes {
			hash[i] += table[c]
		}
	}
	var order []int32
	order, l.m.samples = orderBySamples(hash)
	l.order, l.hash = order, make([]uint64, rows)
	for i, row := range order {
		l.hash[i] = hash[row]
	}
}

// orderBySamples orders the rows with these hashes so that every sample consists of the first rows,
// and counts the rows of each sample.
func orderBySamples(hash []uint64) (order []int32, samples []int) {
	samples = make([]int, engine.MaxHalvings+1)
	level := make([]uint8, len(hash))
	for i, h := range hash {
		level[i] = uint8(countHalvings(h))
		samples[level[i]]++
	}
	next := make([]int, engine.MaxHalvings+1)
	sum := 0
	for k := engine.MaxHalvings; k >= 0; k-- {
		next[k] = sum
		sum += samples[k]
		samples[k] = sum
	}
	order = make([]int32, len(hash))
	for i, k := range level {
		order[next[k]] = int32(i)
		next[k]++
	}
	return order, samples
}

// Weigh returns the rows with weights. Time and memory O(rows).
func (l *Layout) Weigh(weigh Weigh) *MarginRows {
	m := l.weighRows(weigh)
	if len(m.joints) == 1 && len(m.plain) == 0 {
		m.collapseRows(l)
	}
	for i, w := range m.pos {
		m.most = max(m.most, w+m.neg[i])
	}
	m.cutStrips()
	return m
}

// WeighLabels gives every row the weight of its label's code, as LabelWeights does. Its sums depend
// neither on the order nor on the layout of the rows.
func (l *Layout) WeighLabels(labels []uint8, positive int, weights []float64) *MarginRows {
	m := l.weighRows(LabelWeights(labels, positive, weights))
	m.rows.Weights = weights
	m.most = m.rows.Largest()
	if len(m.joints) == 1 && len(m.plain) == 0 {
		m.countRows(l, labels, positive)
	}
	m.cutStrips()
	return m
}

func (l *Layout) weighRows(weigh Weigh) *MarginRows {
	m := l.m
	m.joints = slices.Clone(m.joints)
	pos, neg := make([]float64, len(l.order)), make([]float64, len(l.order))
	weigh(0, pos, neg)
	m.pos, m.neg = inOrder(pos, l.order), inOrder(neg, l.order)
	return &m
}

// cutStrips divides rows into strips with a total multiplicity of at most stripWeight.
func (m *MarginRows) cutStrips() {
	m.ends = nil
	if m.times == nil {
		for at := stripWeight; at < m.Len(); at += stripWeight {
			m.ends = append(m.ends, at)
		}
	}
	sum := int64(0)
	for i, n := range m.times {
		if sum += n; sum > stripWeight {
			m.ends, sum = append(m.ends, i), n
		}
	}
	m.ends = append(m.ends, m.Len())
}

// setFactors sets factor.
func (m *MarginRows) setFactors(cols []column.Column, order []int32) {
	rows := len(order)
	tables := newExactModel(m.sp, cols, &terms{coef: make([]float64, m.sp.Width()+1)})
	s := newLossScratch(len(m.sp.Columns))
	factor := make([]float64, rows)
	for at := 0; at < rows; at += lossBlock {
		n := min(lossBlock, rows-at)
		tables.scoreBlock(at, n, s)
		fillFactors(m.rows, factor[at:][:n], s.value)
	}
	m.factor = inOrder(factor, order)
}

// cappedProduct returns the product of sizes, or a number above most if the product is above it.
func cappedProduct(sizes []int, most int) int {
	p := 1
	for _, s := range sizes {
		if p *= s; p > most {
			return math.MaxInt
		}
	}
	return p
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
			p.index[i], p.value[i] = int32(f), v // 1
		})
		return p
	}
	rounded := func(code int) float64 {
		_, v := sp.Cell(k, col, code)
		return roundFeature(v)
	}
	if sp.Codes(k, col) > rows {
		r.eachCode(col, func(i int, c uint32) { p.value[i] = rounded(int(c)) })
		return p
	}
	table := make([]float64, sp.Codes(k, col))
	for code := range table {
		table[code] = rounded(code)
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
			p.index[c], p.value[c] = int32(f), roundFeature(v)
		}
		j.parts = append(j.parts, p)
		r.eachCode(col, func(i int, c uint32) { j.code[i] += uint16(int(c) * every) })
		every *= sizes[k]
	}
	return j
}

// entry is the rows with one code, which are equal, and so are their factors.
type entry struct {
	row      int // one of them
	pos, neg float64
	times    int64
}

// collapseRows merges the rows with one code.
func (m *MarginRows) collapseRows(l *Layout) {
	j := &m.joints[0]
	all := make([]entry, j.size)
	for i, c := range j.code {
		e := &all[c]
		e.row, e.pos, e.neg, e.times = i, e.pos+m.pos[i], e.neg+m.neg[i], 1
	}
	m.keepEntries(l, all)
	m.times = nil
}

// countRows merges the rows with one code and one label into one row, or a few if there are very many.
func (m *MarginRows) countRows(l *Layout, labels []uint8, positive int) {
	j := &m.joints[0]
	classes := 1
	for _, label := range labels {
		classes = max(classes, int(label)+1)
	}
	all := make([]entry, j.size*classes)
	for i, c := range j.code {
		e := &all[int(c)*classes+int(labels[l.order[i]])]
		e.row, e.pos, e.neg = i, m.pos[i], m.neg[i]
		e.times++
	}
	var short []entry
	for _, e := range all {
		for ; e.times > stripWeight; e.times -= stripWeight {
			part := e
			part.times = stripWeight
			short = append(short, part)
		}
		short = append(short, e)
	}
	m.keepEntries(l, short)
}

// keepEntries replaces the rows by the entries that have rows.
func (m *MarginRows) keepEntries(l *Layout, all []entry) {
	all = slices.DeleteFunc(all, func(e entry) bool { return e.times == 0 })
	hash := make([]uint64, len(all))
	for i, e := range all {
		hash[i] = l.hash[e.row]
	}
	var order []int32
	order, m.samples = orderBySamples(hash)
	j, factor := &m.joints[0], m.factor
	code := j.code // the layout's
	j.code, m.pos, m.neg, m.times, m.factor = nil, nil, nil, nil, nil
	for _, k := range order {
		e := all[k]
		j.code, m.pos, m.neg = append(j.code, code[e.row]), append(m.pos, e.pos), append(m.neg, e.neg)
		m.times = append(m.times, e.times)
		if factor != nil {
			m.factor = append(m.factor, factor[e.row])
		}
	}
}

// Len returns the number of prepared rows, which is smaller than the number of rows if equal ones were
// merged.
func (m *MarginRows) Len() int { return len(m.pos) }

// Sample implements engine.Margins. It shares memory with m.
func (m *MarginRows) Sample(rows int) engine.Margins {
	halvings := engine.HalvingsFor(m.total, rows)
	if halvings == 0 {
		return m
	}
	part := *m
	n := m.samples[halvings]
	part.joints, part.plain = slices.Clone(m.joints), slices.Clone(m.plain)
	part.pos, part.neg = m.pos[:n], m.neg[:n]
	if m.factor != nil {
		part.factor = m.factor[:n]
	}
	if m.times != nil {
		part.times = m.times[:n]
	}
	for k := range part.joints {
		part.joints[k].code = part.joints[k].code[:n]
	}
	for k := range part.plain {
		p := &part.plain[k]
		p.value = p.value[:n]
		if p.index != nil {
			p.index = p.index[:n]
		}
	}
	part.cutStrips()
	return &part
}

// Sums implements engine.Margins. The sums do not depend on the number of processors.
func (m *MarginRows) Sums(ctx context.Context, l engine.Loss, coef []float64, hess bool) (*engine.LossSums, error) {
	if err := engine.CheckLength(m.sp, coef); err != nil {
		return nil, err
	}
	q := &engine.LossQuestion{Space: m.sp, Loss: l, Rows: m.rows, Coef: coef, Hess: hess}
	u := engine.UnitsOf(m.sp, l, m.rows, m.most)
	total := NewExactSums(len(coef), hess)
	if engine.Bounded(m.sp, coef) {
		m.addStrips(ctx, newTerms(u, l, coef, reachOf(m.sp, coef)), hess, total)
	}
	return total.Floats(q, u), ctx.Err()
}

// addStrips adds up all strips.
func (m *MarginRows) addStrips(ctx context.Context, t *terms, hess bool, total *engine.ExactSums) {
	first := m.newScratch(hess) // its tables serve all
	defer m.spare.Put(first)
	m.tabulateJoints(t, first.tables)
	var next atomic.Int64
	work := func(s *marginScratch) *exactStrip {
		into := newExactStrip(len(t.coef), hess)
		for p := int(next.Add(1) - 1); p < len(m.ends) && ctx.Err() == nil; p = int(next.Add(1) - 1) {
			from := 0
			if p > 0 {
				from = m.ends[p-1]
			}
			m.addStrip(from, m.ends[p], t, first.tables, s, into)
		}
		return into
	}
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range min(runtime.GOMAXPROCS(0), len(m.ends)) - 1 {
		workers.Go(func() {
			s := m.newScratch(hess)
			into := work(s)
			m.spare.Put(s)
			mu.Lock()
			defer mu.Unlock()
			total.Add(into.sums)
		})
	}
	into := work(first)
	workers.Wait()
	total.Add(into.sums)
}

// reachOf bounds the scores of rows.
func reachOf(sp *feature.Space, coef []float64) float64 {
	d := len(coef) - 1
	return sp.Reach(coef[:d]) + math.Abs(coef[d])
}

// tabulateJoints writes the contribution of each code of each joint to a score.
func (m *MarginRows) tabulateJoints(t *terms, tables []*jointTable) {
	for k, j := range m.joints {
		table := tables[k][:j.size]
		table[0] = 0
		for _, p := range j.parts { // every code of the columns so far, for each of the next
			for v := p.codes - 1; v >= 0; v-- {
				at := v * p.every
				add := t.score.round(t.coef[p.index[at]] * p.value[at])
				for c, sum := range table[:p.every] {
					table[at+c] = sum + add
				}
			}
		}
	}
}

// jointTable has the largest length of any joint, so that look-ups need no bounds check.
type jointTable [jointCodes]float64

// jointSlopes are slopes in units, by code.
type jointSlopes [jointCodes]int64

type marginScratch struct {
	*lossScratch
	prob   []float64
	fixed  []int64        // slopes in units
	hash   []uint64       // of rows, if a sample is selected
	cells  [][]uint32     // codes of a block, if rows are not prepared
	tables []*jointTable  // by joint: contribution of each code to a score
	slopes []*jointSlopes // by joint: slopes added up by code
	other  []*jointSlopes // the same for every second row
}

func newMarginScratch() *marginScratch {
	return &marginScratch{lossScratch: newLossScratch(0), prob: make([]float64, lossBlock),
		fixed: make([]int64, lossBlock), hash: make([]uint64, lossBlock)}
}

// newScratch returns scratch memory with slopes and other cleared, as shareGradient leaves them.
func (m *MarginRows) newScratch(hess bool) *marginScratch {
	s, _ := m.spare.Get().(*marginScratch)
	if s == nil {
		s = newMarginScratch()
		for range m.joints {
			s.tables = append(s.tables, new(jointTable))
			s.slopes, s.other = append(s.slopes, new(jointSlopes)), append(s.other, new(jointSlopes))
		}
	}
	for hess && len(s.index) < len(m.one) {
		s.index, s.value = append(s.index, make([]int32, lossBlock)), append(s.value, make([]float64, lossBlock))
	}
	return s
}

func (m *MarginRows) addStrip(
	from, to int, t *terms, tables []*jointTable, s *marginScratch, into *exactStrip,
) {
	var model *lossModel
	if into.hess != nil {
		model = &lossModel{dim: len(t.coef)}
		for _, one := range m.one {
			model.tables = append(model.tables, lossTable{one: one})
		}
	}
	zero := t.loss.Huber <= 0 && m.factor == nil && allZero(t.coef)
	for at := from; at < to; at += lossBlock {
		n := min(lossBlock, to-at)
		if zero {
			m.fillAtZero(at, n, s)
			t.fixSlopes(n, s, into.hess != nil)
		} else {
			m.scoreBlock(at, n, t, tables, s)
			var factor []float64
			if m.factor != nil {
				factor = m.factor[at:][:n]
			}
			t.fillSlopes(n, m.pos[at:], m.neg[at:], factor, s, into.hess != nil)
		}
		into.rows += n
		var times []int64
		if m.times != nil {
			times = m.times[at:][:n]
			for i, k := range times {
				s.fixed[i] *= k
				into.rows += int(k) - 1
			}
		}
		m.addGradient(at, n, s, into)
		switch {
		case into.hess == nil:
		case times == nil:
			m.fetchCells(at, n, s)
			model.addCurves(n, s.lossScratch, into.hess, t.curve)
		default:
			m.fetchCells(at, n, s)
			model.addTimes(times, s.lossScratch, into.hess, t.curve)
		}
	}
	m.shareGradient(s, into.sums.Grad)
	into.flush(t)
}

// scoreBlock adds up the scores.
func (m *MarginRows) scoreBlock(at, n int, terms *terms, tables []*jointTable, s *marginScratch) {
	coef := terms.coef
	score, constant := s.score[:n], coef[len(coef)-1]
	tables = tables[:len(m.joints)]
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
			c, r := coef[p.feature], terms.score
			for i, v := range value {
				score[i] += r.round(c * v)
			}
			continue
		}
		r := terms.score
		for i, f := range p.index[at:][:n] {
			score[i] += r.round(coef[f])
		}
	}
	if m.factor != nil {
		for i, t := range m.factor[at:][:n] {
			score[i] *= t
		}
	}
}

// fillAtZero is scoreBlock and fillSlopes of the logistic loss if all scores are zero, as at the start
// of a fit.
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

// addGradient adds one block. The part of joints is added by shareGradient.
func (m *MarginRows) addGradient(at, n int, s *marginScratch, into *exactStrip) {
	slope := s.fixed[:n]
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
	sum := sumUnits(slope)
	for _, p := range m.plain {
		if p.index == nil {
			into.addProducts(p.feature, slope, sum, p.value[at:])
			continue
		}
		for i, f := range p.index[at:][:n] {
			into.grad[f] += slope[i]
		}
	}
	into.grad[len(into.grad)-1] += sum
}

// shareGradient distributes the sums of joints over features, and clears them.
func (m *MarginRows) shareGradient(s *marginScratch, grad []engine.Wide) {
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
				grad[p.index[at]].AddProduct(sumUnits(run), featureInUnits(p.value[at]))
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

// fetchCells fetches each cell's feature and value. For a column with one feature, the first row's
// feature applies to all rows.
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
