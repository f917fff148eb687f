// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/census"
)

// A page's trainings state as many rows as its demo left for them.
func TestPagesStateTheirRows(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	stated := 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		demo := regexp.MustCompile("discreet demo[^`\n]*").FindString(string(text))
		if demo == "" || strings.HasSuffix(page, "commands.md") {
			continue
		}
		half, rows := census.People/2, regexp.MustCompile(`--(?:declared-)?rows (\d+)`)
		if m := rows.FindStringSubmatch(demo); m != nil {
			all, err := strconv.Atoi(m[1])
			if err != nil {
				t.Fatal(err)
			}
			half = all / 2
		}
		for _, m := range rows.FindAllStringSubmatch(strings.ReplaceAll(string(text), demo, ""), -1) {
			if stated++; m[1] != strconv.Itoa(half) {
				t.Errorf("%s states %s rows after %q, which leaves %d", page, m[1], demo, half)
			}
		}
	}
	if stated < 2 {
		t.Errorf("only %d numbers of rows found", stated)
	}
}
