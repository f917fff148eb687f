// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Bins divides one column into bins. The bins of a number lie between Edges; a category has one bin
// per code or per group of codes. The bins of a pair are the combinations of its two columns' bins.
type Bins struct {
	Column int       `json:",omitempty"` // index into the schema's Columns; for a pair, the first column
	Edges  []float64 `json:",omitempty"` // for a number, strictly increasing: bin b holds Edges[b-1] ≤ x < Edges[b]; nil for a category
	Second *Bins     `json:",omitempty"` // for a pair, the bins of its second column; otherwise nil
	Marked int       `json:",omitempty"` // for a number, the number of bins for the column's marks, after those of amounts
	Codes  int       `json:",omitempty"` // number of bins of a category; 0 for a number
	Groups []uint32  `json:",omitempty"` // for a category in groups, the bin of each code
	Scored *Scored   `json:",omitempty"` // for scores, see CutScore; otherwise nil
}

// NewBins divides a column of s. edges are not used for a category. It does not copy them.
func NewBins(s *schema.Schema, col int, edges []float64) Bins {
	c := &s.Columns[col]
	if c.Kind == schema.Category {
		return Bins{Column: col, Codes: c.Codes()}
	}
	return Bins{Column: col, Edges: edges, Marked: c.Marks()}
}

// Marks returns the number of bins for a number's marks, which are the last bins.
func (b *Bins) Marks() int { return b.Marked }

// WithoutMarks returns bins in which the marked cells of a number count as its default.
func (b Bins) WithoutMarks() Bins {
	b.Marked = 0
	return b
}

// NewGroups divides a category into groups 0..n-1; of holds the group of each code. It does not copy
// of.
func NewGroups(col int, of []uint32, n int) Bins { return Bins{Column: col, Codes: n, Groups: of} }

// Cross returns the bins of a pair of columns: bin i of the first and bin j of the second make bin
// i·second.Len() + j.
func Cross(first, second Bins) Bins {
	first.Second = &second
	return first
}

// Len is the number of bins, at least 1.
func (b *Bins) Len() int {
	n := len(b.Edges) + 1 + b.Marked
	if b.Scored != nil {
		n = len(b.Scored.Edges) + 1
	}
	if b.Codes > 0 {
		n = b.Codes
	}
	if b.Second != nil {
		n *= b.Second.Len()
	}
	return n
}

// Clone copies b with everything it refers to.
func (b *Bins) Clone() Bins {
	c := *b
	c.Edges, c.Groups = slices.Clone(b.Edges), slices.Clone(b.Groups)
	if b.Second != nil {
		second := b.Second.Clone()
		c.Second = &second
	}
	return c
}

// SameCuts reports whether b and c divide the same column in the same way. Both must be bins of a
// single column.
func (b *Bins) SameCuts(c *Bins) bool {
	return b.Column == c.Column && b.Marked == c.Marked && b.Codes == c.Codes &&
		slices.Equal(b.Edges, c.Edges) && slices.Equal(b.Groups, c.Groups)
}

// Ordered reports whether consecutive bins are neighbours: the bins of a number are, except those of
// its marks.
func (b *Bins) Ordered() bool { return b.Codes == 0 && b.Second == nil }

