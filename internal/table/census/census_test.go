// SPDX-License-Identifier: Apache-2.0

package census

import (
	"bytes"
	"os"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// The table fits its schema and is as long as it says.
func TestTableFitsItsSchema(t *testing.T) {
	text := CSV(0, People)
	tab, err := dataset.Read(t.Context(), Schema(), dataset.Options{Stdin: bytes.NewReader(text)}, "-")
	if err != nil {
		t.Fatal(err)
	}
	if tab.Rows != People || len(lines()) != 1+People+1 { // nothing follows the last line
		t.Errorf("%d rows, want %d", tab.Rows, People)
	}
}

// The quick start shows the first people.
func TestQuickstartIsTheBeginning(t *testing.T) {
	for name, want := range map[string][]byte{"census.csv": CSV(0, 400), "census.yaml": SchemaYAML()} {
		got, err := os.ReadFile("../../../examples/quickstart/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("examples/quickstart/%s is not the beginning of the embedded one", name)
		}
	}
}

func TestPartsAreConsecutive(t *testing.T) {
	header := CSV(0, 0)
	if got := append(CSV(0, 3), bytes.TrimPrefix(CSV(3, 7), header)...); !bytes.Equal(got, CSV(0, 7)) {
		t.Error("two parts are not the whole")
	}
}
