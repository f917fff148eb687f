// SPDX-License-Identifier: Apache-2.0

package census

import (
	"io"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// WriteParquet writes a table of this package as one Parquet file: numbers as doubles, categories as
// strings. A missing answer is the string "?", as in CSV.
func WriteParquet(w io.Writer, t *dataset.Table) error {
	s := Schema()
	var cells []dataset.Added
	for j := range s.Columns {
		codes, texts, numbers := &t.Cols[j].Codes, cellTexts(s, j), sharedWorld().values[j]
		c := dataset.Added{Name: s.Columns[j].Name}
		if s.Columns[j].Kind == schema.Number {
			c.Number = func(row int) float64 { return numbers[codes.At(row)] }
		} else {
			c.Text = func(row int) string { return texts[codes.At(row)] }
		}
		cells = append(cells, c)
	}
	label := func(row int) string { return s.Label.Levels[t.Labels[row]].Value }
	return dataset.WriteAdded(w, s, t.Rows, append(cells, dataset.Added{Name: s.Label.Name, Text: label}))
}
