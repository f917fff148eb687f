// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// The files of the archive become one table; faults are told by their lines.
func TestReadHAR(t *testing.T) {
	folder := t.TempDir()
	row := strings.Repeat(" -0.5", harFeatures-1) + "  1.0e+000"
	for name, text := range map[string]string{"train/X_train.txt": row + "\n" + row, "train/y_train.txt": "1\n6\n",
		"test/X_test.txt": strings.Replace(row, "-0.5", "0.25", 1), "test/y_test.txt": "3\n"} {
		path := filepath.Join(folder, "uci_har", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tab, err := newHAR().load(t.Context(), frame.NewWorld(folder))
	if err != nil || tab.Rows != 3 || len(tab.Cols) != harFeatures || tab.Labels[1] != 5 || tab.Labels[2] != 2 {
		t.Fatalf("%v %+v", err, tab)
	}
	if c := tab.Cols[0]; c.Values[c.Codes.At(2)] != 0.25 || c.Values[c.Codes.At(0)] != -0.5 {
		t.Errorf("column 1: %v", c)
	}
	if _, err := newHAR().load(t.Context(), frame.NewWorld(t.TempDir())); err == nil ||
		!strings.Contains(err.Error(), "dataset/240") {
		t.Errorf("a folder without the files: %v", err)
	}
	for text, want := range map[string]string{row + "\n0.5": "line 2: must have 561",
		strings.Replace(row, "0.5", "5", 1):   "line 1",
		strings.Replace(row, "0.5", "NaN", 1): "line 1"} {
		if _, err := readHARRows(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	for _, text := range []string{"0", "7", "1\nx", ""} {
		labels, err := readHARLabels(strings.NewReader(text), "f")
		if (err == nil) != (text == "") || len(labels) > 0 {
			t.Errorf("%q: %v, %v", text, labels, err)
		}
	}
}

func FuzzReadHAR(f *testing.F) {
	f.Add("1\n2\n")
	f.Add("0.5 -1")
	f.Fuzz(func(t *testing.T, text string) {
		if rows, err := readHARRows(strings.NewReader(text), "f"); err == nil {
			for _, r := range rows {
				if len(r) != harFeatures {
					t.Fatalf("a row of %d", len(r))
				}
			}
		}
		labels, err := readHARLabels(strings.NewReader(text), "f")
		for _, l := range labels {
			if err == nil && l >= harOnly {
				t.Fatalf("label %d", l)
			}
		}
	})
}
