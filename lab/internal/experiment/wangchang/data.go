// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// labelled are vectors in [-1, 1]^d with their classes.
type labelled struct {
	continuous.Rows
	y       []uint8
	classes int
}

// subsetRows keeps the given rows, in the given order.
func (l labelled) subsetRows(rows []int) labelled {
	out := labelled{picked{l.Rows, rows}, make([]uint8, len(rows)), l.classes}
	for i, r := range rows {
		out.y[i] = l.y[r]
	}
	return out
}

// byClass lists the rows of each class.
func (l labelled) byClass() [][]int {
	out := make([][]int, l.classes)
	for i, y := range l.y {
		out[y] = append(out[y], i)
	}
	return out
}

// picked are some rows of others.
type picked struct {
	of   continuous.Rows
	rows []int
}

func (p picked) Len() int                 { return len(p.rows) }
func (p picked) Dim() int                 { return p.of.Dim() }
func (p picked) Row(i int, out []float64) { p.of.Row(p.rows[i], out) }

// matrix is rows held in memory.
type matrix struct {
	width int
	cells []float32
}

func (m matrix) Len() int { return len(m.cells) / m.width }
func (m matrix) Dim() int { return m.width }
func (m matrix) Row(i int, out []float64) {
	for j, v := range m.cells[i*m.width : (i+1)*m.width] {
		out[j] = float64(v)
	}
}

// shuffledRows is a random order of n rows.
func shuffledRows(n int, src rng.Source) []int {
	out := upTo(n)
	rng.Shuffle(src, n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func dotProduct(a, b []float64) (sum float64) {
	b = b[:len(a)]
	for j, x := range a {
		sum += x * b[j]
	}
	return sum
}
