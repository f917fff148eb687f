// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// scored is what predict adds.
func scored() []Added {
	return []Added{
		{Name: "label", Text: func(row int) string { return []string{"no", "yes, or so"}[row%2] }},
		{Name: "score", Number: func(row int) float64 { return float64(row) / 4 }},
	}
}

func appended(t *testing.T, s *schema.Schema, opts Options, format Format, paths ...string) string {
	t.Helper()
	var out bytes.Buffer
	if err := CopyRows(context.Background(), s, opts, &out, format, scored(), nil, paths...); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestAppendKeepsTextAsItIs(t *testing.T) {
	in := "a,p,c,label\r\n 1 ,\"1,5\",\"x\"\"\ny\",0\n1e400,,,2\n\n"
	got := appended(t, tinySchema(), Options{}, CSV, writeFile(t, "t.csv", in))
	want := "a,p,c,label,label_2,score\n 1 ,\"1,5\",\"x\"\"\ny\",0,no,0\n1e400,,,2,\"yes, or so\",0.25\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAppendPutsLaterFilesInTheOrderOfTheFirst(t *testing.T) {
	a := writeFile(t, "a.csv", "a,p,c\n1,2,x\n")
	b := writeFile(t, "b.csv", "c,a,p\n\"q,\"\"r\"\"\",3,NA\n")
	got := appended(t, tinySchema(), Options{Labels: LabelsIgnored}, CSV, a, b)
	want := "a,p,c,label,score\n1,2,x,no,0\n3,NA,\"q,\"\"r\"\"\",\"yes, or so\",0.25\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAppendWithoutHeader(t *testing.T) {
	s := tinySchema()
	s.Dialect = schema.Dialect{Delimiter: ';', Trim: true, Comment: "%"}
	got := appended(t, s, Options{}, CSV, writeFile(t, "t.csv", "%c\n1; 2;x;0\n"))
	if want := "1;2;x;0;no;0\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Dialect.Delimiter = ','
	err := CopyRows(context.Background(), s, Options{}, &bytes.Buffer{}, CSV, scored(), nil,
		writeFile(t, "t.csv", "1,2,x,0\n1,2,x,0\n"))
	if !errors.Is(err, errUnquotable) {
		t.Errorf("a delimiter in a cell without quotes: error %v", err)
	}
}

// What a schema skips stands in the result too, so that the result fits the schema.
func TestAppendKeepsWhatIsSkipped(t *testing.T) {
	s := tinySchema()
	s.Dialect.SkipUntil, s.Dialect.SkipRecords = "@data", 1
	path := writeFile(t, "t.csv", "@relation r\n@data\nwritten by hand\n"+header+"1,2,x,0\n3,4,y,1\n")
	var out bytes.Buffer
	second := func(row int) bool { return row == 1 }
	if err := CopyRows(context.Background(), s, Options{}, &out, CSV, nil, second, path); err != nil {
		t.Fatal(err)
	}
	if want := "@data\n\n" + header + "3,4,y,1\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	got, err := Read(context.Background(), s, Options{}, writeFile(t, "out.csv", out.String()))
	if err != nil || got.Rows != 1 {
		t.Errorf("%v, want one row", err)
	}
}

// TestAppendRoundTrip writes a table as CSV and Parquet, from both, and reads
// the results back as the table it was.
func TestAppendRoundTrip(t *testing.T) {
	ctx := context.Background()
	s := smallSchema()
	rows := randomRows(3000)
	paths := map[Format]string{CSV: writeCSV(t, rows), Parquet: writeParquet(t, rows)}
	want, err := Read(ctx, s, Options{}, paths[CSV])
	if err != nil {
		t.Fatal(err)
	}
	// The same schema with the added columns.
	wider := smallSchema()
	wider.Columns = append(wider.Columns,
		schema.Column{Name: "label", Role: schema.Public, Kind: schema.Category,
			Levels: []schema.Level{{Value: "no"}, {Value: "yes, or so"}}},
		schema.Column{Name: "score", Role: schema.Public, Kind: schema.Number, Lower: 0, Upper: 1e6})
	for from, path := range paths {
		for _, to := range []Format{CSV, Parquet} {
			name := fmt.Sprintf("%s to %s", from, to)
			out := writeFile(t, "out."+string(to), appended(t, s, Options{}, to, path))
			names, err := ReadHeader(t.Context(), out, s.Dialect)
			if want := []string{"age", "income", "city", "rank", "note", "sick", "label", "score"}; err != nil ||
				!reflect.DeepEqual(names, want) {
				t.Errorf("%s: columns %q, error %v", name, names, err)
			}
			got, err := Read(ctx, wider, Options{}, out)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			last := got.Rows - 1
			if score := got.Cols[6].Values[got.Cols[6].Codes.At(last)]; score != float64(last)/4 ||
				int(got.Cols[5].Codes.At(last)) != last%2 {
				t.Errorf("%s: other predictions", name)
			}
			got.Schema, got.Cols = s, got.Cols[:5]
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: another table", name)
			}
		}
	}
}

