// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding"
	_ "modernc.org/sqlite"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/read/rows"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
)

// written is a schema, a table and a neighbour of it whose protected cells of some rows are
// arbitrary, and what a correct writer needs to know.
type written struct {
	src       *rand.Rand
	text      string // of the schema
	s         *schema.Schema
	names     []string // of the file's columns
	protected []bool
	quoteAll  bool
	end       string // of lines
	last      bool   // the last line has its end
	comments  string // before the first row
	skipped   string // before all
	pair      [2][][]string
}

func (w *written) coin(n int) bool { return w.src.IntN(n) == 0 }

func pick[T any](src *rand.Rand, of ...T) T { return of[src.IntN(len(of))] }

// drawWritten draws a case. It returns nil if the schema that was drawn cannot be.
func drawWritten(seed uint64) *written {
	src := rand.New(rand.NewPCG(seed, 41))
	w := &written{src: src}
	delimiter := pick(src, ",", ",", ";", "\t", "\t", "|", " ")
	quote := pick(src, `"`, `"`, "", "", "'")
	comment := pick(src, "", "#", "%", "//", "|", "#,")
	header, trim := w.coin(2), w.coin(2)
	until, records := pick(src, "", "", "@data"), pick(src, 0, 0, 1, 2)
	decimal := pick(src, "", ",")
	missing := pick(src, `[""]`, `["?", "NA"]`, `["", "-9", "."]`, `[]`)
	if decimal == delimiter && quote == "" {
		decimal = ""
	}
	thousands, minus := pick(src, "", "", ",", ".", "'", " "), pick(src, "", "trailing")
	if thousands == decimal || thousands == "." && decimal == "" || thousands == quote || thousands == delimiter && quote == "" {
		thousands = ""
	}
	relation := pick(src, "replace-one", "replace-one", "add-remove")
	whole := relation == "add-remove" || w.coin(3)
	var b strings.Builder
	fmt.Fprintf(&b, "name: t\nunit: one row\nrelation: %s\nfile:\n", relation)
	fmt.Fprintf(&b, "  delimiter: %q\n  quote: %q\n  header: %v\n  missing: %s\n", delimiter, quote, header, missing)
	if trim {
		b.WriteString("  trim: true\n")
	}
	for key, value := range map[string]string{"decimal": decimal, "thousands": thousands, "minus": minus, "comment": comment,
		"skip_until": until} {
		if value != "" {
			fmt.Fprintf(&b, "  %s: %q\n", key, value)
		}
	}
	if records > 0 {
		fmt.Fprintf(&b, "  skip_records: %d\n", records)
	}
	b.WriteString("columns:\n")
	labelAt, features := src.IntN(4), 1+src.IntN(3)
	for i := range features + 1 {
		role := pick(src, "private", "private", "public", "ignored")
		name := "c" + strconv.Itoa(i)
		if i == min(labelAt, features) {
			role = pick(src, "private", "public")
			standIn := ""
			if role == "private" || whole {
				standIn = ", default: no way"
			}
			fmt.Fprintf(&b, "  - {name: y, role: %s, label: {levels: [no way, aye], positive: aye%s}}\n", role, standIn)
			name = "y"
		} else if role == "ignored" {
			if header && w.coin(2) {
				continue // the file lacks it, and so does the schema
			}
			fmt.Fprintf(&b, "  - {name: %s, role: ignored}\n", name)
		} else {
			standIn := ", default: 3"
			if role == "public" && !whole && w.coin(2) {
				standIn = ""
			}
			day := ", default: 2020-02-29"
			if standIn == "" {
				day = ""
			}
			kind := pick(src, "number: {lower: 0, upper: 9"+standIn+"}",
				"number: {lower: 0, upper: 9, special: [96], default: 3}",
				"number: {lower: 0, upper: 9, missing: true, default: 3}",
				"date: {format: DD.MM.YYYY, lower: 2015-01-01, upper: 2024-12-31"+day+"}",
				"date: {format: D.M.YYYY, zone: Europe/Berlin, days: true, lower: 2015-01-01, upper: 2024-12-31, special: [9999-12-31], "+
					"default: 2020-02-29}",
				"category: {levels: [x, z]}", "category: {levels: [x, z], missing: true}",
				`category: {levels: [x, {value: z, prefixes: ["25", "#"]}]}`, "category: {levels: [x], buckets: 3}")
			fmt.Fprintf(&b, "  - {name: %s, role: %s, %s}\n", name, role, kind)
		}
		w.names = append(w.names, name)
		w.protected = append(w.protected, whole || role != "public")
	}
	w.text = b.String()
	var err error
	if w.s, err = schema.Parse([]byte(w.text)); err != nil {
		return nil
	}
	w.quoteAll, w.end, w.last = w.coin(4), pick(src, "\n", "\n", "\r\n"), !w.coin(4)
	if until != "" {
		w.skipped = "@relation \"x\n" + until + "\n"
	}
	for range records {
		w.skipped += "skipped,\x00\n"
	}
	if comment != "" && (header || comment != "|" && comment != "#,") {
		// Without a header it is a comment by another number of cells.
		w.comments = comment + strings.Repeat(delimiter, len(w.names)+3) + "\n"
	}
	n := pick(src, 1, 2, 3, 9)
	for range n {
		row := make([]string, len(w.names))
		for j := range row {
			row[j] = pick(src, "x", "z", "5", "7.5", "0", "aye", "no way", "29.02.2020", "96", "")
			if !w.protected[j] {
				row[j] = pick(src, "x", "5", "0", "aye", "aye", "no way", "29.02.2020")
			}
		}
		w.pair[0] = append(w.pair[0], row)
		row = slices.Clone(row)
		w.pair[1] = append(w.pair[1], row)
	}
	changed := []int{0, n - 1, src.IntN(n)}[src.IntN(3)]
	for i := range w.pair[1] {
		for j := range w.names {
			if w.protected[j] && (i == changed || w.coin(8)) {
				cell := w.anyCell(delimiter, quote, comment)
				if i > 0 && w.coin(3) { // a cell that begins as the one above it
					w.pair[1][i-1][j] = cell
					cell += w.anyCell(delimiter, quote, comment)
				}
				w.pair[1][i][j] = cell
			}
		}
	}
	return w
}

