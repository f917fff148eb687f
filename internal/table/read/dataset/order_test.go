// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The dictionary of a number column says which values there are, not in which
// order they came: two orders of the same rows give the same columns up to that
// order.
func TestDictionariesDoNotShowRowOrder(t *testing.T) {
	s := smallSchema()
	lines := []string{"age,income,city,rank,note,sick", "31,5,Rome,1,,no", "7,100,Oslo,2,,yes", "90,-3,Rome,3,,yes",
		"NA,5,x,1,,no", "7,2,NA,1,,no"}
	read := func(lines []string) *Table {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		tab, err := Read(context.Background(), s, Options{}, path)
		if err != nil {
			t.Fatal(err)
		}
		return tab
	}
	a := read(lines)
	back := slices.Clone(lines)
	slices.Reverse(back[1:])
	b := read(back)
	rows := make([]int, b.Rows)
	for i := range rows {
		rows[i] = b.Rows - 1 - i
	}
	if !reflect.DeepEqual(a.Cols, b.Subset(rows).Cols) {
		t.Error("reversing the rows changes codes or dictionaries")
	}
}
