// SPDX-License-Identifier: Apache-2.0

package census

import (
	"fmt"
	"io"
	"iter"
	"reflect"
	"runtime"
	"sync"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// WriteParquet writes a table of this package as one Parquet file in row groups
// of PartRows: numbers as INT32, categories as strings, all dictionary-encoded
// and compressed with Snappy. A missing answer is the string "?", as in CSV.
func WriteParquet(w io.Writer, t *dataset.Table) error {
	return writeParquet(w, func(yield func(group) bool) {
		for from := 0; from < t.Rows; from += PartRows {
			if !yield(group{t, from, min(from+PartRows, t.Rows)}) {
				return
			}
		}
	})
}

// StreamParquet writes the same bytes as WriteParquet(w, Generate(seed, rows)), with at most PartRows
// people in memory.
func StreamParquet(w io.Writer, seed uint64, rows int) error {
	return writeParquet(w, func(yield func(group) bool) {
		for t := range Parts(seed, rows) {
			if !yield(group{t, 0, t.Rows}) {
				return
			}
		}
	})
}

// group is the rows of one row group.
type group struct {
	table    *dataset.Table
	from, to int
}

func writeParquet(w io.Writer, groups iter.Seq[group]) error {
	s := Schema()
	out := parquet.NewGenericWriter[any](w, parquetSchema(s), parquet.Compression(&parquet.Snappy))
	cells := parquetCells(s)
	for g := range groups {
		rg := out.BeginRowGroup()
		if err := writeColumns(rg.ColumnWriters(), g, cells); err != nil {
			return fmt.Errorf("census: write parquet: %w", err)
		}
		if _, err := rg.Commit(); err != nil {
			return fmt.Errorf("census: write parquet: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("census: write parquet: %w", err)
	}
	return nil
}

// writeColumns writes the columns of one row group concurrently, because their dictionaries, encodings
// and compression are independent.
func writeColumns(to []*parquet.ColumnWriter, g group, cells [][]parquet.Value) error {
	errs := make([]error, len(to))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for j := range next {
				codes := column.Codes{U8: g.table.Labels}
				if j < columns {
					codes = g.table.Cols[j].Codes
				}
				errs[j] = writeColumn(to[j], &codes, g.from, g.to, cells[j])
			}
		})
	}
	for j := range to {
		next <- j
	}
	close(next)
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func writeColumn(to *parquet.ColumnWriter, codes *column.Codes, from, end int, cells []parquet.Value) error {
	const batch = 1 << 10
	var read [batch]uint32
	var values [batch]parquet.Value
	for ; from < end; from += batch {
		n := min(batch, end-from)
		codes.Read(from, read[:n])
		for i, c := range read[:n] {
			values[i] = cells[c]
		}
		if _, err := to.WriteRowValues(values[:n]); err != nil {
			return err
		}
	}
	return to.Close()
}

// parquetSchema lists the columns in the order of s, the label last. (A
// parquet.Group would sort them by name.)
func parquetSchema(s *schema.Schema) *parquet.Schema {
	var fields []reflect.StructField
	add := func(name string, cell reflect.Type) {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Column%d", len(fields)),
			Type: cell,
			Tag:  reflect.StructTag(fmt.Sprintf(`parquet:"%s,dict"`, name)),
		})
	}
	for _, c := range s.Columns {
		if c.Kind == schema.Number {
			add(c.Name, reflect.TypeFor[int32]())
		} else {
			add(c.Name, reflect.TypeFor[string]())
		}
	}
	add(s.Label.Name, reflect.TypeFor[string]())
	return parquet.NewSchema("person", parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()))
}

// parquetCells returns the value to write for each code of each column and of the label.
func parquetCells(s *schema.Schema) [][]parquet.Value {
	cells := make([][]parquet.Value, columns+1)
	for j := range s.Columns {
		if numbers := sharedWorld().values[j]; numbers != nil {
			for _, x := range numbers {
				cells[j] = append(cells[j], parquet.Int32Value(int32(x)).Level(0, 0, j))
			}
			continue
		}
		for _, text := range cellTexts(s, j) {
			cells[j] = append(cells[j], parquet.ByteArrayValue([]byte(text)).Level(0, 0, j))
		}
	}
	for _, l := range s.Label.Levels {
		cells[columns] = append(cells[columns], parquet.ByteArrayValue([]byte(l.Value)).Level(0, 0, columns))
	}
	return cells
}
