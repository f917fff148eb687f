// SPDX-License-Identifier: Apache-2.0

package clothes

import (
	"bytes"
	"compress/gzip"
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/unicode/norm"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/read/rows"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// dialect is how a CSV file is written.
type dialect struct {
	schema.Dialect
	before, end string // of all, and of a line
	quoteAll    bool
	spaces      bool
}

// writeCSV writes a table. src draws what the dialect leaves open; nil for nothing.
func writeCSV(t *Table, d *dialect, src *rand.Rand) []byte {
	var b strings.Builder
	b.WriteString(d.before)
	end := d.end
	if end == "" {
		end = "\n"
	}
	write := func(cell func(j int) string) {
		for j := range t.Columns {
			if j > 0 {
				b.WriteRune(d.Delimiter)
			}
			text := cell(j)
			if d.Quote == 0 {
				text = strings.NewReplacer("\n", "", string(d.Delimiter), "").Replace(text)
			} else if d.quoteAll || strings.ContainsAny(text, "\"'\r\n"+string(d.Delimiter)) {
				q := string(d.Quote)
				text = q + strings.ReplaceAll(text, q, q+q) + q
			}
			if d.spaces {
				text = " \t" + text + " "
			}
			b.WriteString(text)
		}
		b.WriteString(end)
	}
	if d.Header {
		write(func(j int) string { return t.Columns[j].Name })
	}
	for r := range t.Rows {
		write(func(j int) string {
			c, x := &t.Columns[j], &t.Rows[r][j]
			if t.Values[r][j] == nil {
				if src != nil && x.Also != nil && (c.Kind != Number || !strings.Contains(x.Also[0], "-99")) {
					return x.Also[src.IntN(len(x.Also))]
				}
				return ""
			}
			text := t.Values[r][j].(string)
			if f, err := strconv.ParseFloat(text, 64); err == nil && (c.Kind == Number && !x.Free || text != x.Text && f == math.Trunc(f)) {
				text = d.respell(text, c.Kind == Number)
			}
			return text
		})
	}
	return []byte(b.String())
}

// respell writes a number as the dialect declares, an amount with its signs between thousands and behind it.
func (d *dialect) respell(text string, amount bool) string {
	whole, rest, point := strings.Cut(text, ".")
	if amount && d.Thousands != 0 && len(strings.TrimLeft(whole, "+-")) > 3 && !strings.ContainsAny(text, "eE") {
		whole = whole[:len(whole)-3] + string(d.Thousands) + whole[len(whole)-3:]
	}
	text = whole
	if point && d.Decimal != 0 {
		text += string(d.Decimal) + rest
	} else if point {
		text += "." + rest
	}
	if amount && d.TrailingMinus && strings.HasPrefix(text, "-") && text != "-99" && text != "-99.0" {
		text = text[1:] + "-"
	}
	return text
}

func textForms() []form {
	written := func(name, file string, edit func(k *kit, d *dialect), pack func(k *kit, t *Table, text []byte) []string) form {
		if pack == nil {
			pack = func(k *kit, _ *Table, text []byte) []string { return []string{k.put("t.csv", text)} }
		}
		return form{name: name, file: file, paths: func(k *kit, t *Table) []string {
			d := &dialect{Dialect: k.s.Dialect}
			if edit != nil {
				edit(k, d)
			}
			return pack(k, t, writeCSV(t, d, k.src))
		}}
	}
	encoded := func(name string, as encoding.Encoding) form {
		return written("CSV in "+name, `{delimiter: ";", quote: '"', header: true, encoding: `+name+`, missing: ["", "NA", "-99"]}`, nil,
			func(k *kit, _ *Table, text []byte) []string {
				b, err := encoding.ReplaceUnsupported(as.NewEncoder()).Bytes(norm.NFC.Bytes(text))
				k.must(err)
				return []string{k.put("t.csv", b)}
			})
	}
	const comma = `{delimiter: ";", quote: '"', header: true, decimal: ",", missing: ["", "NA", "-99"]`
	list := []form{
		written("CSV", "", nil, nil),
		written("CSV with all cells quoted", "", func(_ *kit, d *dialect) { d.quoteAll = true }, nil),
		written("CSV from Windows", "", func(_ *kit, d *dialect) { d.before, d.end = "\ufeff", "\r\n" }, nil),
		written("CSV with tabs and no quotes", `{delimiter: "\t", quote: "", header: true, missing: ["", "NA", "-99"]}`, nil, nil),
		written("CSV with single quotes and comments", `{delimiter: "|", quote: "'", header: true, comment: "#", missing: ["", "NA", "-99"]}`,
			func(_ *kit, d *dialect) { d.before = "# a comment\n" }, nil),
		written("CSV with spaces", `{delimiter: ",", quote: '"', header: true, trim: true, missing: ["", "NA", "-99"]}`,
			func(_ *kit, d *dialect) { d.spaces = true }, nil),
		written("CSV without a header", `{delimiter: ",", quote: '"', header: false, skip_records: 1, missing: ["", "NA", "-99"]}`,
			func(_ *kit, d *dialect) { d.before = "skipped\n" }, nil),
		written("CSV with a decimal comma", comma+"}", nil, nil),
		written("CSV with thousands", comma+`, thousands: "."}`, nil, nil),
		written("CSV with a trailing minus", `{delimiter: ",", quote: '"', header: true, minus: trailing, thousands: "'", missing: ["", "NA", "-99"]}`, nil, nil),
		encoded("windows-1252", charmap.Windows1252),
		encoded("iso-8859-15", charmap.ISO8859_15),
		encoded("utf-16", unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)),
		written("gzip", "", nil, func(k *kit, _ *Table, text []byte) []string {
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			z.Write(text)
			z.Close()
			return []string{k.put("t.csv.gz", b.Bytes())}
		}),
		written("zstd", "", nil, func(k *kit, _ *Table, text []byte) []string {
			z, err := zstd.NewWriter(nil)
			k.must(err)
			return []string{k.put("t.csv.zst", z.EncodeAll(text, nil))}
		}),
		written("a folder", "", nil, func(k *kit, t *Table, _ []byte) []string {
			halves(k, t, "all/")
			return []string{filepath.Join(k.folder, "all")}
		}),
		written("a pattern", "", nil, func(k *kit, t *Table, _ []byte) []string {
			halves(k, t, "")
			return []string{filepath.Join(k.folder, "[ab].csv")}
		}),
		written("several files", "", nil, func(k *kit, t *Table, _ []byte) []string { return halves(k, t, "") }),
		{name: "standard input", read: func(k *kit, t *Table) (*dataset.Table, error) {
			text := writeCSV(t, &dialect{Dialect: k.s.Dialect}, k.src)
			return dataset.Read(k.Context(), k.s, dataset.Options{Stdin: bytes.NewReader(text)}, "-")
		}},
		{name: "a file of the page", read: func(k *kit, t *Table) (*dataset.Table, error) {
			text := writeCSV(t, &dialect{Dialect: k.s.Dialect}, k.src)
			ctx := dataset.WithFile(context.Background(), "t.csv", bytes.NewReader(text), int64(len(text)))
			return dataset.Read(ctx, k.s, dataset.Options{}, "t.csv")
		}},
		{name: "rows of text", read: func(k *kit, t *Table) (*dataset.Table, error) {
			var all [][]string
			for _, row := range t.Values {
				var texts []string
				for _, v := range row {
					text, _ := v.(string)
					texts = append(texts, text)
				}
				all = append(all, texts)
			}
			return rows.OfText(k.s, slices.Values(all))
		}},
	}
	return list
}

// halves writes a table as two files whose columns have another order.
func halves(k *kit, t *Table, folder string) (paths []string) {
	half := len(t.Rows) / 2
	for i, part := range []Table{{Rows: t.Rows[:half], Values: t.Values[:half]}, {Rows: t.Rows[half:], Values: t.Values[half:]}} {
		part.Columns = t.Columns
		if len(part.Rows) == 0 {
			continue
		}
		paths = append(paths, k.put(folder+[]string{"a.csv", "b.csv"}[i], writeCSV(&part, &dialect{Dialect: k.s.Dialect}, k.src)))
	}
	return paths
}
