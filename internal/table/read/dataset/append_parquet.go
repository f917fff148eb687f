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
	numbers []bool // per column of the input
	pending []parquet.Row
}

// sinkGroup is the number of rows per row group, which are held in memory.
const sinkGroup = 1 << 20

// sinkBatch is the number of rows that are passed to the Parquet library at once.
const sinkBatch = 256

func newParquetSink(w io.Writer, s *schema.Schema, names []string, added []Added) *parquetSink {
	out := &parquetSink{}
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
	out.w = parquet.NewGenericWriter[any](w, parquet.NewSchema("table", columns), parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(sinkGroup))
	return out
}

// WriteAdded writes a Parquet file with the added columns only.
func WriteAdded(w io.Writer, s *schema.Schema, rows int, added []Added) error {
	out, cells := newParquetSink(w, s, nil, added), make([]cell, len(added))
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
	return newParquetSink(w, s, names, nil).close()
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
	row := make(parquet.Row, 0, len(cells)+len(added))
	for i := range cells {
		c := &cells[i]
		value := parquet.NullValue()
		switch {
		case c.form == absent:
		case p.numbers[i]:
			if x, ok := c.float(); ok {
				value = parquet.DoubleValue(x)
			}
		default:
			value = parquet.ByteArrayValue(c.bytes())
		}
		defined := 1
		if value.IsNull() {
			defined = 0
		}
		row = append(row, value.Level(0, defined, i))
	}
	for i := range added {
		c := &added[i]
		value := parquet.DoubleValue(c.number)
		if c.form == textual {
			value = parquet.ByteArrayValue(c.bytes())
		}
		row = append(row, value.Level(0, 0, len(cells)+i))
	}
	p.pending = append(p.pending, row)
	if len(p.pending) < sinkBatch {
		return nil
	}
	return p.flushRows()
}

func (p *parquetSink) flushRows() error {
	_, err := p.w.WriteRows(p.pending)
	p.pending = p.pending[:0]
	return err
}

func (p *parquetSink) close() error {
	if err := p.flushRows(); err != nil {
		return err
	}
	return p.w.Close()
}
