// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// smallSchema has a column of every sort.
func smallSchema() *schema.Schema {
	minusOne := -1.0
	return &schema.Schema{
		Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Missing: []string{"", "NA", "-99"}},
		Columns: []schema.Column{
			{Name: "age", Role: schema.Private, Kind: schema.Number, Lower: 0, Upper: 100, Default: &minusOne},
			{Name: "income", Role: schema.Public, Kind: schema.Number, Lower: -10, Upper: 1e6, Default: &minusOne},
			{Name: "city", Role: schema.Private, Kind: schema.Category,
				Levels: []schema.Level{{Value: "Rome"}, {Value: "Oslo", Aliases: []string{"Kristiania"}}}, Missing: true},
			{Name: "rank", Role: schema.Public, Kind: schema.Category,
				Levels: []schema.Level{{Value: "1"}, {Value: "2"}, {Value: "3"}}},
			{Name: "note", Role: schema.Ignored, Kind: schema.Category},
		},
		Label: schema.Label{Name: "sick", Position: 5, Role: schema.Public, Positive: 1, Default: -1,
			Levels: []schema.Level{{Value: "no", Aliases: []string{"false"}}, {Value: "yes", Aliases: []string{"true"}}}},
	}
}

type smallRow struct {
	Age    *float64 `parquet:"age,optional"`
	Income *int64   `parquet:"income,optional,dict"`
	City   *string  `parquet:"city,optional,dict"`
	Rank   int32    `parquet:"rank"`
	Note   string   `parquet:"note"`
	Sick   bool     `parquet:"sick"`
}

func randomRows(n int) []smallRow {
	random := rand.New(rand.NewPCG(1, 2))
	rows := make([]smallRow, n)
	for i := range rows {
		r := &rows[i]
		if random.IntN(5) > 0 {
			x := float64(random.IntN(300)-100) / 2
			r.Age = &x
		}
		if random.IntN(5) > 0 || i > n/2 {
			x := int64(random.IntN(2000) - 100)
			r.Income = &x
		}
		if random.IntN(5) > 0 {
			city := []string{"Rome", "Oslo", "Kristiania", "Paris", "NA"}[random.IntN(5)]
			r.City = &city
		}
		r.Rank = int32(random.IntN(5))
		r.Note = "unread"
		r.Sick = random.IntN(2) == 1
	}
	return rows
}

func writeCSV(t testing.TB, rows []smallRow) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("age,income,city,rank,note,sick\n")
	for i := range rows {
		r := &rows[i]
		for _, cell := range []any{r.Age, r.Income, r.City, &r.Rank, &r.Note} {
			if v := reflect.ValueOf(cell); !v.IsNil() {
				fmt.Fprint(&b, v.Elem().Interface())
			}
			b.WriteByte(',')
		}
		fmt.Fprintln(&b, r.Sick)
	}
	return writeFile(t, "table.csv", b.String())
}

func writeFile(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeParquet[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := parquet.NewGenericWriter[T](f, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestParquetReadsAsTheSameCSV(t *testing.T) {
	rows := randomRows(5000)
	for i := 1000; i < 4200; i++ { // long enough for whole runs of missing cells
		rows[i].Age, rows[i].City = nil, nil
	}
	s := smallSchema()
	ctx := context.Background()
	want, err := Read(ctx, s, Options{}, writeCSV(t, rows))
	if err != nil {
		t.Fatal(err)
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd,
		&parquet.Lz4Raw, &parquet.Brotli} {
		for _, version := range []int{1, 2} {
			for _, page := range []int{300, 1 << 20} {
				got, err := Read(ctx, s, Options{}, writeParquet(t, rows,
					parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(page),
					parquet.MaxRowsPerRowGroup(1700)))
				if err != nil {
					t.Errorf("%v, pages v%d of %d bytes: %v", codec, version, page, err)
					continue
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%v, pages v%d of %d bytes: another table than from CSV", codec, version, page)
				}
			}
		}
	}
}

// Days of Parquet's type DATE are those that text says; a missing one is the default.
func TestDatesOfParquet(t *testing.T) {
	s, err := schema.Parse([]byte(`name: stays
unit: one stay
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, missing: [""]}
columns:
  - name: admitted
    role: private
    date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2024-12-31, default: 2020-01-01}
  - {name: again, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
derived:
  - {name: weekday, weekday: [admitted]}
`))
	if err != nil {
		t.Fatal(err)
	}
	type stay struct {
		Admitted *int32 `parquet:"admitted,optional,date"`
		Again    string `parquet:"again"`
	}
	text, stays := "admitted,again\n", []stay(nil)
	for i, day := range []string{"05.03.2021", "29.02.2016", "", "31.12.1969", "01.01.2030", "05.03.2021"} {
		row := stay{Again: []string{"no", "yes"}[i%2]}
		if at, err := time.Parse("02.01.2006", day); err == nil {
			days := int32(math.Floor(float64(at.Unix()) / 86400))
			row.Admitted = &days
		}
		stays = append(stays, row)
		text += day + "," + row.Again + "\n"
	}
	read := func(path string) *Table {
		tab, err := Read(context.Background(), s, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	want, got := read(writeFile(t, "stays.csv", text)), read(writeParquet(t, stays))
	for j := range want.Cols {
		for i := range want.Rows {
			w, g := &want.Cols[j], &got.Cols[j]
			if x, y := w.Values[w.Codes.At(i)], g.Values[g.Codes.At(i)]; x != y {
				t.Errorf("column %d, row %d: %g from text and %g from DATE", j, i, x, y)
			}
		}
	}
}
