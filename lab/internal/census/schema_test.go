// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestSchemaIsValid(t *testing.T) {
	s, err := schema.Parse(schemaYAML())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, schemaYAML()) {
		t.Errorf("the schema reads back as\n%s", again)
	}
	if !reflect.DeepEqual(s, Schema()) {
		t.Errorf("got %+v\nwant %+v", s, Schema())
	}
}

// TestFilesReadBack writes a table and reads it with the program's own reader:
// every cell means what it meant.
func TestFilesReadBack(t *testing.T) {
	tab := Generate(21, 30_000)
	var text bytes.Buffer
	if err := WriteCSV(&text, tab); err != nil {
		t.Fatal(err)
	}
	read, err := dataset.Read(t.Context(), Schema(), dataset.Options{Stdin: &text}, "-")
	if err != nil {
		t.Fatal(err)
	}
	sameRows(t, spelled(read), spelled(tab))
}