// anyCell is a cell that aims at what readers look for.
func (w *written) anyCell(delimiter, quote, comment string) string {
	marks := []string{"", " ", "\t", delimiter, quote, comment, "\n", "\r", "\r\n", "\x00", "PAR1", "\x1f\x8b",
		"\x28\xb5\x2f\xfd", "BZh9", "PK\x03\x04", "\xef\xbb\xbf", "\xff\xfe", "\xfe\xff", "\ufeff",
		"\xff", "\xc3", "\xed\xa0\x80", "\u2028", "@data", "?", "NA", "nan", "-inf", "1e999", "-1e-999",
		"0x1p3", "1_0", strings.Repeat("9", 400), "0." + strings.Repeat("0", 400) + "1", "1,5", "1.5",
		",", ".", "29.02.2021", "31.12.9999", "1.3.2020", "T23:30:00Z", " 00:30+03", "1,234", "12-", "\u2212", "\u00a0",
		"00.00.0000", "2020-02-29", "x", "z", "250", "#", "'",
		`"`, `""`, "\\", "\\N", "=1+1", "NULL", "true", "aye", "c0", "y", "\x1a", "\x04"}
	switch w.src.IntN(40) {
	case 0:
		return strings.Repeat(pick(w.src, marks...)+"a", 1<<w.src.IntN(17))
	case 1:
		if w.coin(6) {
			return strings.Repeat("1", 1<<20+w.src.IntN(3)-1)
		}
	case 2:
		if w.coin(40) {
			return strings.Repeat("long ", 4<<20)
		}
	}
	var b strings.Builder
	if w.coin(4) {
		b.WriteString(pick(w.src, comment, "PAR1", "\x1f\x8b", "\xef\xbb\xbf", "\xff\xfe"))
	}
	for range 1 + w.src.IntN(4) {
		if w.coin(4) {
			for range w.src.IntN(6) {
				b.WriteByte(byte(w.src.IntN(256)))
			}
			continue
		}
		b.WriteString(pick(w.src, marks...))
	}
	return b.String()
}

