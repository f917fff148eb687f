// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// canary stands in cells that no error may repeat.
const canary = "c4n4ry"

// tinySchema has one public and one private number, both with defaults, and a
// public category.
// checkFaults returns the faults that Check finds.
func checkFaults(ctx context.Context, s *schema.Schema, paths ...string) ([]FaultError, error) {
	t, err := Check(ctx, s, Options{}, paths...)
	if err != nil {
		return nil, err
	}
	return t.Faults, nil
}

func tinySchema() *schema.Schema {
	seven := 7.0
	return &schema.Schema{
		Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Missing: []string{"", "NA", "?", "null"}},
		Columns: []schema.Column{
			{Name: "a", Role: schema.Public, Kind: schema.Number, Lower: -100, Upper: 100, Default: &seven},
			{Name: "p", Role: schema.Private, Kind: schema.Number, Lower: -100, Upper: 100, Default: &seven},
			{Name: "c", Role: schema.Public, Kind: schema.Category, Levels: []schema.Level{{Value: "x"}, {Value: "y"}},
				Missing: true},
		},
		Label: schema.Label{Name: "label", Position: 3, Role: schema.Public, Positive: 1, Default: -1,
			Levels: []schema.Level{{Value: "0"}, {Value: "1"}}},
	}
}

const header = "a,p,c,label\n"

func TestStructuralFaultsOfCSV(t *testing.T) {
	good := "1,2,x,0\n"
	for _, row := range []struct {
		name, text string
		line       int
		column     string
		fault      string // part of it
	}{
		{"empty file", "", 0, "", "must have a header"},
		{"ragged, short", header + good + "1,2,x\n", 3, "", "must have 4 cells"},
		{"ragged, long", header + good + "1,2,x,0," + canary + "\n", 3, "", "must have 4 cells"},
		{"trailing delimiter in rows", header + "1,2,x,0,\n", 2, "", "must have 4 cells"},
		{"trailing delimiter in the header", "a,p,c,label,\n" + good, 1, "", "must have a name in column 5"},
		{"empty name", "a,p,c,label,,\n", 1, "", "must have a name in column 5"},
		{"two empty names", ",a,p,c,label,\n", 1, "", "must have a name in column 1"},
		{"name twice", "a,p,c,label,p\n" + good, 1, "p", "once"},
		{"label twice", "a,p,c,label,label\n" + good, 1, "label", "once"},
		{"missing name", "a,c,label\n", 1, "p", "must be among the names"},
		{"missing label", "a,p,c\n", 1, "label", "must be among the names"},
		{"extra name", "a,p,c,label,e\n", 1, "e", "must be declared"},
		{"no header after all", canary + ",2,x,0\n", 1, "a", "must be among the names"},
		{"UTF-16, little end first", "\xff\xfea\x00,\x00", 1, "", "utf-16"},
		{"UTF-16, big end first", "\xfe\xff\x00a\x00,", 1, "", "utf-16"},
		{"UTF-16, unmarked", "a\x00,\x00p\x00", 1, "", "utf-16"},
		{"lone carriage returns end the rows", "a,p,c,label\r1,2,x,0\r1,2,x,0\r", 1, "", "end in line feeds"},
		{"blank line between rows", header + good + "\n" + good, 3, "", "blank"},
		{"blank line before the header", "\n" + header + good, 1, "", "blank"},
		{"open quote", header + good + "1,2,\"" + canary + ",0\n1,2,x,0\n", 3, "", "close every quote"},
		{"open quote at the end", header + "1,2,x,\"", 2, "", "close every quote"},
		{"long header", strings.Repeat(canary+",", maxRecord/len(canary)+1), 1, "", "16 MiB"},
		{"public label undeclared", header + good + "1,2,x," + canary + "\n", 3, "label", "one of the classes"},
		{"public label missing", header + "1,2,x,\n", 2, "label", "one of the classes"},
		{"line ends inside cells are not counted", header + "1,2,\"x\n\",0\n1,2,\"x\r\n\",0\n1,2,x," + canary + "\n", 4,
			"label", "one of the classes"},
		{"Parquet in disguise", "PAR1\x15\x04" + canary + "\x00", 1, "", "ends in .parquet"},
	} {
		t.Run(row.name, func(t *testing.T) {
			path := writeFile(t, "t.csv", row.text)
			_, err := Read(context.Background(), tinySchema(), Options{}, path)
			wantFault(t, err, path, row.line, row.column, row.fault)

			found, err := checkFaults(context.Background(), tinySchema(), path)
			if err != nil || len(found) == 0 {
				t.Fatalf("check: %d faults and error %v, want some and none", len(found), err)
			}
			wantFault(t, &found[0], path, row.line, row.column, row.fault)
		})
	}
}