// Number returns the bin of a number, which must be clamped to its bounds.
func (b *Bins) Number(x float64) int {
	low, high := 0, len(b.Edges)
	for low < high {
		if mid := int(uint(low+high) >> 1); x < b.Edges[mid] {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low
}

// OfRow returns the bin of one row of coded cells, parallel to the schema's Columns. It does not
// support bins of scores.
func (b *Bins) OfRow(row []column.Cell) int {
	cell := &row[b.Column]
	bin := int(cell.Code)
	if b.Codes == 0 {
		if bin == 0 || b.Marked == 0 {
			bin = b.Number(cell.Number)
		} else {
			bin += len(b.Edges)
		}
	} else if b.Groups != nil {
		bin = int(b.Groups[bin])
	}
	if b.Second != nil {
		bin = bin*b.Second.Len() + b.Second.OfRow(row)
	}
	return bin
}

// ByCode lists the bin of each code of col, the column of the bins. For a pair, col is the first
// column, and it lists the number of the first bin in the pair.
func (b *Bins) ByCode(col *column.Column) []uint32 {
	if b.Groups != nil {
		return slices.Clone(b.Groups)
	}
	if b.Codes > 0 {
		out := make([]uint32, b.Codes)
		for code := range out {
			out[code] = uint32(code)
		}
		return out
	}
	out := make([]uint32, len(col.Values))
	for code, x := range col.Values {
		out[code] = uint32(b.Number(x))
	}
	if b.Marked > 0 {
		for code, mark := range col.Marks {
			if mark > 0 {
				out[code] = uint32(len(b.Edges)) + uint32(mark)
			}
		}
	}
	return out
}

// ByLevel returns steps, one per bin, in the layout of a model: one per code if the bins are groups of
// codes, otherwise unchanged. For a pair this applies to both columns.
func (b *Bins) ByLevel(steps []float64) []float64 {
	width := 1
	if b.Second != nil {
		width = b.Second.Len()
	}
	row := func(bin uint32) []float64 {
		r := steps[int(bin)*width:][:width]
		if b.Second != nil {
			r = b.Second.ByLevel(r)
		}
		return r
	}
	var out []float64
	if b.Groups == nil {
		if b.Second == nil {
			return steps
		}
		for bin := range len(steps) / width {
			out = append(out, row(uint32(bin))...)
		}
		return out
	}
	for _, g := range b.Groups {
		out = append(out, row(g)...)
	}
	return out
}

// BoundBins finds the bins of the rows of one table. It is read-only.
type BoundBins struct {
	codes  *column.Codes
	byCode []uint32
	second *BoundBins   // for a pair, whose byCode then holds first bins
	scored *boundScored // for scores; otherwise nil
	width  uint32       // for a pair of scores, the bins of the second
}

// Bind tabulates the bins for cols, which is parallel to the schema's Columns.
func (b *Bins) Bind(cols []column.Column) *BoundBins {
	if b.Scored != nil {
		out := &BoundBins{scored: &boundScored{of: b.Scored.Of.Bind(cols), edges: b.Scored.Edges}}
		if b.Second != nil {
			out.second, out.width = b.Second.Bind(cols), uint32(b.Second.Len())
		}
		return out
	}
	col := &cols[b.Column]
	out := &BoundBins{codes: &col.Codes, byCode: b.ByCode(col)}
	if b.Second != nil {
		out.second = b.Second.Bind(cols)
		for code := range out.byCode {
			out.byCode[code] *= uint32(b.Second.Len())
		}
	}
	return out
}

// Read writes the bins of rows from, from+1, ... to out. scratch has the same length, and is used for
// pairs only.
func (b *BoundBins) Read(from int, out, scratch []uint32) {
	if b.scored != nil {
		if b.scored.read(from, out); b.second != nil {
			b.second.scored.read(from, scratch[:len(out)])
			for i, second := range scratch[:len(out)] {
				out[i] = out[i]*b.width + second
			}
		}
		return
	}
	b.codes.Look(from, b.byCode, out)
	if b.second == nil {
		return
	}
	scratch = scratch[:len(out)]
	b.second.codes.Look(from, b.second.byCode, scratch)
	for i, second := range scratch {
		out[i] += second
	}
}

// At returns the bin of one row.
func (b *BoundBins) At(row int) int {
	bin := b.byCode[b.codes.At(row)]
	if b.second != nil {
		bin += b.second.byCode[b.second.codes.At(row)]
	}
	return int(bin)
}

// Shape is a step function of one column or of a pair.
type Shape struct {
	Bins
	Steps []float64 // one per bin, in nats; at most MaxStep in size
}

// Additive is a sum of step functions. The log-odds of the positive label are Intercept + Σ Steps[bin
// of the cell], in nats.
//
// As in a Threshold, scores are integers: each step is rounded to a multiple of 1/ScoreOne before it
// is added, so that a score depends neither on the order of additions nor on the machine.
type Additive struct {
	Intercept float64 // at most MaxStep in absolute value
	Shapes    []Shape // a column may have several
	// Clip, if it is not nil, clamps the sum of the intercept and the first Clip.Shapes shapes to
	// [Low, High] before the other shapes are added.
	Clip *Clip
}

// Clip bounds the first part of a sum.
type Clip struct {
	Shapes    int
	Low, High float64 // nats
}

const (
	// ScoreOne is the number of units per nat in a score.
	ScoreOne = 1 << 20
	// MaxStep bounds the terms of a score, so that no sum over a schema's columns overflows.
	MaxStep = 1 << 20
)

// Units rounds a step to units of 1/ScoreOne nat.
func Units(step float64) int64 { return int64(math.RoundToEven(step * ScoreOne)) }

// BoundAdditive is an Additive tabulated for the codes of one table. It is read-only and safe for
// concurrent use.
type BoundAdditive struct {
	start   int64
	clipped []boundShape // added before clamping
	low     int64
	high    int64
	terms   []boundShape
}

type boundShape struct {
	codes *column.Codes // for one column; nil for a pair
	pair  *BoundBins
	units []int64        // by code, or by bin for a pair
	short *[1 << 8]int64 // the same if codes are bytes; otherwise nil
}

// Bind tabulates f for cols, which is parallel to the schema's Columns.
func (f *Additive) Bind(cols []column.Column) *BoundAdditive {
	b := &BoundAdditive{start: Units(f.Intercept), low: math.MinInt64, high: math.MaxInt64}
	first := 0
	if f.Clip != nil {
		first, b.low, b.high = f.Clip.Shapes, Units(f.Clip.Low), Units(f.Clip.High)
	}
	b.clipped, b.terms = bindShapes(f.Shapes[:first], cols), bindShapes(f.Shapes[first:], cols)
	return b
}

// bindShapes makes one table for all shapes of a column, and one for each pair.
func bindShapes(shapes []Shape, cols []column.Column) (terms []boundShape) {
	at := map[int]int{}
	for k := range shapes {
		sh := &shapes[k]
		if sh.Second != nil {
			pair := boundShape{pair: sh.Bind(cols), units: make([]int64, len(sh.Steps))}
			for bin, step := range sh.Steps {
				pair.units[bin] = Units(step)
			}
			terms = append(terms, pair)
			continue
		}
		col := &cols[sh.Column]
		bins := sh.ByCode(col)
		if _, ok := at[sh.Column]; !ok {
			at[sh.Column] = len(terms)
			terms = append(terms, boundShape{codes: &col.Codes, units: make([]int64, len(bins))})
		}
		units := terms[at[sh.Column]].units
		for code, bin := range bins {
			units[code] += Units(sh.Steps[bin])
		}
	}
	for k := range terms {
		if t := &terms[k]; t.pair == nil && t.codes.U8 != nil {
			t.short = new([1 << 8]int64)
			copy(t.short[:], t.units) // codes that the column cannot hold are no one's
		}
	}
	return terms
}

// Scores writes the scores of rows from, from+1, ..., in units of 1/ScoreOne nat. scratch must be
// twice as long as out.
func (b *BoundAdditive) Scores(from int, out []int64, scratch []uint32) {
	for i := range out {
		out[i] = b.start
	}
	addTerms(b.clipped, from, out, scratch)
	for i, z := range out {
		out[i] = min(max(z, b.low), b.high)
	}
	addTerms(b.terms, from, out, scratch)
}

func addTerms(terms []boundShape, from int, out []int64, scratch []uint32) {
	codes, spare := scratch[:len(out)], scratch[len(out):]
	for k := range terms {
		units := terms[k].units
		if terms[k].short != nil {
			short := terms[k].short
			for i, c := range terms[k].codes.U8[from:][:len(out)] {
				out[i] += short[c]
			}
			continue
		}
		if terms[k].pair != nil {
			terms[k].pair.Read(from, codes, spare)
		} else {
			terms[k].codes.Read(from, codes)
		}
		for i, c := range codes {
			out[i] += units[c]
		}
	}
}