// csv is a table as a correct writer of the dialect writes it.
func (w *written) csv(table [][]string) string {
	d := w.s.Dialect
	var b strings.Builder
	b.WriteString(w.skipped)
	b.WriteString(w.comments)
	write := func(row []string) {
		for j, cell := range row {
			if j > 0 {
				b.WriteRune(d.Delimiter)
			}
			switch {
			case d.Quote == 0:
				b.WriteString(w.bare(cell))
			case w.quoteAll || strings.ContainsAny(cell, "\r\n"+string(d.Quote)+string(d.Delimiter)):
				b.WriteRune(d.Quote)
				b.WriteString(strings.ReplaceAll(cell, string(d.Quote), string(d.Quote)+string(d.Quote)))
				b.WriteRune(d.Quote)
			default:
				b.WriteString(cell)
			}
		}
		b.WriteString(w.end)
	}
	if d.Header {
		write(w.names)
	}
	for _, row := range table {
		write(row)
	}
	text := b.String()
	if !w.last && !(len(w.names) == 1) {
		text = strings.TrimSuffix(text, w.end)
	}
	return text
}

// bare is a cell as a dialect without quotes can hold it.
func (w *written) bare(cell string) string {
	return strings.NewReplacer("\r", "", "\n", "", string(w.s.Dialect.Delimiter), "").Replace(cell)
}

// columnType is a column of a Parquet file or of a database.
type columnType int

const (
	textType columnType = iota
	doubleType
	integerType
	truthType
	columnTypes
)

// typed is a cell in a column of this type, nil for none.
func typed(cell string, of columnType) any {
	sum := 0
	for _, c := range []byte(cell) {
		sum = 31*sum + int(c)
	}
	switch {
	case cell == "":
		return nil
	case of == doubleType:
		if x, err := strconv.ParseFloat(cell, 64); err == nil {
			return x
		}
		return []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 5e-324, float64(sum)}[uint(sum)%6]
	case of == integerType:
		return int64(sum)
	case of == truthType:
		return sum%2 == 0
	}
	return cell
}

// drawForm is how a Parquet file is laid out: its encodings, pages, row groups and codec.
func (w *written) drawForm() []parquet.WriterOption {
	one := func(kind parquet.Kind, of ...encoding.Encoding) parquet.WriterOption {
		return parquet.DefaultEncodingFor(kind, pick(w.src, append(of, &parquet.Plain, &parquet.RLEDictionary)...))
	}
	return []parquet.WriterOption{
		one(parquet.ByteArray, &parquet.DeltaByteArray, &parquet.DeltaByteArray, &parquet.DeltaLengthByteArray),
		one(parquet.Double, &parquet.ByteStreamSplit), one(parquet.Int64, &parquet.DeltaBinaryPacked),
		parquet.DefaultEncodingFor(parquet.Boolean, pick[encoding.Encoding](w.src, &parquet.Plain, &parquet.RLE)),
		parquet.DataPageVersion(pick(w.src, 1, 2)), parquet.PageBufferSize(pick(w.src, 16, 300, 1<<20)),
		parquet.DictionaryMaxBytes(pick[int64](w.src, 0, 0, 20)), parquet.MaxRowsPerRowGroup(pick[int64](w.src, 2, 1000, 1000)),
		parquet.Compression(pick[compress.Codec](w.src, &parquet.Uncompressed, &parquet.Snappy, &parquet.Zstd,
			&parquet.Gzip, &parquet.Lz4Raw)),
	}
}

