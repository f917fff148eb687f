// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/pages"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// cell is one cell of a row that is copied unchanged.
type cell struct {
	form     form
	text     []byte // valid until the next row; for a missing cell, its sign
	number   float64
	numerals *coding.Numerals // of a text; nil: as ParseDecimal has them
}

type form int

const (
	absent form = iota
	textual
	numeric
)

// appendTo appends the cell as text.
func (c *cell) appendTo(to []byte) []byte {
	if c.form == numeric {
		return coding.AppendDecimal(to, c.number)
	}
	return append(to, c.text...)
}

// float returns the cell as a number, if it is one.
func (c *cell) float() (float64, bool) {
	if c.form == numeric {
		return c.number, true
	}
	if c.numerals == nil {
		return coding.ParseDecimal(c.text)
	}
	return coding.ParseText(c.numerals, c.text)
}

// rows iterates over the rows of one file.
type rows interface {
	// columns returns the names of a row's cells.
	columns() []string
	// next returns the cells of the next row, valid until the next call, and
	// io.EOF after the last one.
	next() (cells []cell, err error)
	close() error
}

func (r *reader) openRows(path string) (rows, error) {
	if FormatOf(path) == Parquet {
		return r.openParquetRows(path)
	}
	return r.openTextRows(path)
}

// textRows are the rows of a CSV file.
type textRows struct {
	shut   func() error
	rs     *records
	names  []string
	ahead  bool // rs already holds the first row
	tokens []string
	cells  []cell

	numerals coding.Numerals
}

func (r *reader) openTextRows(path string) (_ rows, err error) {
	f, shut, err := r.openSource(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			shut()
		}
	}()
	rs, _, names, err := r.openText(path, f)
	if err != nil {
		return nil, err
	}
	t := &textRows{shut: shut, rs: rs, names: names, tokens: r.s.Dialect.Missing,
		numerals: coding.NumeralsOf(&r.s.Dialect)}
	if r.s.Dialect.Header {
		return t, nil
	}
	if err := rs.readRecord(); err != nil && err != io.EOF {
		return nil, err
	} else if err == nil {
		t.ahead = true
	}
	t.names = r.positionNames(len(rs.fields))
	return t, nil
}

// positionNames returns the names of the columns of a file without a header, in the order of
// layoutByPosition.
func (r *reader) positionNames(fields int) []string {
	var names []string
	for _, c := range r.s.FileColumns() {
		names = append(names, c.Name)
	}
	if r.opts.Labels == LabelsIgnored && fields == len(names) {
		return names
	}
	return slices.Insert(names, r.s.Label.Position, r.s.Label.Name)
}

func (t *textRows) columns() []string { return t.names }
func (t *textRows) close() error      { return t.shut() }

func (t *textRows) next() ([]cell, error) {
	if !t.ahead {
		if err := t.rs.readRecord(); err != nil {
			return nil, err
		}
	}
	t.ahead = false
	t.cells = slices.Grow(t.cells[:0], len(t.names))[:len(t.names)]
	for i, text := range t.rs.fields {
		t.cells[i] = cell{form: textual, text: text, numerals: &t.numerals}
		for _, token := range t.tokens {
			if string(text) == token {
				t.cells[i].form = absent
			}
		}
	}
	return t.cells, nil
}

// parquetRows are the rows of a Parquet file. Columns without cells are omitted; the schema must ignore
// them.
type parquetRows struct {
	r       *reader
	pf      *parquetFile
	file    io.Closer
	names   []string
	group   int // the next one
	left    int64
	cursors []cursor
	cells   []cell
}

// cursor iterates over the cells of one column.
type cursor struct {
	of   *pages.Column
	as   *schema.Column // what the schema declares; nil for the label and for other columns
	zone *schema.Zone   // of instants; nil: UTC

	numerals *coding.Numerals // of decimals in a dialect with a decimal comma; else nil
	chunk    *pages.Chunk
	run      pages.Run
	row      int // next row of the run
	value    int // next of the run's values
	text     []byte
}

