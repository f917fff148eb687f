// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"bufio"
	"compress/gzip"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
)

// BenchmarkPredictRow predicts rows of Adult one at a time by the default learner's
// model at ε = 1: from cells as text, and from cells whose numbers are parsed.
func BenchmarkPredictRow(b *testing.B) {
	model, rows, columns := adultModel(b)
	predictor, err := model.Predictor()
	if err != nil {
		b.Fatal(err)
	}
	var text, parsed [][]discreet.Cell
	for _, row := range rows {
		var t, p []discreet.Cell
		for _, name := range predictor.Columns() {
			cell := row[columns[name]]
			t = append(t, discreet.Text(cell))
			p = append(p, parseCell(cell))
		}
		text, parsed = append(text, t), append(parsed, p)
	}
	for name, cells := range map[string][][]discreet.Cell{"text": text, "numbers": parsed} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				if _, _, err := predictor.Predict(cells[i%len(cells)]); err != nil {
					b.Fatal(err)
				}
				i++
			}
		})
	}
	b.Run("parallel", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if _, _, err := predictor.Predict(parsed[i%len(parsed)]); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// adultModel trains on Adult, and returns some of its rows as text.
func adultModel(b *testing.B) (m *discreet.Model, rows [][]string, columns map[string]int) {
	path := realdata.File(b, "adult/adult.data.gz")
	schema, err := discreet.LoadSchema("../../../examples/adult.yaml")
	if err != nil {
		b.Fatal(err)
	}
	table, err := discreet.ReadTable(b.Context(), schema, path)
	if err != nil {
		b.Fatal(err)
	}
	if m, err = discreet.Train(b.Context(), table, discreet.Options{Epsilon: 1, Account: discreet.Uncounted}); err != nil {
		b.Fatal(err)
	}
	columns = map[string]int{}
	for i, name := range schema.Columns() {
		columns[name] = i
	}
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	text, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	for lines := bufio.NewScanner(text); lines.Scan() && len(rows) < 1000; {
		if cells := strings.Split(lines.Text(), ", "); len(cells) == len(columns) {
			rows = append(rows, cells)
		}
	}
	return m, rows, columns
}

// parseCell is a number where the text is one.
func parseCell(text string) discreet.Cell {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return discreet.Number(x)
	}
	return discreet.Text(text)
}
