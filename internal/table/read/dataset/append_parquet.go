// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// parquetSink writes Parquet: doubles and strings.
type parquetSink struct {
	w       *parquet.GenericWriter[any]
	numbers []bool            // per column of the input
	pending [][]parquet.Value // by column
	rows    int               // in pending
	room    int               // rows that the row group still takes
	group   int               // rows per row group, which are held in memory
	text    []byte            // of pending texts
}

// sinkGroup is the usual number of rows per row group.
const sinkGroup = 1 << 20

// sinkBatch is the number of rows that are passed to the Parquet library at once.
const sinkBatch = 1024

func newParquetSink(w io.Writer, s *schema.Schema, names []string, added []Added, group int) *parquetSink {
	out := &parquetSink{pending: make([][]parquet.Value, len(names)+len(added)), room: group, group: group}
	columns := ordered{Group: parquet.Group{}}
	put := func(name string, node parquet.Node) {
		columns.Group[name] = node
		columns.names = append(columns.names, name)
	}
	for _, name := range names {
		number := isNumber(s, name)
		out.numbers = append(out.numbers, number)
		if number {
			put(name, parquet.Optional(parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.RLEDictionary)))
		} else {
			put(name, parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)))
		}
	}
	for _, a := range added {
		if a.Number != nil {
			put(a.Name, parquet.Leaf(parquet.DoubleType))
		} else {
			put(a.Name, parquet.Encoded(parquet.String(), &parquet.RLEDictionary))
		}
	}
	out.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("table", columns), parquet.Compression(&parquet.Snappy))
	return out
}

// WriteAdded writes a Parquet file with the added columns only.
func WriteAdded(w io.Writer, s *schema.Schema, rows int, added []Added) error {
	out, cells := newParquetSink(w, s, nil, added, sinkGroup), make([]cell, len(added))
	for row := range rows {
		addCells(cells, added, row)
		if err := out.writeRow(nil, cells); err != nil {
			return err
		}
	}
	return out.close()
}

// WriteEmpty writes a Parquet file with these columns of a schema and no rows.
func WriteEmpty(w io.Writer, s *schema.Schema, names []string) error {
	return newParquetSink(w, s, names, nil, sinkGroup).close()
}

// ordered is a group whose columns keep their order; parquet.Group sorts them.
type ordered struct {
	parquet.Group
	names []string
}

func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(o.names, a.Name()) - slices.Index(o.names, b.Name())
	})
	return fields
}

func (p *parquetSink) writeRow(cells, added []cell) error {
	for i := range cells {
		c := &cells[i]
		value, defined := parquet.NullValue(), 0
		switch {
		case c.form == absent:
		case !p.numbers[i]:
			value, defined = p.keepText(c), 1
		default:
			if x, ok := c.float(); ok {
				value, defined = parquet.DoubleValue(x), 1
			}
		}
		p.pending[i] = append(p.pending[i], value.Level(0, defined, i))
	}
	for i := range added {
		c, at := &added[i], len(cells)+i
		value := parquet.DoubleValue(c.number)
		if c.form == textual {
			value = p.keepText(c)
		}
		p.pending[at] = append(p.pending[at], value.Level(0, 0, at))
	}
	p.rows++
	p.room--
	if p.rows < sinkBatch && p.room > 0 {
		return nil
	}
	return p.flushRows()
}

// keepText returns a cell's text in memory of the sink's own.
func (p *parquetSink) keepText(c *cell) parquet.Value {
	from := len(p.text)
	p.text = c.appendTo(p.text)
	return parquet.ByteArrayValue(p.text[from:])
}

func (p *parquetSink) flushRows() error {
	if p.rows == 0 { // the library would take the address of a first value
		return nil
	}
	for i, column := range p.w.ColumnWriters() {
		if _, err := column.WriteRowValues(p.pending[i]); err != nil {
			return err
		}
		p.pending[i] = p.pending[i][:0]
	}
	p.rows, p.text = 0, p.text[:0]
	if p.room > 0 {
		return nil
	}
	p.room = p.group
	return p.w.Flush()
}

func (p *parquetSink) close() error {
	if err := p.flushRows(); err != nil {
		return err
	}
	return p.w.Close()
}