func wantFault(t *testing.T, err error, file string, line int, column, part string) {
	t.Helper()
	var fault *FaultError
	if !errors.As(err, &fault) {
		t.Fatalf("error %v, want a fault", err)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("the error repeats a cell: %v", err)
	}
	if fault.File != file || fault.Line != line || fault.Column != column || !strings.Contains(fault.Fault, part) {
		t.Errorf("fault %+v, want line %d, column %q and %q", *fault, line, column, part)
	}
}

func TestTextThatIsNoFault(t *testing.T) {
	plain := readText(t, tinySchema(), header+"1,2,x,0\n3,4,y,1\n")
	for _, row := range []struct{ name, text string }{
		{"byte order mark", "\xef\xbb\xbf" + header + "1,2,x,0\n3,4,y,1\n"},
		{"carriage returns", "a,p,c,label\r\n1,2,x,0\r\n3,4,y,1\r\n"},
		{"no line end at the end", header + "1,2,x,0\n3,4,y,1"},
		{"blank lines at the end", header + "1,2,x,0\n3,4,y,1\n\n\r\n\n"},
		{"columns in another order", "label,c,p,a\n0,x,2,1\n1,y,4,3\n"},
		{"quotes", "\"a\",p,c,label\n\"1\",2,\"x\",\"0\"\n3,4,y,1\n"},
		{"plus signs, points and exponents", header + "+1,2.0,x,0\n.3e1,400e-2,y,1\n"},
	} {
		got := readText(t, tinySchema(), row.text)
		got.Schema, plain.Schema = nil, nil
		if fmt.Sprint(got) != fmt.Sprint(plain) {
			t.Errorf("%s: another table", row.name)
		}
	}
}

