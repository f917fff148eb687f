// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// RowPredictor scores single rows, to the last bit as Predictor scores tables, and
// without allocation. Goroutines may share it. Products are rounded before they are
// added, float64(a*b)+c, so that both agree on every machine:
// docs/decisions/0006-floats.md.
type RowPredictor struct {
	m       *Model
	spaces  []*feature.Space
	start   []int64    // of an additive model, one per class
	steps   []rowSteps // of an additive model
	width   int
	scratch sync.Pool // of *rowScratch
}

// rowSteps is a step function of one column or of a pair, for each class.
type rowSteps struct {
	bins   rowBins
	second *rowBins // of a pair
	units  []int64  // by bin, of a pair the second's within the first's, then class
}

// rowBins finds the bin of a cell.
type rowBins struct {
	column   int
	category bool
	edges    []float64
	count    int
}

// rowScratch is what the scoring of one row writes to.
type rowScratch struct {
	index [][]int     // by space, then column of the space: the feature that is not 0
	value [][]float64 // likewise: its value
	sums  []float64   // one per class
	votes []float64   // likewise, of one member
}

// RowPredictor prepares the prediction of single rows of the model's own schema.
func (m *Model) RowPredictor() (*RowPredictor, error) {
	p, err := m.Bind(m.Schema)
	if err != nil {
		return nil, err
	}
	r := &RowPredictor{m: m, spaces: p.spaces, width: m.Width()}
	r.scratch.New = func() any { return r.newScratch() }
	index := columnIndex(m.Schema)
	switch {
	case m.Additive != nil:
		r.start = []int64{feature.Units(m.Additive.Intercept)}
		for k := range m.Additive.Shapes {
			sh := &m.Additive.Shapes[k]
			r.addSteps(index[sh.Column], sh.Edges, sh.LogOdds)
		}
		for k := range m.Additive.Pairs {
			sh := &m.Additive.Pairs[k]
			second := newRowBins(m.Schema, index[sh.Columns[1]], sh.Edges[1])
			r.addSteps(index[sh.Columns[0]], sh.Edges[0], sh.LogOdds)
			r.steps[len(r.steps)-1].second = &second
		}
	case m.AdditiveLevels != nil:
		for _, x := range m.AdditiveLevels.Intercepts {
			r.start = append(r.start, feature.Units(x))
		}
		for k := range m.AdditiveLevels.Shapes {
			sh := &m.AdditiveLevels.Shapes[k]
			r.addSteps(index[sh.Column], sh.Edges, sh.LogShares...)
		}
	}
	return r, nil
}

func newRowBins(s *schema.Schema, col int, edges []float64) rowBins {
	bins := feature.NewBins(s, col, edges)
	return rowBins{column: col, category: s.Columns[col].Kind == schema.Category, edges: edges, count: bins.Len()}
}

// addSteps adds a step function with the given steps, by class, then bin.
func (r *RowPredictor) addSteps(col int, edges []float64, steps ...[]float64) {
	f := rowSteps{bins: newRowBins(r.m.Schema, col, edges)}
	for bin := range steps[0] {
		for class := range steps {
			f.units = append(f.units, feature.Units(steps[class][bin]))
		}
	}
	r.steps = append(r.steps, f)
}

func (r *RowPredictor) newScratch() *rowScratch {
	classes := r.m.Schema.Classes()
	s := &rowScratch{sums: make([]float64, classes), votes: make([]float64, classes)}
	for _, sp := range r.spaces {
		s.index, s.value = append(s.index, make([]int, len(sp.Columns))), append(s.value, make([]float64, len(sp.Columns)))
	}
	return s
}

// Width is how many numbers Scores writes; see Model.Width.
func (r *RowPredictor) Width() int { return r.width }

// Scores writes the scores of one row, as Predictor.Scores does. row is parallel to
// the columns of the model's schema, derived ones included; cells of ignored ones
// are not read. It panics where a code is none of its column's.
func (r *RowPredictor) Scores(row []column.Cell, out []float64) error {
	if len(row) != len(r.m.Schema.Columns) || len(out) != r.width {
		return fmt.Errorf("model: a row must have %d cells and %d scores", len(r.m.Schema.Columns), r.width)
	}
	if r.m.Additive != nil {
		out[0] = r.additive(row)
		return nil
	}
	s := r.scratch.Get().(*rowScratch)
	defer r.scratch.Put(s)
	switch {
	case r.m.AdditiveLevels != nil:
		r.additiveLevels(row, out)
		Softmax.apply(out)
	case r.m.Votes != nil:
		out[0] = r.votes(row, s)
	case r.m.Logistic != nil:
		out[0] = r.logistic(row, s)
	case r.m.Linear != nil:
		l := r.m.Linear
		r.encode(l.Space, row, s)
		r.linear(l.Space, l.Coef, l.Bias, s, s.sums)
		if l.Norm > 0 {
			t := s.shorten(l.Space, l.Norm)
			for k := range s.sums {
				s.sums[k] *= t
			}
		}
		r.link(l.Link, s, out)
	default:
		r.ballots(row, s)
		r.link(r.m.Ballots.Link, s, out)
	}
	return nil
}

