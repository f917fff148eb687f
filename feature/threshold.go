// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"

	"github.com/discreet-dp/discreet/column"
)

// Threshold is the classifier that answers the positive label where
// Σ Coef·feature + Bias ≥ 0. Coefficients and bias lie in [-1, 1]. (Any linear
// classifier can be scaled so without changing an answer.)
//
// Scores are integers: each column's contribution is rounded to the space's
// grid before it is added (Space.Fixed). An answer therefore does not depend
// on the order of additions, the machine, or whether one row or a million are
// scored, and a trained model answers exactly as it was trained.
type Threshold struct {
	Coef []float64 // length Width of its Space
	Bias float64
}

// fixedBits is S, chosen so that (columns+1) contributions of at most 2^S fit
// a 32-bit lane with one bit to spare.
func (sp *Space) fixedBits() uint {
	s := uint(30)
	for n := len(sp.Columns); n > 0; n >>= 1 {
		s--
	}
	return s
}

// Fixed rounds coef·value, a number in [-1, 1], to the grid 2^-S on which
// contributions are added; it returns the number of grid steps.
func (sp *Space) Fixed(coef, value float64) int32 {
	x := math.RoundToEven(float64(coef*value) * float64(int64(1)<<sp.fixedBits()))
	return int32(x)
}

// Scorer answers many thresholds of one space for rows of coded columns. It is
// read-only after NewScorer, so goroutines may share it.
//
// Two classifiers share a 64-bit word, one per 32-bit lane; a lane holds its
// score plus 2^31, so it never borrows from its neighbour and its top bit is
// the answer. Adding a column to all classifiers costs ⌈T/2⌉ word additions.
type Scorer struct {
	sp    *Space
	n     int // thresholds
	lanes int // words per row
	start []uint64
	cs    []Threshold
}

// NewScorer prepares the thresholds cs of space sp.
func NewScorer(sp *Space, cs []Threshold) *Scorer {
	s := &Scorer{sp: sp, n: len(cs), lanes: (len(cs) + 1) / 2, cs: cs}
	s.start = make([]uint64, s.lanes)
	for t, c := range cs {
		s.start[t/2] += uint64(uint32(int64(sp.Fixed(c.Bias, 1))+1<<31)) << (32 * (t & 1))
	}
	return s
}

// Words is the number of 64-bit words Answers writes per row.
func (s *Scorer) Words() int { return (s.n + 63) / 64 }

// prepared is one column with the contribution of each of its codes, laid out
// code by code, lanes words each.
type prepared struct {
	codes *column.Codes
	table []uint64
}

// Prepared binds a Scorer to the columns of one table.
type Prepared struct {
	s    *Scorer
	cols []prepared
}

// Bind tabulates the contribution of every code of cols, which is parallel to
// the schema's Columns. Memory: lanes words per code.
func (s *Scorer) Bind(cols []column.Column) *Prepared {
	p := &Prepared{s: s}
	for k, j := range s.sp.Columns {
		col := &cols[j]
		codes := s.sp.Codes(k, col)
		tab := make([]uint64, codes*s.lanes)
		for code := range codes {
			f, v := s.sp.Cell(k, col, code)
			row := tab[code*s.lanes:][:s.lanes]
			for t := range s.cs {
				// Two's complement addition modulo 2^32 per lane: a negative
				// contribution is added with its carry into the upper lane
				// cancelled by one subtracted there.
				row[t/2] += uint64(int64(s.sp.Fixed(s.cs[t].Coef[f], v))) << (32 * (t & 1))
			}
		}
		p.cols = append(p.cols, prepared{&col.Codes, tab})
	}
	return p
}

// Answers writes, for rows from, from+1, ..., the packed answers of every
// threshold: bit t%64 of word t/64 is set where threshold t answers positive.
// len(out) is rows × Words().
func (p *Prepared) Answers(from int, out []uint64) {
	s := p.s
	words := s.Words()
	rows := len(out) / words
	const batch = 256
	acc := make([]uint64, batch*s.lanes)
	codes := make([]uint32, batch)
	for at := 0; at < rows; at += batch {
		m := min(batch, rows-at)
		for i := range m {
			copy(acc[i*s.lanes:], s.start)
		}
		for c := range p.cols {
			p.cols[c].codes.Read(from+at, codes[:m])
			addRows(acc, codes[:m], p.cols[c].table, s.lanes)
		}
		for i := range m {
			pack(out[(at+i)*words:][:words], acc[i*s.lanes:][:s.lanes])
		}
	}
}

func addRows(acc []uint64, codes []uint32, table []uint64, lanes int) {
	for i, code := range codes {
		a := acc[i*lanes:][:lanes:lanes]
		t := table[int(code)*lanes:][:lanes:lanes]
		for l := range a {
			a[l] += t[l]
		}
	}
}

// pack gathers the top bit of each lane. With an odd number of thresholds the
// last upper lane is unused and stays 0, and so does its bit.
func pack(out, lanes []uint64) {
	clear(out)
	for l, w := range lanes {
		two := w>>31&1 | w>>62&2
		out[l/32] |= two << (2 * uint(l) % 64)
	}
}
