// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// spelled is the naive twin of the writers: cell by cell, through the schema.
func spelled(t *dataset.Table) (rows [][]string) {
	for i := range t.Rows {
		var row []string
		for j, c := range t.Schema.Columns {
			code := int(t.Cols[j].Codes.At(i))
			switch {
			case c.Kind == schema.Number:
				row = append(row, strconv.FormatFloat(t.Cols[j].Values[code], 'f', -1, 64))
			case code == c.MissingCode():
				row = append(row, "?")
			default:
				row = append(row, c.Levels[code].Value)
			}
		}
		rows = append(rows, append(row, t.Schema.Label.Levels[t.Labels[i]].Value))
	}
	return rows
}

func sameRows(t *testing.T, got, want [][]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if g, w := strings.Join(got[i], "|"), strings.Join(want[i], "|"); g != w {
			t.Fatalf("row %d: got %s, want %s", i, g, w)
		}
	}
}

func TestCSVSpellsEveryCell(t *testing.T) {
	for _, rows := range []int{0, 1, 5000} {
		tab := Generate(11, rows)
		var b bytes.Buffer
		if err := WriteCSV(&b, tab); err != nil {
			t.Fatal(err)
		}
		got, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		const header = "age,sex,region,settlement,origin,education,work_class,occupation,marital_status," +
			"household_size,weekly_hours,years_in_job,capital_income,sampling_weight,high_income"
		if strings.Join(got[0], ",") != header {
			t.Errorf("header %v", got[0])
		}
		sameRows(t, got[1:], spelled(tab))
	}
}

func TestParquetSpellsEveryCell(t *testing.T) {
	for _, rows := range []int{0, 1, 5000} {
		tab := Generate(12, rows)
		var b bytes.Buffer
		if err := WriteParquet(&b, tab); err != nil {
			t.Fatal(err)
		}
		sameRows(t, readParquet(t, b.Bytes()), spelled(tab))
	}
}

func TestParquetRowGroups(t *testing.T) {
	const rows = PartRows + 10
	var whole bytes.Buffer
	if err := WriteParquet(&whole, Generate(13, rows)); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(whole.Bytes()), int64(whole.Len()))
	if err != nil {
		t.Fatal(err)
	}
	if g := f.RowGroups(); len(g) != 2 || g[0].NumRows() != PartRows || g[1].NumRows() != 10 {
		t.Errorf("got %d row groups", len(g))
	}
	if name := f.Schema().Columns()[columns][0]; name != "high_income" {
		t.Errorf("the last column is %s", name)
	}
}

func readParquet(t *testing.T, file []byte) (rows [][]string) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range f.RowGroups() {
		r := g.Rows()
		buf := make([]parquet.Row, 64)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				var cells []string
				for _, v := range row {
					cells = append(cells, v.String())
				}
				rows = append(rows, cells)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		r.Close()
	}
	return rows
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestWritersPassOnFailures(t *testing.T) {
	tab, stop := Generate(1, 100), errors.New("no room")
	for name, write := range map[string]func(io.Writer, *dataset.Table) error{"csv": WriteCSV, "parquet": WriteParquet} {
		if err := write(full{stop}, tab); !errors.Is(err, stop) {
			t.Errorf("%s: got %v, want %v", name, err, stop)
		}
	}
}
