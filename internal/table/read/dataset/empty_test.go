// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Under add-remove the number of rows is private, so that a table of none must
// be read like any; under replace-one it is public, and none is a mistake.
func TestEmptyTables(t *testing.T) {
	const text = "name: empty\nunit: one person\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n" +
		"  - {name: x, role: private, number: {lower: 0, upper: 1, default: 0}}\n" +
		"  - {name: y, role: private, label: {levels: [a, b], positive: b, default: a}}\n"
	for relation, refused := range map[dp.Relation]bool{dp.ReplaceOne: true, dp.AddRemove: false} {
		s, err := schema.Parse([]byte(strings.Replace(text, "replace-one", string(relation), 1)))
		if err != nil {
			t.Fatal(err)
		}
		tab, err := Read(t.Context(), s, Options{}, writeFile(t, "t.csv", "x,y\n"))
		if (err != nil) != refused || err == nil && (tab.Rows != 0 || tab.Labels == nil) {
			t.Errorf("%s: a table of no rows is read with error %v", relation, err)
		}
	}
}
