// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"slices"
	"sort"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Bins cuts one column into bins: a number's lie between Edges, a category has
// one per code or one per group of codes. Those of a pair are the cells of its two columns' bins.
type Bins struct {
	Column int       `json:",omitempty"` // index into the schema's Columns; of a pair, the first
	Edges  []float64 `json:",omitempty"` // of a number, strictly increasing: bin b holds Edges[b-1] ≤ x < Edges[b]; nil for a category
	Second *Bins     `json:",omitempty"` // of a pair, its second column's; else nil
	Marked int       `json:",omitempty"` // of a number, bins behind those of amounts: one for each of the column's marks
	Codes  int       `json:",omitempty"` // bins of a category; 0 for a number
	Groups []uint32  `json:",omitempty"` // of a category in groups, the bin of each code
	Scored *Scored   `json:",omitempty"` // of scores, see CutScore; else nil
}

// NewBins cuts a column of s. edges are not used for a category. It does not
// copy them.
func NewBins(s *schema.Schema, col int, edges []float64) Bins {
	c := &s.Columns[col]
	if c.Kind == schema.Category {
		return Bins{Column: col, Codes: c.Codes()}
	}
	return Bins{Column: col, Edges: edges, Marked: c.Marks()}
}

// Marks is the number of bins of a number's marks; they are the last ones.
func (b *Bins) Marks() int { return b.Marked }

// WithoutMarks puts the marked cells of a number where its default is.
func (b Bins) WithoutMarks() Bins {
	b.Marked = 0
	return b
}

// NewGroups cuts a column, a category, into the groups 0..n-1 that its codes are
// in. It does not copy of.
func NewGroups(col int, of []uint32, n int) Bins { return Bins{Column: col, Codes: n, Groups: of} }

// Cross is the bins of a pair of columns: those of the second within each of the
// first's, so bins i and j meet in bin i·second.Len() + j.
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

// Clone copies b with all it refers to.
func (b *Bins) Clone() Bins {
	c := *b
	c.Edges, c.Groups = slices.Clone(b.Edges), slices.Clone(b.Groups)
	if b.Second != nil {
		second := b.Second.Clone()
		c.Second = &second
	}
	return c
}

// SameCuts reports whether b and c, both of a column, cut the same one in the same places.
func (b *Bins) SameCuts(c *Bins) bool {
	return b.Column == c.Column && b.Marked == c.Marked && b.Codes == c.Codes &&
		slices.Equal(b.Edges, c.Edges) && slices.Equal(b.Groups, c.Groups)
}

// Ordered reports whether neighbouring bins are neighbours: those of a number, but for
// those of its marks.
func (b *Bins) Ordered() bool { return b.Codes == 0 && b.Second == nil }

// Number is the bin of a number already clamped to its bounds.
func (b *Bins) Number(x float64) int {
	return sort.Search(len(b.Edges), func(i int) bool { return x < b.Edges[i] })
}

// OfRow is the bin of one row of coded cells, parallel to the schema's Columns. Bins of
// groups and of scores are not for single rows.
func (b *Bins) OfRow(row []column.Cell) int {
	cell := &row[b.Column]
	bin := int(cell.Code)
	if b.Codes == 0 {
		if bin == 0 || b.Marked == 0 {
			bin = b.Number(cell.Number)
		} else {
			bin += len(b.Edges)
		}
	}
	if b.Second != nil {
		bin = bin*b.Second.Len() + b.Second.OfRow(row)
	}
	return bin
}

// ByCode lists the bin of each code of col, the column the bins are of. Of a pair
// it is the first column, and what is listed are the first bins of its own.
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

// ByLevel is steps, one per bin, laid out as a model keeps them: one per code
// where the bins are groups of codes, else as they are. Of a pair this holds for
// both columns.
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
	second *BoundBins   // of a pair; byCode then counts in rows of its cells
	scored *boundScored // of scores; else nil
}

// Bind tabulates the bins for cols, which is parallel to the schema's Columns.
func (b *Bins) Bind(cols []column.Column) *BoundBins {
	if b.Scored != nil {
		return &BoundBins{scored: &boundScored{of: b.Scored.Of.Bind(cols), edges: b.Scored.Edges}}
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

// Read writes the bins of rows from, from+1, ... into out. scratch is of the
// same length, and used for a pair alone.
func (b *BoundBins) Read(from int, out, scratch []uint32) {
	if b.scored != nil {
		b.scored.read(from, out)
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

// At is the bin of one row.
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

// Additive is a sum of step functions: the log-odds of the positive label are
// Intercept + Σ Steps[bin of the cell], in nats.
//
// Like those of a Threshold its scores are integers: each step is rounded to a
// multiple of 1/ScoreOne before it is added, so a score depends neither on the
// order of additions nor on the machine.
type Additive struct {
	Intercept float64 // at most MaxStep in size
	Shapes    []Shape // a column may have several
	// Clip, if it is not nil, holds the intercept and the first Clip.Shapes
	// shapes together within [Low, High] before the others are added.
	Clip *Clip
}

// Clip bounds the first part of a sum.
type Clip struct {
	Shapes    int
	Low, High float64 // nats
}

const (
	// ScoreOne is the number of units of a score in one nat.
	ScoreOne = 1 << 20
	// MaxStep bounds what a score is made of, so that no sum of a schema's
	// columns overflows.
	MaxStep = 1 << 20
)

// Units rounds a step to units of 1/ScoreOne nat.
func Units(step float64) int64 { return int64(math.RoundToEven(step * ScoreOne)) }

// BoundAdditive is an Additive tabulated for the codes of one table. It is
// read-only, so goroutines may share it.
type BoundAdditive struct {
	start   int64
	clipped []boundShape // before the clip
	low     int64
	high    int64
	terms   []boundShape
}

type boundShape struct {
	codes *column.Codes // of one column; nil for a pair
	pair  *BoundBins
	units []int64        // by code, of a pair by bin
	short *[1 << 8]int64 // the same, where codes are of a byte; else nil
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

// bindShapes makes one table of all shapes of a column, and one of each pair.
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

// Scores writes the scores of rows from, from+1, ..., in units of 1/ScoreOne
// nat. scratch is of twice the length of out.
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
