// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestReadHeader(t *testing.T) {
	d := schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Trim: true, Comment: "#"}
	text := "\xef\xbb\xbf# by hand\nage, \"full, name\" ,sick\r\n" + canary + ",\xff\x00,\"\n"
	want := []string{"age", "full, name", "sick"}
	for _, path := range []string{writeFile(t, "t.csv", text), writeFile(t, "t.csv.gz", string(packed(t, text)))} {
		got, err := ReadHeader(path, d)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q, error %v; want %q", got, err, want)
		}
	}
	got, err := ReadHeader(writeParquet(t, randomRows(3)), d)
	if want := []string{"age", "income", "city", "rank", "note", "sick"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("Parquet: %q, error %v; want %q", got, err, want)
	}
	d.Header = false
	if got, err := ReadHeader(writeFile(t, "t.csv", text), d); !errors.As(err, new(*dp.ParamError)) {
		t.Errorf("no header declared: %q, error %v", got, err)
	}
	path := writeFile(t, "t.csv", "")
	d.Header = true
	_, err = ReadHeader(path, d)
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
