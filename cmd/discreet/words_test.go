// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// habits are patterns that separate plain English from our old style.
var habits = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"where", regexp.MustCompile(`(?i)\bwhere\b`)},
	{"if, when", regexp.MustCompile(`(?i)\b(if|when)\b`)},
	{"says, tells", regexp.MustCompile(`(?i)\b(says|said|tells?|speaks?)\b`)},
	{"somebody, nobody", regexp.MustCompile(`(?i)\b(somebody|nobody|anybody|everybody|whoever)\b`)},
	{"for example", regexp.MustCompile(`(?i)\bfor example\b`)},
}

var (
	word = regexp.MustCompile(`[A-Za-z']+`)
	code = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
)

// TestWordCounts prints how often habits occur in 10,000 words of each page for users
// and of the go command's help. It is information for an editor and sets no limit.
func TestWordCounts(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) < 10 {
		t.Fatalf("%d pages are not the documentation", len(pages))
	}
	for _, page := range append(pages, "../../README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		logCounts(t, filepath.Base(page), string(text))
	}
	help := ""
	for _, topic := range []string{"build", "test", "mod", "modules", "packages", "environment"} {
		if text, err := exec.CommandContext(t.Context(), "go", "help", topic).Output(); err == nil {
			help += string(text)
		}
	}
	logCounts(t, "go help", help)
}

func logCounts(t *testing.T, name, text string) {
	text = code.ReplaceAllString(text, "")
	words := len(word.FindAllString(text, -1))
	line := ""
	for _, h := range habits {
		line += "; " + h.name
		if words > 0 {
			line += fmt.Sprintf(" %.0f", 1e4*float64(len(h.pattern.FindAllString(text, -1)))/float64(words))
		}
	}
	t.Logf("%-20s %6d words%s", strings.TrimSuffix(name, ".md"), words, line)
}
