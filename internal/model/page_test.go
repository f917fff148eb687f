// SPDX-License-Identifier: Apache-2.0

package model

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The page about the file tells of every field that a file may have, and of no other.
// Those of the schema are told on the page about schemas.
func TestPageNamesEveryField(t *testing.T) {
	page, err := os.ReadFile("../../docs/model-file.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		told[row[1]] = true
		if allowed[row[1]] == "" {
			t.Errorf("the page tells of %s, which no file has", row[1])
		}
	}
	for path := range allowed {
		if !told[path] && !strings.HasPrefix(path, "body.schema.") {
			t.Errorf("the page does not tell of %s", path)
		}
	}
}
