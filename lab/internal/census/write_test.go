// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bytes"
	"encoding/csv"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// spelled is the naive twin of the writer: cell by cell, through the schema.
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

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestWriteCSVPassesOnFailures(t *testing.T) {
	tab, stop := Generate(1, 100), errors.New("no room")
	if err := WriteCSV(full{stop}, tab); !errors.Is(err, stop) {
		t.Errorf("got %v, want %v", err, stop)
	}
}
