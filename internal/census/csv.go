// SPDX-License-Identifier: Apache-2.0

package census

import (
	"fmt"
	"io"
	"iter"

	"github.com/discreet-dp/discreet/internal/table/dataset"
)

// WriteCSV writes a table of this package in the format of Schema(): a header, then one line per
// person, with the label last.
func WriteCSV(w io.Writer, t *dataset.Table) error {
	return writeCSV(w, func(yield func(*dataset.Table) bool) { yield(t) })
}

// StreamCSV writes the same bytes as WriteCSV(w, Generate(seed, rows)), with at most PartRows people
// in memory.
func StreamCSV(w io.Writer, seed uint64, rows int) error {
	return writeCSV(w, Parts(seed, rows))
}

func writeCSV(w io.Writer, parts iter.Seq[*dataset.Table]) error {
	const flushBytes = 1 << 18
	s := Schema()
	line := make([]byte, 0, flushBytes+1<<12)
	cells := make([][]string, columns)
	for j := range s.Columns {
		line = append(append(line, s.Columns[j].Name...), ',')
		cells[j] = cellTexts(s, j)
	}
	line = append(append(line, s.Label.Name...), '\n')
	var codes [columns][]uint32
	for j := range codes {
		codes[j] = make([]uint32, 1<<10)
	}
	for t := range parts {
		for from := 0; from < t.Rows; from += len(codes[0]) {
			n := min(len(codes[0]), t.Rows-from)
			for j := range codes {
				t.Cols[j].Codes.Read(from, codes[j][:n])
			}
			for i := range n {
				for j := range codes {
					line = append(append(line, cells[j][codes[j][i]]...), ',')
				}
				line = append(append(line, s.Label.Levels[t.Labels[from+i]].Value...), '\n')
			}
			if len(line) >= flushBytes {
				if _, err := w.Write(line); err != nil {
					return fmt.Errorf("census: write csv: %w", err)
				}
				line = line[:0]
			}
		}
	}
	if _, err := w.Write(line); err != nil {
		return fmt.Errorf("census: write csv: %w", err)
	}
	return nil
}