func readText(t *testing.T, s *schema.Schema, text string) *Table {
	t.Helper()
	tab, err := Read(context.Background(), s, Options{}, writeFile(t, "t.csv", text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return tab
}

func TestQuotedCells(t *testing.T) {
	s := tinySchema()
	s.Columns[2].Levels = []schema.Level{{Value: "a,b"}, {Value: "say \"hi\""}, {Value: "two\nlines"},
		{Value: "two\r\nlines"}, {Value: `"bare"`}}
	tab := readText(t, s, header+"1,2,\"a,b\",0\n1,2,\"say \"\"hi\"\"\",0\n1,2,\"two\nlines\",0\n1,2,\"two\r\nlines\",0\n")
	if got := tab.Cols[2].Codes.U8; !slices.Equal(got, []uint8{0, 1, 2, 3}) {
		t.Errorf("codes %v, want 0 to 3", got)
	}
	s.Dialect.Quote = 0
	tab = readText(t, s, header+"1,2,\"bare\",0\n")
	if got := tab.Cols[2].Codes.U8; !slices.Equal(got, []uint8{4}) {
		t.Errorf("without quotes: codes %v, want 4", got)
	}
}

// TestNumbers reads each cell in a private column, where it must become a
// number silently, and in a public one without a default, where an unreadable
// cell is a fault.
func TestNumbers(t *testing.T) {
	const unreadable = 7 // the default
	for _, row := range []struct {
		cell string
		want float64
		bad  bool
	}{
		{"0", 0, false}, {"-0", 0, false}, {"-0.0e5", 0, false}, {"42", 42, false}, {"-1.5", -1.5, false},
		{"1e2", 100, false}, {"1E+1", 10, false}, {"007", 7, false}, {"1e-400", 0, false}, {"5.", 5, false},
		{"101", 100, false}, {"-1e9", -100, false}, {"1e308", 100, false}, {"99999999999999999999", 100, false},
		{"1e400", unreadable, true}, {"-1e400", unreadable, true},
		{`"1,5"`, unreadable, true}, {"1_000", unreadable, true}, {"0x1p3", unreadable, true}, {"0x10", unreadable, true},
		{"0b1", unreadable, true}, {"Inf", unreadable, true}, {"+Inf", unreadable, true}, {"-infinity", unreadable, true},
		{"nan", unreadable, true}, {"NaN", unreadable, true}, {" 3 ", unreadable, true}, {"3 ", unreadable, true},
		{"", unreadable, true}, {"NA", unreadable, true}, {"?", unreadable, true}, {"null", unreadable, true},
		{"+", unreadable, true}, {".", unreadable, true}, {"1e", unreadable, true}, {"--1", unreadable, true},
		{"1.2.3", unreadable, true},
		{"١", unreadable, true}, {canary, unreadable, true},
	} {
		text := header + "1," + row.cell + ",x,0\n" + row.cell + ",9,x,1\n"
		tab := readText(t, tinySchema(), text)
		if tab.Rows != 2 {
			t.Errorf("%q: %d rows, want 2", row.cell, tab.Rows)
		}
		for j, i := range []int{1, 0} {
			got := tab.Cols[j].Values[tab.Cols[j].Codes.At(i)]
			if got != row.want || fmt.Sprint(got) == "-0" {
				t.Errorf("%q in column %d: %v, want %v", row.cell, j, got, row.want)
			}
		}
		s := tinySchema()
		s.Columns[0].Default = nil
		path := writeFile(t, "t.csv", text)
		_, err := Read(context.Background(), s, Options{}, path)
		if row.bad {
			wantFault(t, err, path, 3, "a", "decimal number")
		} else if err != nil {
			t.Errorf("%q: %v", row.cell, err)
		}
	}
}

func TestTrimAndMissingNumberTokens(t *testing.T) {
	s := tinySchema()
	s.Dialect.Trim = true
	s.Dialect.Missing = []string{"-9"}
	tab := readText(t, s, "a, p ,c,\tlabel\n 3 ,\t-9, x , 0\n 3,-9.0,\" y \",\"1\" \n  \n")
	values := tab.Cols[1].Values
	if got := []float64{values[tab.Cols[1].Codes.At(0)],
		values[tab.Cols[1].Codes.At(1)]}; !slices.Equal(got, []float64{7, 7}) {
		t.Errorf("numbers %v, want the default, since -9.0 is the number that means missing", got)
	}
	if got := tab.Cols[2].Codes.U8; !slices.Equal(got, []uint8{0, 1}) {
		t.Errorf("categories %v, want 0 1", got)
	}
}

func TestCategories(t *testing.T) {
	s := tinySchema()
	s.Columns[2].Levels = []schema.Level{{Value: "x", Aliases: []string{"ex", "X"}}, {Value: "null"}}
	s.Columns = append(s.Columns, schema.Column{Name: "d", Role: schema.Private, Kind: schema.Category,
		Levels: []schema.Level{{Value: "u"}}})
	tab := readText(t, s, "a,p,c,d,label\n1,1,x,u,0\n1,1,ex,"+canary+
		",0\n1,1,X,?,0\n1,1,null,U,0\n1,1,?,u,0\n1,1, x,u,0\n")
	if got, want := tab.Cols[2].Codes.U8, []uint8{0, 0, 0, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("c: codes %v, want %v (a level wins over a missing token)", got, want)
	}
	if got, want := tab.Cols[3].Codes.U8, []uint8{0, 1, 1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("d: codes %v, want %v (no missing level: other)", got, want)
	}
}

func TestPrivateLabelsNeverFault(t *testing.T) {
	s := tinySchema()
	s.Label.Role, s.Label.Default = schema.Private, 1
	tab := readText(t, s, header+"1,1,x,0\n1,1,x,"+canary+"\n1,1,x,\n1,1,x,0\n")
	if want := []uint8{0, 1, 1, 0}; !slices.Equal(tab.Labels, want) {
		t.Errorf("labels %v, want %v", tab.Labels, want)
	}
	found, err := checkFaults(context.Background(), s, writeFile(t, "t.csv", header+"1,"+canary+",x,"+canary+"\n"))
	if err != nil || len(found) > 0 {
		t.Errorf("check reports private cells: %v, %v", found, err)
	}
}

func TestOneRowAndOneClass(t *testing.T) {
	if tab := readText(t, tinySchema(), header+"1,1,x,1\n"); tab.Rows != 1 || tab.Labels[0] != 1 {
		t.Errorf("one row: %d rows, labels %v", tab.Rows, tab.Labels)
	}
	if tab := readText(t, tinySchema(), header+strings.Repeat("1,1,x,1\n", 3000)); tab.Rows != 3000 ||
		len(tab.Labels) != 3000 {
		t.Errorf("one class: %d rows, %d labels", tab.Rows, len(tab.Labels))
	}
}

func TestCheckGoesOn(t *testing.T) {
	text := header + "1,2,x,0\n1,2,x\n1,2,x,2\n\n1,2,\x00,0\n1,2,x,3\n"
	found, err := checkFaults(context.Background(), tinySchema(), writeFile(t, "t.csv", text))
	if err != nil {
		t.Fatal(err)
	}
	var lines []int
	for i := range found {
		lines = append(lines, found[i].Line)
	}
	if want := []int{3, 4, 5}; !slices.Equal(lines, want) || found[1].Alike != 1 { // line 7 has the fault of line 4
		t.Errorf("faults on lines %v, want %v; %d alike", lines, want, found[1].Alike)
	}
	found, err = checkFaults(context.Background(), tinySchema(), writeFile(t, "t.csv", header+strings.Repeat("1\n", 1000)))
	if err != nil || len(found) != maxFaults {
		t.Errorf("%d faults and error %v, want %d and none", len(found), err, maxFaults)
	}
}

// Refused cells of a public column are one fault, with their number, the cause and what mends it. The cause is that of
// the column's own cells alone.
func TestCheckNamesTheCauseOfRefusedCells(t *testing.T) {
	text := header + strings.Repeat("1,2, x ,0\n", 300) + strings.Repeat("1,2,x,0 \n", 250)
	found, err := checkFaults(context.Background(), tinySchema(), writeFile(t, "t.csv", text))
	if err != nil || len(found) != 1 || found[0].Line != 302 || found[0].Alike != 249 {
		t.Fatalf("faults %v, error %v", found, err)
	}
	for _, want := range []string{"must hold one of the classes", "write trim: true under file (and 249 further cells)"} {
		if text := found[0].Error(); !strings.Contains(text, want) {
			t.Errorf("%s\ndoes not say %q", text, want)
		}
	}
}

func TestDialectsBeforeTheRows(t *testing.T) {
	s := tinySchema()
	s.Dialect.Header = false
	s.Dialect.Comment = "%"
	s.Dialect.SkipUntil = "@data"
	s.Dialect.SkipRecords = 1
	tab := readText(t, s, "@relation \"odd\n@attribute a\r\n\n@data \r\nskipped \" line\n% 5\" comment\n1,2,x,0\n%\n"+
		"3,4,y,1\n% end\n\n% end\n")
	if tab.Rows != 2 || tab.Labels[1] != 1 {
		t.Errorf("%d rows, labels %v; want 2 rows", tab.Rows, tab.Labels)
	}
	path := writeFile(t, "t.csv", "@relation\n1,2,x,0\n")
	_, err := Read(context.Background(), s, Options{}, path)
	wantFault(t, err, path, 0, "", "skips to")
	if tab := readText(t, s, "@data\n\n1,2,x,0\n"); tab.Rows != 1 {
		t.Errorf("%d rows, want 1", tab.Rows)
	}
}

func TestHeaderlessWidth(t *testing.T) {
	s := tinySchema()
	s.Dialect.Header = false
	path := writeFile(t, "t.csv", "1,2,x\n")
	_, err := Read(context.Background(), s, Options{}, path)
	wantFault(t, err, path, 1, "", "must have 4 cells")
	for _, text := range []string{"1,2,x\n", "1,2,x," + canary + "\n"} {
		tab, err := Read(context.Background(), s, Options{Labels: LabelsIgnored}, writeFile(t, "t.csv", text))
		if err != nil || tab.Labels != nil || tab.Cols[2].Codes.At(0) != 0 {
			t.Errorf("%q without labels: %v, %v", text, tab, err)
		}
	}
}

func TestLabelsIgnored(t *testing.T) {
	for _, text := range []string{"a,p,c\n1,2,x\n", header + "1,2,x," + canary + "\n"} {
		tab, err := Read(context.Background(), tinySchema(), Options{Labels: LabelsIgnored}, writeFile(t, "t.csv", text))
		if err != nil || tab.Labels != nil || tab.Rows != 1 {
			t.Errorf("%q: %v, %v", text, tab, err)
		}
	}
}

func TestIgnoredColumnsMayBeAbsent(t *testing.T) {
	s := tinySchema()
	s.Columns[0].Role = schema.Ignored
	for _, text := range []string{"p,c,label\n2,x,1\n", header + canary + ",2,x,1\n"} {
		if tab := readText(t, s, text); tab.Cols[0].Codes.Len() != 0 || tab.Labels[0] != 1 {
			t.Errorf("%q: the ignored column was read", text)
		}
	}
}

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGzip(t *testing.T) {
	text := header + strings.Repeat("1,2,x,0\n", 100)
	whole := packed(t, text)
	flipped := slices.Clone(whole)
	flipped[len(flipped)-6] ^= 1 // in the checksum
	for _, row := range []struct {
		name, part string
		bytes      []byte
	}{
		{"cut short", "cut short", whole[:len(whole)/2]},
		{"cut in the header", "cut short", whole[:5]},
		{"checksum", "undamaged", flipped},
		{"text behind the end", "undamaged", append(slices.Clone(whole), canary+"+more"...)},
	} {
		path := writeFile(t, "t.csv.gz", string(row.bytes))
		_, err := Read(context.Background(), tinySchema(), Options{}, path)
		var fault *FaultError
		if !errors.As(err, &fault) || !strings.Contains(fault.Fault, row.part) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: error %v, want a fault with %q", row.name, err, row.part)
		}
	}
	tab, err := Read(context.Background(), tinySchema(), Options{},
		writeFile(t, "t.csv.gz", string(whole)+string(packed(t, "5,6,y,1\n"))))
	if err != nil || tab.Rows != 101 {
		t.Errorf("two members: %v, %v; want 101 rows", tab, err)
	}
}

func TestSeveralFilesInOrder(t *testing.T) {
	a := writeFile(t, "a.csv", header+"1,2,x,0\n")
	b := writeFile(t, "b.csv", "label,c,p,a\n1,y,4,3\n")
	tab, err := Read(context.Background(), tinySchema(), Options{}, a, b, writeFile(t, "a.csv", header+"1,2,x,0\n"))
	if err != nil || !slices.Equal(tab.Labels, []uint8{0, 1, 0}) || !slices.Equal(tab.Cols[0].Values, []float64{1, 3}) {
		t.Errorf("table %+v, error %v", tab, err)
	}
}

func TestRefusals(t *testing.T) {
	ctx := context.Background()
	path := writeFile(t, "t.csv", header+"1,2,x,0\n1,2,x,0\n1,2,x,0\n")
	bad := func(change func(*schema.Schema)) *schema.Schema {
		s := tinySchema()
		change(s)
		return s
	}
	for _, row := range []struct {
		name  string
		s     *schema.Schema
		opts  Options
		paths []string
	}{
		{"no file", tinySchema(), Options{}, nil},
		{"no standard input", tinySchema(), Options{}, []string{"-"}},
		{"negative cap", tinySchema(), Options{MaxRows: -1}, []string{path}},
		{"private number without default", bad(func(s *schema.Schema) { s.Columns[1].Default = nil }), Options{},
			[]string{path}},
		{"private label without default", bad(func(s *schema.Schema) { s.Label.Role = schema.Private }), Options{},
			[]string{path}},
		{"no bounds", bad(func(s *schema.Schema) { s.Columns[1].Upper = -100 }), Options{}, []string{path}},
		{"delimiter", bad(func(s *schema.Schema) { s.Dialect.Delimiter = 'é' }), Options{}, []string{path}},
		{"quote", bad(func(s *schema.Schema) { s.Dialect.Quote = ',' }), Options{}, []string{path}},
	} {
		_, err := Read(ctx, row.s, row.opts, row.paths...)
		var param *dp.ParamError
		if !errors.As(err, &param) {
			t.Errorf("%s: error %v, want a ParamError", row.name, err)
		}
	}
	_, err := Read(ctx, tinySchema(), Options{MaxRows: 2}, path)
	wantFault(t, err, path, 4, "", "beyond 2 rows")
	tab, err := Read(ctx, tinySchema(), Options{Stdin: strings.NewReader(header + "1,2,x,0\n")}, "-")
	if err != nil || tab.Rows != 1 {
		t.Errorf("standard input: %v, %v", tab, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := Read(cancelled, tinySchema(), Options{}, path); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: error %v", err)
	}
	if _, err := Read(ctx, tinySchema(), Options{}, path+".none"); err == nil || errors.As(err, new(*FaultError)) {
		t.Errorf("no such file: error %v, want one of the system", err)
	}
}