func (r *reader) openParquetRows(path string) (rows, error) {
	pf, f, err := openParquet(r.ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := r.layOut(pf); err != nil {
		f.Close()
		return nil, err
	}
	p := &parquetRows{r: r, pf: pf, file: f}
	for at := range pf.columns {
		of := &pf.columns[at]
		if of.Type.Meaning == pages.Unsupported {
			continue
		}
		walk := cursor{of: of}
		if r.s.Dialect.Decimal == ',' && of.Type.Meaning == pages.Decimal {
			numerals := coding.NumeralsOf(&r.s.Dialect)
			walk.numerals = &numerals
		}
		if j := r.s.Find(of.Name); j >= 0 {
			walk.as = &r.s.Columns[j]
			walk.zone = schema.FindZone(walk.as.Zone)
		}
		p.names, p.cursors = append(p.names, of.Name), append(p.cursors, walk)
	}
	p.cells = make([]cell, len(p.cursors))
	return p, nil
}

func (p *parquetRows) columns() []string { return p.names }
func (p *parquetRows) close() error      { return p.file.Close() }

func (p *parquetRows) next() (_ []cell, err error) {
	defer recoverDamage(p.pf.path, &err)
	for p.left == 0 {
		if p.group == len(p.pf.groups) {
			return nil, io.EOF
		}
		if err := p.r.ctx.Err(); err != nil {
			return nil, err
		}
		p.left = p.pf.groups[p.group].NumRows
		for i := range p.cursors {
			c := &p.cursors[i]
			if c.chunk, err = pages.NewChunk(p.pf.section, p.pf.size, &p.pf.groups[p.group], c.of.Leaf, c.of.Type); err != nil {
				return nil, chunkFault(p.pf.path, p.names[i], err)
			}
			c.run, c.row = pages.Run{}, 0
		}
		p.group++
	}
	p.left--
	for i := range p.cursors {
		if err := p.cursors[i].next(&p.cells[i]); err != nil {
			return nil, chunkFault(p.pf.path, p.names[i], err)
		}
	}
	return p.cells, nil
}

func (c *cursor) next(out *cell) (err error) {
	if c.row == c.run.N {
		if c.run, err = c.chunk.NextRun(); err != nil {
			return err
		}
		c.row, c.value = 0, 0
	}
	*out = cell{}
	row := c.row
	c.row++
	if c.run.Present != nil && c.run.Present[row] == 0 {
		return nil
	}
	from, at := c.run.Values, c.value
	c.value++
	if c.run.Indices != nil {
		from, at = c.chunk.Dict, int(c.run.Indices[at])
		if at >= c.chunk.N {
			return pages.ErrValues
		}
	}
	c.text = c.text[:0]
	number := c.as != nil && c.as.Kind == schema.Number
	switch t := &c.of.Type; {
	case t.Meaning == pages.Null, t.PerDay > 0 && from.Ints[at] == pages.NoTime:
		return nil
	case t.Meaning == pages.Decimal && from.Kind == pages.Texts:
		c.text = pages.AppendDigits(c.text, from.Texts[at], t.Scale)
	case from.Kind == pages.Texts:
		c.text = append(c.text, from.Texts[at]...)
	case from.Kind == pages.Floats && (t.Meaning != pages.Single || number):
		*out = cell{form: numeric, number: from.Floats[at]}
		return nil
	case from.Kind == pages.Floats:
		c.text = strconv.AppendFloat(c.text, from.Floats[at], 'f', -1, 32)
	case from.Kind == pages.Truths:
		c.text = strconv.AppendBool(c.text, from.Truths[at] == 1)
	default:
		c.spell(from.Ints[at])
	}
	if c.numerals != nil {
		c.text = bytes.Replace(c.text, []byte("."), []byte(","), 1)
	}
	*out = cell{form: textual, text: c.text, numerals: c.numerals}
	return nil
}

// spell writes an integer, or what it stands for, as a text that the schema reads as the same cell. A
// float would round a long identifier.
func (c *cursor) spell(x int64) {
	format := "YYYY-MM-DD"
	if c.as != nil && c.as.Date != "" {
		format = c.as.Date
	}
	switch t := &c.of.Type; t.Meaning {
	case pages.Day:
		c.text = append(c.text, schema.FormatDate(format, int(x))...)
	case pages.Instant, pages.Local:
		var zone *schema.Zone
		if t.Meaning == pages.Instant {
			zone = c.zone
		}
		days, second := zone.DayOf(t.Seconds(x), 0)
		c.text = append(append(c.text, schema.FormatDate(format, days)...), ' ')
		c.text = append(append(c.text, schema.FormatClock(second)...), t.Fraction(x)...)
	case pages.Decimal:
		c.text = pages.AppendPoint(c.text, strconv.AppendInt(nil, x, 10), t.Scale)
	case pages.Unsigned:
		c.text = strconv.AppendUint(c.text, uint64(x), 10)
	default:
		c.text = strconv.AppendInt(c.text, x, 10)
	}
}

// isNumber reports whether the schema declares a number with this name, other than a date or one with a spelling
// of its own.
func isNumber(s *schema.Schema, name string) bool {
	i := s.Find(name)
	return i >= 0 && s.Columns[i].Kind == schema.Number && s.Columns[i].Role != schema.Ignored && s.Columns[i].Date == "" &&
		s.Dialect.Thousands == 0 && !s.Dialect.TrailingMinus
}

var errUnquotable = errors.New("dataset: cell needs quotes, and the dialect has none")
