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
	word     = regexp.MustCompile(`[A-Za-z']+`)
	code     = regexp.MustCompile("(?s)```.*?```|`[^`]*`")
	pageLink = regexp.MustCompile(`\]\(([a-z-]+\.md)\)`)
)

const (
	wordsPage = "../../evidence/words.md"
	// The documentation, without the protocol, has so many words.
	leastWords, mostWords = 15_000, 34_200
)

// TestWordCounts holds the documentation to its length. It counts words by part, as docs/README.md
// sorts pages, and how often habits occur in 10,000 words, also of the go command's help.
// evidence/words.md publishes the counts: -update writes it, and it may be a tenth out of date.
func TestWordCounts(t *testing.T) {
	page := countWords(t)
	if *update {
		if err := os.WriteFile(wordsPage, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Log("\n" + page)
	published, err := os.ReadFile(wordsPage)
	if err != nil {
		t.Fatal(err)
	}
	now, then := wordsByRow(page), wordsByRow(string(published))
	if total := now["all"]; total < leastWords || total > mostWords {
		t.Errorf("the documentation has %d words, not %d to %d", total, leastWords, mostWords)
	}
	for row, n := range now {
		if m := then[row]; 10*max(n-m, m-n) > n && row != "`go help`" {
			t.Errorf("%s has %d words of %s and published %d: run go test ./cmd/discreet -run %s -update", wordsPage, n, row, m,
				t.Name())
		}
	}
}

// readByHand is the result of a reading, which no test can repeat.
const readByHand = `
Fifty doc comments outside the tests were drawn at random and read by the editor who revised them, not by
another person. A stumble is a sentence that has to be read twice, a coined term, or a comment that does not
say what the thing is. Before the revision (seed 11) 23 of 50 had one; after it (seed 23) 7, which were then
mended. About 5,700 comments were in the draw, and none of lab. The pages of the documentation were revised
once, but no sample of them was counted.
`

// countWords is the page of counts.
func countWords(t *testing.T) string {
	t.Helper()
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("# Words\n\n<!-- Written by go test ./cmd/discreet -run TestWordCounts -update -->\n\n" +
		"Words of the documentation without code, and how often some habits occur in 10,000 of them. The protocol is\n" +
		"apart.\n\n| part | words |")
	for _, h := range habits {
		b.WriteString(" " + h.name + " |")
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(habits)) + "\n")
	all, counted := "", map[string]bool{"sites-protocol.md": true, "protocol.md": true}
	for _, section := range strings.Split(string(index), "\n## ")[1:] {
		text := ""
		for _, m := range pageLink.FindAllStringSubmatch(section, -1) {
			if counted[m[1]] {
				continue
			}
			counted[m[1]] = true
			page, err := os.ReadFile(filepath.Join("../../docs", m[1]))
			if err != nil {
				t.Fatal(err)
			}
			text += string(page) + "\n"
		}
		if text != "" {
			writeCounts(&b, strings.Split(section, "\n")[0], text)
		}
		all += text
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	writeCounts(&b, "README and index", string(readme)+string(index))
	writeCounts(&b, "all", all+string(readme)+string(index))
	if pages, err := filepath.Glob("../../docs/*.md"); err != nil || len(pages) != len(counted)+1 {
		t.Errorf("docs/README.md sorts %d of %d pages (%v)", len(counted)+1, len(pages), err)
	}
	help := ""
	for _, topic := range []string{"build", "test", "mod", "modules", "packages", "environment"} {
		if text, err := exec.CommandContext(t.Context(), "go", "help", topic).Output(); err == nil {
			help += string(text)
		}
	}
	writeCounts(&b, "`go help`", help)
	b.WriteString(readByHand)
	return b.String()
}

func writeCounts(b *strings.Builder, name, text string) {
	text = code.ReplaceAllString(text, "")
	words := len(word.FindAllString(text, -1))
	fmt.Fprintf(b, "| %s | %d |", name, words)
	for _, h := range habits {
		fmt.Fprintf(b, " %.0f |", 1e4*float64(len(h.pattern.FindAllString(text, -1)))/float64(max(1, words)))
	}
	b.WriteString("\n")
}

// wordsByRow reads the second column of the page's table.
func wordsByRow(page string) map[string]int {
	rows := map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\| (.+?) \| (\d+) \|`).FindAllStringSubmatch(page, -1) {
		n := 0
		if _, err := fmt.Sscan(m[2], &n); err == nil {
			rows[m[1]] = n
		}
	}
	return rows
}
