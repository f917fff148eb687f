// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bufio"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// WriteCSV writes a table of this package in the format of Schema(): a header, then one line per
// person, with the label last.
func WriteCSV(w io.Writer, t *dataset.Table) error {
	s, out := Schema(), bufio.NewWriterSize(w, 1<<18)
	var cells [columns][]string
	for j := range s.Columns {
		out.WriteString(s.Columns[j].Name + ",")
		cells[j] = cellTexts(s, j)
	}
	out.WriteString(s.Label.Name + "\n")
	for i, label := range t.Labels {
		for j := range cells {
			out.WriteString(cells[j][t.Cols[j].Codes.At(i)])
			out.WriteByte(',')
		}
		out.WriteString(s.Label.Levels[label].Value + "\n")
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("census: write csv: %w", err)
	}
	return nil
}
