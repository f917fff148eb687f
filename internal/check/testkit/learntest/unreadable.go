// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// unreadable are cells that are invalid in every column of numbers, categories or labels.
var unreadable = []string{"", "?", "elsewhere", "1e999", "0x10", "NaN", "12;5"}

// Unreadable reads the CSV text of a table with a header, and reads it again with one row in which
// some or all cells of the given scope are unreadable. The two tables are neighbours. It fails if the
// second one is refused: a guarantee of that scope would then not hold for any learner.
func Unreadable(t testing.TB, s *schema.Schema, text []byte, src rng.Source, scope dp.Scope) (as, with *dataset.Table) {
	t.Helper()
	read := func(text []byte) *dataset.Table {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		tab, err := dataset.Read(t.Context(), s, dataset.Options{}, path)
		if err != nil {
			t.Fatalf("a cell of %s is refused: %v", scope.Words(), err)
		}
		return tab
	}
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	names := strings.Split(string(lines[0]), ",")
	i := 1 + int(rng.Below(src, uint64(len(lines)-1)))
	cells := strings.Split(string(lines[i]), ",")
	all := rng.Below(src, 2) == 0
	for k, name := range names {
		if protectsColumn(s, scope, name) && (all || rng.Below(src, 2) == 0) {
			cells[k] = unreadable[rng.Below(src, uint64(len(unreadable)))]
		}
	}
	other := slices.Clone(lines)
	other[i] = []byte(strings.Join(cells, ","))
	return read(text), read(bytes.Join(other, []byte("\n")))
}

// protectsColumn reports whether the named column is in the scope.
func protectsColumn(s *schema.Schema, scope dp.Scope, name string) bool {
	if name == s.Label.Name {
		return scope != dp.PrivateFeatures
	}
	j := s.Find(name)
	return scope == dp.WholeRow || scope != dp.LabelOnly && s.Columns[j].Role == schema.Private
}
