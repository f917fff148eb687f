// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

func TestSchemaIsValid(t *testing.T) {
	s, err := schema.Parse(SchemaYAML())
	if err != nil {
		t.Fatal(err)
	}
	again, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, SchemaYAML()) {
		t.Errorf("the schema reads back as\n%s", again)
	}
	if !reflect.DeepEqual(s, Schema()) {
		t.Errorf("got %+v\nwant %+v", s, Schema())
	}
}

// TestFilesReadBack writes a table in both formats and reads it with the
// program's own reader: every cell means what it meant.
func TestFilesReadBack(t *testing.T) {
	tab := Generate(21, 30_000)
	want := spelled(tab)
	for name, write := range map[string]func(io.Writer, *dataset.Table) error{"t.csv": WriteCSV,
		"t.parquet": WriteParquet} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := write(f, tab); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			read, err := dataset.Read(context.Background(), Schema(), dataset.Options{}, path)
			if err != nil {
				t.Fatal(err)
			}
			sameRows(t, spelled(read), want)
		})
	}
}
