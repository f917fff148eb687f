// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A draft from a Parquet file has its types, a codebook goes before them, and cells stay unread.
func TestAddTypes(t *testing.T) {
	type row struct {
		Age  int32    `parquet:"age"`
		Pay  *float64 `parquet:"pay,optional"`
		Town string   `parquet:"town"`
		Died bool     `parquet:"died"`
		Born int32    `parquet:"born,date"`
		Cost int64    `parquet:"cost,decimal(2:12)"`
		Tags []string `parquet:"tags"`
	}
	path := writeParquet(t, []row{{Age: 41, Town: canary, Born: 12000}})
	names, err := ReadHeader(t.Context(), path, schema.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	codes := writeFile(t, "book.csv", "name,type,meaning\nage,,years\ntown,ignored,\n")
	book, err := schema.ReadCodebook(codes)
	if err != nil {
		t.Fatal(err)
	}
	if book, err = AddTypes(t.Context(), book, path); err != nil {
		t.Fatal(err)
	}
	d := schema.Dialect{Delimiter: ',', Quote: '"', Header: true}
	text, err := schema.Draft(names, d, book, schema.DraftOptions{Role: "private"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- name: age # years\n    role: private\n    # number: {lower: 0, upper: 120",
		"number: {lower: ___, upper: ___, integer: true, default: ___, missing: true}\n    # label: {levels",
		"- name: pay\n    role: private\n    number: {lower: ___, upper: ___, default: ___, missing: true}",
		"- name: town\n    role: ignored\n  - name",
		"- name: died\n    role: private\n    category: {levels: yes_no, missing: true}",
		"date: {format: YYYY-MM-DD, lower: ___, upper: ___, default: ___, missing: true}",
		"- name: cost\n    role: private\n    number: {lower: ___",
		"- name: tags\n    role: private\n    # number: {lower: ___",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s\nis not in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), canary) {
		t.Error("a cell is in the draft")
	}
	if book, err := AddTypes(t.Context(), nil, writeFile(t, "a.csv", canary)); book != nil || err != nil {
		t.Errorf("CSV: %v, error %v", book, err)
	}
	// Pages are never looked at: damaged ones do no harm, damaged metadata do.
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i := 4; i < 40; i++ {
		whole[i] ^= 0xff
	}
	if _, err := AddTypes(t.Context(), nil, writeFile(t, "b.parquet", string(whole))); err != nil {
		t.Errorf("damaged pages: %v", err)
	}
	bad := writeFile(t, "c.parquet", "PAR1"+canary+canary+"PAR1")
	_, err = AddTypes(t.Context(), nil, bad)
	wantFault(t, err, bad, 0, "", "must be undamaged Parquet")
}