// Columns of Parquet keep their types and their bytes beside added ones, in files of several row groups and
// in several files, also those that the schema cannot read; and no row is written that was not reached.
func TestAddedColumnsLeaveParquetAsItIs(t *testing.T) {
	type wideRow struct {
		Age    *float64  `parquet:"age,optional"`
		Income int64     `parquet:"income"`
		City   *string   `parquet:"city,optional,dict"`
		Rank   int32     `parquet:"rank"`
		Sick   bool      `parquet:"sick"`
		Seen   time.Time `parquet:"seen,timestamp(microsecond)"`
		Parts  []int32   `parquet:"parts,list"`
		Price  int64     `parquet:"price,decimal(2:12)"`
	}
	type addedRow struct {
		Label string  `parquet:"label"`
		Score float64 `parquet:"score"`
	}
	var wide []wideRow
	for i, r := range randomRows(700) {
		wide = append(wide, wideRow{Age: r.Age, City: r.City, Rank: r.Rank, Sick: r.Sick, Income: int64(i),
			Seen: time.UnixMicro(int64(i)).UTC(), Parts: []int32{int32(i), 7}[:i%3%2+1], Price: int64(i)})
	}
	a := writeParquet(t, wide[:500], parquet.MaxRowsPerRowGroup(200), parquet.Compression(&parquet.Zstd))
	b := writeParquet(t, wide[500:], parquet.Compression(&parquet.Zstd))
	path := writeFile(t, "out.parquet", appended(t, smallSchema(), Options{Extra: ExtraKept}, Parquet, a, b))
	got, err := parquet.ReadFile[wideRow](path)
	more, err2 := parquet.ReadFile[addedRow](path)
	if err != nil || err2 != nil || !reflect.DeepEqual(got, wide) || len(more) != len(wide) {
		t.Fatalf("other rows, errors %v and %v", err, err2)
	}
	for i, row := range more {
		if row != (addedRow{scored()[0].Text(i), float64(i) / 4}) {
			t.Fatalf("row %d has %+v", i, row)
		}
	}
	dropped := writeFile(t, "out.parquet", appended(t, smallSchema(), Options{Extra: ExtraDropped}, Parquet, a, b))
	names, err := ReadHeader(t.Context(), dropped, smallSchema().Dialect)
	if want := []string{"age", "income", "city", "rank", "sick", "label", "score"}; err != nil ||
		!reflect.DeepEqual(names, want) {
		t.Errorf("columns %q, error %v", names, err)
	}
	var out bytes.Buffer
	reach := func(row int) bool { return row < 450 }
	err = CopyRows(t.Context(), smallSchema(), Options{Extra: ExtraKept}, &out, Parquet, scored(), reach, a, b)
	if !errors.Is(err, errUnreached) {
		t.Errorf("a row without a prediction: error %v", err)
	}
}

func TestAppendRefusals(t *testing.T) {
	ctx := context.Background()
	if err := CopyRows(ctx, tinySchema(), Options{}, &bytes.Buffer{}, CSV, nil, nil,
		"-"); !errors.As(err, new(*dp.ParamError)) {
		t.Errorf("standard input: error %v", err)
	}
	for _, text := range []string{"a,p,c\n", header + canary + "\n", header + "1,2,\"" + canary} {
		err := CopyRows(ctx, tinySchema(), Options{}, &bytes.Buffer{}, CSV, nil, nil, writeFile(t, "t.csv", text))
		if !errors.As(err, new(*FaultError)) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: error %v, want a fault without cells", text, err)
		}
	}
	err := CopyRows(ctx, tinySchema(), Options{}, full{}, CSV, nil, nil, writeFile(t, "t.csv", header+"1,2,x,0\n"))
	if !errors.Is(err, os.ErrClosed) {
		t.Errorf("full disk: error %v", err)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }
