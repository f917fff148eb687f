// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestReadHeader(t *testing.T) {
	d := schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Trim: true, Comment: "#"}
	text := "\xef\xbb\xbf# by hand\nage, \"full, name\" ,sick\r\n" + canary + ",\xff\x00,\"\n"
	want := []string{"age", "full, name", "sick"}
	for _, path := range []string{writeFile(t, "t.csv", text), writeFile(t, "t.csv.gz", string(packed(t, text)))} {
		got, err := ReadHeader(t.Context(), path, d)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, error %v; want %q", got, err, want)
		}
	}
	got, err := ReadHeader(t.Context(), writeParquet(t, randomRows(3)), d)
	if want := []string{"age", "income", "city", "rank", "note", "sick"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Parquet: %q, error %v; want %q", got, err, want)
	}
	d.Header = false
	if got, err := ReadHeader(t.Context(), writeFile(t, "t.csv", text), d); !errors.As(err, new(*dp.ParamError)) {
		t.Errorf("no header declared: %q, error %v", got, err)
	}
	path := writeFile(t, "t.csv", "")
	d.Header = true
	_, err = ReadHeader(t.Context(), path, d)
	wantFault(t, err, path, 0, "", "must have a header")
}

func TestReadHeaderStopsAtItsLine(t *testing.T) {
	for _, head := range []string{"a\n", "ab,c\n", "\xef\xbb\xbfa,b\n", "PAR,b\n", "\"a\nb\",c\r\n"} {
		text := strings.NewReader(head + canary)
		if _, err := readHeader("t.csv", text, schema.Dialect{Delimiter: ',', Quote: '"', Header: true}); err != nil {
			t.Errorf("%q: %v", head, err)
		}
		if text.Len() != len(canary) {
			t.Errorf("%q: read %d bytes beyond the header", head, len(canary)-text.Len())
		}
	}
}

// The first record of a file without a header is a person's row: it is not taken for
// names, and not repeated.
func TestReadHeaderRefusesARow(t *testing.T) {
	d := schema.Dialect{Delimiter: ';', Quote: '"', Header: true}
	for _, row := range []string{
		"39; State-gov; 77516", "a;-1,5", "a;1e-7", "a; 12.50 %", "a;$ 12", "a;1.234.567,89",
		"a;2024-02-31", "a;31/2/24 12:00", "a;2024-02-31T12:00:00Z",
		"a;?", "a;NA", "a;nan", "a;TRUE", "a;;b", "a;b;a", "a; a", "a;\"7\"", "-; b",
	} {
		path := writeFile(t, "t.csv", row+"\n")
		names, err := ReadHeader(t.Context(), path, d)
		if names != nil || !errors.As(err, new(*dp.ParamError)) {
			t.Errorf("%q: %q, error %v", row, names, err)
			continue
		}
		for _, cell := range strings.Split(row, ";") {
			// the folder has a random number
			if cell = strings.TrimSpace(cell); len(cell) > 1 &&
				strings.Contains(strings.ReplaceAll(err.Error(), path, ""), cell) {
				t.Errorf("%q is quoted: %v", cell, err)
			}
		}
	}
	headers := []string{"age;sex", "pay_2024;1st visit", "x1;x2", "e;E", "T;Z", "%;€", "nationality;norm", "no;b"}
	for _, header := range headers {
		if _, err := ReadHeader(t.Context(), writeFile(t, "t.csv", header+"\n"), d); err != nil {
			t.Errorf("%q: %v", header, err)
		}
	}
}
