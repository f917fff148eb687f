// SPDX-License-Identifier: Apache-2.0

package problem_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

// TestDocsListEveryKind: the protocol's table has a row for each kind, and no
// others.
func TestDocsListEveryKind(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| name | status | code | again? | |\n|---|---|---|---|---|\n")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows, kinds := strings.Count(table+"\n", "\n"), len(problem.Kinds()); rows != kinds {
		t.Errorf("the table has %d rows for %d kinds", rows, kinds)
	}
	for _, k := range problem.Kinds() {
		again := "no"
		if k.Again() {
			again = "yes"
		}
		if row := fmt.Sprintf("| `%s` | %d | `%s` | %s |", k, k.Status(), problem.New(k, "").Connect().Code(),
			again); !strings.Contains(table, row) {
			t.Errorf("the table lacks %s", row)
		}
	}
}
