// SPDX-License-Identifier: Apache-2.0

package pate

import (
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// one is the number of units that make a whole vote, the feature value 1 and the residual
// 1. Integers make sums exact whatever their order.
const one = 1 << 20

// roll is the table as teachers see it: distinct rows, and which of them stand
// for each row, in an order that the order of the file has no part in.
type roll struct {
	groups *engine.Groups
	space  *feature.Space
	cells  [][]cell // by column of the space, then code
	rows   []row
	// level says that teachers vote about the intercept too: where no student
	// has settled it.
	level bool
	norm  mech.Norm // in which a vote is at most one long
}

// cell is what a code contributes: a feature and its value in units.
type cell struct {
	feature int
	value   int64
}

// row is one row of the table.
type row struct {
	group    int32
	positive bool
	p        float64 // of the positive label, by the student
	residual int64   // what the student leaves unexplained, twice, in [-one, one]
}

// newRoll lists the rows; student is the score of a group, nil if there is no
// student.
func newRoll(g *engine.Groups, sp *feature.Space, positive int, norm mech.Norm, student func(g int) float64) *roll {
	r := &roll{groups: g, space: sp, cells: tabulateCodes(sp, g.Cols), level: student == nil, norm: norm}
	for label, counts := range g.Counts {
		yes := label == positive
		for i, n := range counts {
			if n == 0 {
				continue
			}
			p := 0.5
			if student != nil {
				p = sigmoid(student(i))
			}
			e := residual(yes, p)
			for range n {
				r.rows = append(r.rows, row{int32(i), yes, p, e})
			}
		}
	}
	return r
}

// residual is 2(y − p) for a student who gives the positive label the
// probability p, cut to [-1, 1]: what a row has left to say.
func residual(positive bool, p float64) int64 {
	y := 0.0
	if positive {
		y = 1
	}
	return int64(math.RoundToEven(one * max(-1, min(1, 2*(y-p)))))
}

func tabulateCodes(sp *feature.Space, cols []column.Column) [][]cell {
	out := make([][]cell, len(sp.Columns))
	for k, j := range sp.Columns {
		for code := range sp.Codes(k, &cols[j]) {
			f, v := sp.Cell(k, &cols[j], code)
			out[k] = append(out[k], cell{f, int64(math.RoundToEven(v * one))})
		}
	}
	return out
}

// dealRows shuffles the rows, so that row i is in the part of teacher i·K/n. The
// order before it depends on cells; the order after it is uniform whatever it
// was before, and so is the partition (1.1).
func (r *roll) dealRows(src rng.Source) {
	rng.Shuffle(src, len(r.rows), func(i, j int) { r.rows[i], r.rows[j] = r.rows[j], r.rows[i] })
}

// voteLength is the number of numbers that a vote has: one per feature, and the level last.
func (r *roll) voteLength() int {
	if r.level {
		return r.space.Width() + 1
	}
	return r.space.Width()
}

// fullLength bounds the length of one row of full residual, in units, before it is
// scaled: every column has one feature, of size at most 1.
func (r *roll) fullLength() uint64 {
	entries := len(r.space.Columns) + r.voteLength() - r.space.Width()
	if r.norm == mech.L2 {
		return uint64(math.Ceil(one * math.Sqrt(float64(entries))))
	}
	return uint64(entries) * one
}

// sumVotes adds up the ballots of k teachers, in units.
func (r *roll) sumVotes(k int) []int64 {
	sum := make([]int64, r.voteLength())
	part := make([]int64, len(sum))
	n := len(r.rows)
	for t := range k {
		r.writeVote(r.rows[n*t/k:n*(t+1)/k], part)
		for f, v := range part {
			sum[f] += v
		}
	}
	return sum
}

// writeVote writes a teacher's vote: its classifier is the first step of a logistic
// regression of its rows that starts at the student, Σ residual·features, such
// that a row of full residual is about a whole vote, cut to a whole vote where
// several make more. Whatever the rows are, a vote is at most one long (1.2).
func (r *roll) writeVote(rows []row, vote []int64) {
	clear(vote)
	for i := range rows {
		e := rows[i].residual
		for k, j := range r.space.Columns {
			c := r.cells[k][r.groups.Cols[j].Codes.At(int(rows[i].group))]
			vote[c.feature] += e * c.value / one
		}
		if r.level {
			vote[len(vote)-1] += e
		}
	}
	length := max(r.voteNorm(vote), r.fullLength())
	for f, v := range vote {
		vote[f] = scaleTo(v, length)
	}
}

// voteNorm is at least the length of v, in units: exactly that in L1, where the sum
// is one of integers.
func (r *roll) voteNorm(v []int64) uint64 {
	if r.norm == mech.L1 {
		return l1Norm(v)
	}
	squares := 0.0
	for _, x := range v {
		squares += float64(x) * float64(x)
	}
	return uint64(math.Ceil(math.Sqrt(squares) * (1 + 0x1p-40))) // past the rounding of the sum
}

func l1Norm(v []int64) (sum uint64) {
	for _, x := range v {
		sum += uint64(max(x, -x))
	}
	return sum
}

// scaleTo is v·one/length, rounded towards 0.
func scaleTo(v int64, length uint64) int64 {
	hi, lo := bits.Mul64(uint64(max(v, -v)), one)
	q, _ := bits.Div64(hi, lo, length) // |v| ≤ length, so q ≤ one
	if v < 0 {
		return -int64(q)
	}
	return int64(q)
}
