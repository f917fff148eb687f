// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A file in a declared encoding is the table of the same file in UTF-8, whatever reads it, and a copy of
// it has the same bytes.
func TestEncodings(t *testing.T) {
	schemaIn := func(encoding string) *schema.Schema {
		s := tinySchema()
		s.Dialect.Encoding = encoding
		s.Columns[2].Name, s.Columns[2].Levels = "größe", []schema.Level{{Value: "später"}, {Value: "x"}}
		return s
	}
	text := "a,p,größe,label\n1,2,später,0\r\n3,\"4\n\",x,1\n5,6,ä,0\n"
	plain := writeFile(t, "utf-8.csv", text)
	want := readFiles(t, schemaIn(""), plain)
	want.Schema = nil
	for _, encoding := range schema.Encodings {
		s := schemaIn(encoding)
		coded := strings.NewReplacer("ä", "\xe4", "ö", "\xf6", "ß", "\xdf").Replace(text)
		if encoding == "utf-16" {
			coded = "\xff\xfe"
			for _, r := range text {
				coded += string([]byte{byte(r), 0})
			}
		}
		path := writeFile(t, "coded.csv", coded)
		got := readFiles(t, s, path)
		if got.Schema = nil; !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", encoding, got, want)
		}
		names, err := ReadHeader(t.Context(), path, s.Dialect)
		if err != nil || !slices.Equal(names, []string{"a", "p", "größe", "label"}) {
			t.Errorf("%s: header %q, %v", encoding, names, err)
		}
		book, err := AddSample(nil, path, plain, names, s.Dialect)
		if err != nil || fmt.Sprint(book) != fmt.Sprint(addSample(t, plain, path, names)) {
			t.Errorf("%s: sample %v, %v", encoding, book, err)
		}
		var copied bytes.Buffer
		if err := CopyRows(t.Context(), s, Options{}, &copied, CSV, nil, nil, path); err != nil {
			t.Fatal(err)
		}
		if want := strings.Replace(coded, "\r\x00"[:1+strings.Count(encoding, "utf-16")], "", 1); copied.String() != want {
			t.Errorf("%s: copied %q, want %q", encoding, copied.String(), want)
		}
		again := readFiles(t, s, writeFile(t, "copy.csv", copied.String()))
		if again.Schema = nil; !reflect.DeepEqual(again, want) {
			t.Errorf("%s: a copy is %+v\nwant %+v", encoding, again, want)
		}
	}
	every := "1,2,"
	for b := range 256 {
		if !strings.ContainsRune("\n\r,\"", rune(b)) {
			every += string([]byte{byte(b)})
		}
	}
	for encoding := range codePages {
		var copied bytes.Buffer
		s := schemaIn(encoding)
		s.Dialect.Header = false
		err := CopyRows(t.Context(), s, Options{}, &copied, CSV, nil, nil, writeFile(t, "every.csv", every+",0\n"))
		if err != nil || copied.String() != every+",0\n" {
			t.Errorf("%s: copied %q, %v", encoding, copied.String(), err)
		}
	}
	path := writeFile(t, "unmarked.csv", "a\x00,\x00")
	_, err := Read(t.Context(), schemaIn("utf-16"), Options{}, path)
	wantFault(t, err, path, 0, "", "byte-order mark")
}

func readFiles(t *testing.T, s *schema.Schema, paths ...string) *Table {
	t.Helper()
	tab, err := Read(t.Context(), s, Options{}, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

func addSample(t *testing.T, sample, path string, names []string) schema.Codebook {
	t.Helper()
	book, err := AddSample(nil, sample, path, names, tinySchema().Dialect)
	if err != nil {
		t.Fatal(err)
	}
	return book
}
