// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/census"
)

// What the product embeds is what `make census` writes.
func TestEmbeddedTableIsTheGenerators(t *testing.T) {
	var yaml, packed bytes.Buffer
	if err := WriteSchema(&yaml); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(yaml.Bytes(), census.SchemaYAML()) {
		t.Error("the embedded schema is another: run make census")
	}
	if err := WritePeople(&packed, 1, census.People); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&packed)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(text, census.CSV(0, census.People)) {
		t.Error("the embedded people are others: run make census")
	}
}