func (w *written) parquet(t *testing.T, table [][]string, types []columnType, form []parquet.WriterOption) []byte {
	group := parquet.Group{}
	for j, name := range w.names {
		group[name] = parquet.Optional([]parquet.Node{parquet.String(), parquet.Leaf(parquet.DoubleType),
			parquet.Leaf(parquet.Int64Type), parquet.Leaf(parquet.BooleanType)}[types[j]])
	}
	places := slices.Sorted(slices.Values(w.names)) // a Group sorts them
	var b bytes.Buffer
	out := parquet.NewGenericWriter[any](&b, append(form[:len(form):len(form)], parquet.NewSchema("t", group))...)
	for _, row := range table {
		cells := make(parquet.Row, len(row))
		for j, cell := range row {
			value, at := parquet.ValueOf(typed(cell, types[j])), slices.Index(places, w.names[j])
			defined := 1
			if value.IsNull() {
				defined = 0
			}
			cells[at] = value.Level(0, defined, at)
		}
		if _, err := out.WriteRows([]parquet.Row{cells}); err != nil {
			t.Fatal(err)
		}
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sqlite writes a table whose columns have no types, with cells of any.
func (w *written) sqlite(t *testing.T, path string, table [][]string, types []columnType) string {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE t (" + strings.Join(w.names, ", ") + ")"); err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		var cells []any
		for j, cell := range row {
			of := types[j]
			if w.protected[j] {
				of = columnType(len(cell) % int(columnTypes))
			}
			value := typed(cell, of)
			if text, ok := value.(string); ok && len(text)%3 == 0 {
				value = []byte(text)
			}
			cells = append(cells, value)
		}
		if _, err := db.Exec("INSERT INTO t VALUES (?"+strings.Repeat(", ?", len(row)-1)+")", cells...); err != nil {
			t.Fatal(err)
		}
	}
	return "sqlite:" + path + "?table=t"
}

// seen is what a reading shows: an error, or the rows with the cells that both tables of a pair
// share.
func (w *written) seen(tab *dataset.Table, err error, folder string) string {
	if err != nil {
		return strings.ReplaceAll(err.Error(), folder, "")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows, %d labels\n", tab.Rows, len(tab.Labels))
	if tab.Rows != len(w.pair[0]) {
		return b.String() + "not the rows that were written"
	}
	for i := range w.pair[0] {
		for j, name := range w.names {
			if w.pair[0][i][j] != w.pair[1][i][j] {
				continue
			}
			if name == w.s.Label.Name {
				fmt.Fprintf(&b, "%d ", tab.Labels[i])
				continue
			}
			at := slices.IndexFunc(w.s.Columns, func(c schema.Column) bool { return c.Name == name })
			if c := &tab.Cols[at]; c.Codes.Len() > 0 {
				code := c.Codes.At(i)
				if c.Values != nil {
					mark := uint8(0)
					if c.Marks != nil {
						mark = c.Marks[code]
					}
					fmt.Fprintf(&b, "%v/%d ", c.Values[code], mark)
				} else {
					fmt.Fprintf(&b, "%d ", code)
				}
			}
		}
	}
	return b.String()
}

// ways are the ways in, each of which returns what a table shows.
func (w *written) ways(t *testing.T, table [][]string, types []columnType, form []parquet.WriterOption,
	many bool) map[string]string {
	folder := t.TempDir()
	put := func(name string, data []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ctx := context.Background()
	read := func(path string) string {
		tab, err := dataset.Read(ctx, w.s, dataset.Options{}, path)
		return w.seen(tab, err, folder)
	}
	text := w.csv(table)
	plain := put("t.csv", []byte(text))
	out := map[string]string{"CSV": read(plain)}
	tab, err := dataset.Read(ctx, w.s, dataset.Options{Stdin: strings.NewReader(text)}, "-")
	out["standard input"] = w.seen(tab, err, folder)
	tally, err := dataset.Check(ctx, w.s, dataset.Options{}, plain)
	if err != nil {
		t.Fatal(err)
	}
	out["check"] = strings.ReplaceAll(fmt.Sprint(tally.Faults), folder, "")
	// The record of the check, and what a training follows from it, at the same times.
	day, record := time.Unix(1<<30, 0), filepath.Join(folder, "record")
	if err := os.Chtimes(plain, day, day); err != nil {
		t.Fatal(err)
	}
	tables, err := dataset.NameTables(ctx, w.s, plain)
	if err == nil {
		err = dataset.WriteRecord(record, day, tables)
	}
	written, readErr := os.ReadFile(record)
	askErr := dataset.FindCheck(ctx, record, w.s, plain)
	out["record"] = strings.ReplaceAll(fmt.Sprintf("%s %v %v %v", written, err, readErr, askErr), folder, "")
	if !strings.Contains(out["CSV"], "must ") {
		out["tally"] = fmt.Sprint(tally.Rows)
		var copied bytes.Buffer
		err = dataset.CopyRows(ctx, w.s, dataset.Options{}, &copied, dataset.CSV, nil, nil, plain)
		again := read(put("copy.csv", copied.Bytes()))
		out["passed on"] = fmt.Sprint(again, err)
		if again != out["CSV"] {
			t.Errorf("passed on, it is another table: %s\nand %s\n%s\n%q", out["CSV"], again, w.text, text)
		}
	}
	out["Parquet"] = read(put("t.parquet", w.parquet(t, table, types, form)))
	if !many {
		return out
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(text))
	z.Close()
	out["gzip"] = read(put("t.csv.gz", packed.Bytes()))
	zst, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	out["zstd"] = read(put("t.csv.zst", zst.EncodeAll([]byte(text), nil)))
	out["pattern"] = read(filepath.Join(folder, "t.csv.z*"))
	out["SQLite"] = read(w.sqlite(t, filepath.Join(folder, "t.db"), table, types))
	tab, err = rows.OfText(w.s, slices.Values(table))
	if err == nil || !strings.Contains(err.Error(), "at least one row") {
		out["rows of text"] = w.seen(tab, err, folder)
	}
	for _, memory := range []int64{0, 1 << 20} {
		var said strings.Builder
		choice := train.Choice{Learner: "additive", Price: train.PriceText{Epsilon: "1"}}
		req, err := choice.Request("train")
		if err != nil {
			t.Fatal(err)
		}
		_, err = (&train.Training{Op: "train", Request: req, Schema: w.s, SchemaText: []byte(w.text), Data: []string{plain},
			Rows: &train.RowSource{Memory: memory, Files: []string{plain}},
			Say:  func(format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }}).Run(ctx)
		out[fmt.Sprintf("training within %d bytes", memory)] = said.String() + strings.ReplaceAll(fmt.Sprint(err), folder, "")
	}
	return out
}

// TestReadingIsTotal writes tables and neighbours of them, whose protected cells are any that a
// correct writer of the dialect can write, and reads them by every way in: they have the same rows,
// the same public cells, the same messages (G-READ-1). DISCREET_READING is the number of cases that it tries.
func TestReadingIsTotal(t *testing.T) {
	count, err := strconv.Atoi(cmp.Or(os.Getenv("DISCREET_READING"), size.Of("60", "300")))
	if err != nil {
		t.Fatal(err)
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("DISCREET_READING_FROM"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	tried, whole, unpacked := 0, 0, 0
	for seed := first; tried < count; seed++ {
		w := drawWritten(seed)
		if w == nil {
			continue
		}
		tried++
		types := make([]columnType, len(w.names))
		for j := range types {
			types[j] = pick(w.src, textType, textType, doubleType, integerType, truthType)
			at := w.s.Find(w.names[j])
			if amount := at >= 0 && w.s.Columns[at].Kind == schema.Number && w.s.Columns[at].Date == ""; !amount && !w.coin(8) {
				types[j] = textType // of another type nearly every such column is refused
			}
		}
		form, many := w.drawForm(), tried%10 == 0
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			if d := w.s.Dialect; d.Quote == 0 { // as it can be written
				for _, table := range w.pair {
					for _, row := range table {
						for j := range row {
							row[j] = w.bare(row[j])
						}
					}
				}
			}
			a, b := w.ways(t, w.pair[0], types, form, many), w.ways(t, w.pair[1], types, form, many)
			if !strings.Contains(a["CSV"], "must ") {
				whole++
			}
			if strings.Contains(a["Parquet"], "labels") {
				unpacked++
			}
			lost := slices.ContainsFunc(slices.Collect(maps.Values(a)), func(shown string) bool {
				return strings.Contains(shown, "not the rows")
			})
			if lost || !reflect.DeepEqual(a, b) {
				for way := range a {
					if a[way] != b[way] || strings.Contains(a[way], "not the rows") {
						t.Errorf("%s shows\n%s\nand\n%s", way, a[way], b[way])
					}
				}
				t.Errorf("%s\n%.3000q\n%.3000q", w.text, w.csv(w.pair[0]), w.csv(w.pair[1]))
			}
		})
	}
	if whole < tried/2 || unpacked < tried/2 {
		t.Errorf("%d of %d tables were read, and %d of the Parquet files", whole, tried, unpacked)
	}
}