// bin is the bin of the row's cell.
func (b *rowBins) bin(row []column.Cell) int {
	c := &row[b.column]
	if b.category {
		return int(c.Code)
	}
	low, high := 0, len(b.edges)
	for low < high {
		if mid := int(uint(low+high) >> 1); c.Number < b.edges[mid] {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

func (f *rowSteps) bin(row []column.Cell) int {
	bin := f.bins.bin(row)
	if f.second != nil {
		bin = bin*f.second.count + f.second.bin(row)
	}
	return bin
}

func (r *RowPredictor) additive(row []column.Cell) float64 {
	z := r.start[0]
	for k := range r.steps {
		z += r.steps[k].units[r.steps[k].bin(row)]
	}
	return 1 / (1 + math.Exp(-float64(z)/feature.ScoreOne))
}

func (r *RowPredictor) additiveLevels(row []column.Cell, out []float64) {
	// Sums of these integers are below 2^53, so they are exact here too.
	for class, z := range r.start {
		out[class] = float64(z)
	}
	for k := range r.steps {
		for class, u := range r.steps[k].units[r.steps[k].bin(row)*len(out):][:len(out)] {
			out[class] += float64(u)
		}
	}
	for class := range out {
		out[class] /= feature.ScoreOne
	}
}

// encode writes the features of the row in one space.
func (r *RowPredictor) encode(space int, row []column.Cell, s *rowScratch) {
	sp := r.spaces[space]
	for k, j := range sp.Columns {
		if r.m.Schema.Columns[j].Kind == schema.Number {
			s.index[space][k], s.value[space][k] = sp.Number(k, row[j].Number)
		} else {
			s.index[space][k], s.value[space][k] = sp.Code(k, int(row[j].Code))
		}
	}
}

// answer reports whether t answers positive for the encoded row.
func (r *RowPredictor) answer(space int, t *feature.Threshold, s *rowScratch) bool {
	sp := r.spaces[space]
	sum := int64(sp.Fixed(t.Bias, 1))
	for k, f := range s.index[space] {
		sum += int64(sp.Fixed(t.Coef[f], s.value[space][k]))
	}
	return sum >= 0
}

func (r *RowPredictor) votes(row []column.Cell, s *rowScratch) float64 {
	for space := range r.spaces {
		r.encode(space, row, s)
	}
	sum, all := 0.0, 0.0
	for i := range r.m.Votes.Members {
		b := &r.m.Votes.Members[i]
		all += math.Abs(b.Vote)
		if r.answer(b.Space, &b.Threshold, s) {
			sum += b.Vote
		} else {
			sum -= b.Vote
		}
	}
	return share(sum, all)
}

func (r *RowPredictor) logistic(row []column.Cell, s *rowScratch) float64 {
	l := r.m.Logistic
	r.encode(l.Space, row, s)
	z := l.Bias
	for k, f := range s.index[l.Space] {
		z += float64(l.Coef[f] * s.value[l.Space][k])
	}
	if l.Norm > 0 {
		z *= s.shorten(l.Space, l.Norm)
	}
	return 1 / (1 + math.Exp(-z))
}

// shorten is what the encoded row (features, 1) is multiplied with to be at most
// norm long.
func (s *rowScratch) shorten(space int, norm float64) float64 {
	square := 1.0
	for _, v := range s.value[space] {
		square += float64(v * v)
	}
	return min(1, norm/math.Sqrt(square))
}

// linear writes one linear function per class of the encoded row into sums.
func (r *RowPredictor) linear(space int, coef [][]float64, bias []float64, s *rowScratch, sums []float64) {
	copy(sums, bias)
	for k, f := range s.index[space] {
		for class := range sums {
			sums[class] += float64(coef[class][f] * s.value[space][k])
		}
	}
}

func (r *RowPredictor) ballots(row []column.Cell, s *rowScratch) {
	for space := range r.spaces {
		r.encode(space, row, s)
	}
	clear(s.sums)
	for i := range r.m.Ballots.Members {
		b := &r.m.Ballots.Members[i]
		if b.Argmax != nil {
			r.linear(b.Space, b.Argmax.Coef, b.Argmax.Bias, s, s.votes)
			s.sums[feature.ArgMax(s.votes)] += b.Weight
			continue
		}
		leaf := b.Stump.No
		if r.answer(b.Space, &b.Stump.Threshold, s) {
			leaf = b.Stump.Yes
		}
		for class, x := range leaf {
			s.sums[class] += float64(b.Weight * x)
		}
	}
}

// link makes scores of the sums.
func (r *RowPredictor) link(l Link, s *rowScratch, out []float64) {
	l.apply(s.sums)
	if r.width == 1 {
		out[0] = s.sums[r.m.Schema.Label.Positive]
		return
	}
	copy(out, s.sums)
}
