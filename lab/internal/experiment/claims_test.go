// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the thresholds into the table of claims")

const (
	claimsTable = "claims.tsv"
	papersPage  = "../../../evidence/papers.md"
	figureTable = "../../../evidence/benchmarks/figures.tsv"
)

// claim is one row of the table: a check, or several where * and ? stand for anything and for one character, and
// or joins names.
type claim struct {
	figure, check, words, threshold, fixed, reason, changed string

	papers []string // what the checks of the row say of themselves
	later  []bool   // whether each has no part in its verdict
}

// readClaims returns the rows of the table, and its lines with the number of each row's.
func readClaims(t *testing.T) (rows []*claim, lines []string, at []int) {
	t.Helper()
	page, err := os.ReadFile(claimsTable)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(string(page), "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		if len(cells) != 7 || cells[0] == "figure" {
			continue
		}
		rows = append(rows, &claim{figure: cells[0], check: cells[1], words: cells[2], threshold: cells[3], fixed: cells[4],
			reason: cells[5], changed: cells[6]})
		at = append(at, i)
	}
	return rows, lines, at
}

var figureOnPage = regexp.MustCompile("`((?:shen|chaudhuri|wangchang|hamm)/[^`]+)`")

// matches says whether a name fits a pattern of *, ? and alternatives joined by "or".
func matches(pattern, name string) bool {
	for _, p := range strings.Split(pattern, " or ") {
		if fits([]rune(p), []rune(name)) {
			return true
		}
	}
	return false
}

func fits(p, s []rune) bool {
	switch {
	case len(p) == 0:
		return len(s) == 0
	case p[0] == '*':
		return fits(p[1:], s) || len(s) > 0 && fits(p, s[1:])
	}
	return len(s) > 0 && (p[0] == '?' || p[0] == s[0]) && fits(p[1:], s[1:])
}

// Each check of each figure is a row of the table, with its threshold, the paper's words,
// the date it was fixed, a reason and what was changed since; what has no part in a
// verdict is marked there, and nothing in the table is about a check that is no more. Each figure of a paper
// stands on the page of the papers, and each figure named there is one.
func TestClaimsArePublished(t *testing.T) {
	rows, lines, at := readClaims(t)
	page, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{"wangchang/brazil": true} // runs only if someone has that table
	for _, name := range figureOnPage.FindAllStringSubmatch(string(page), -1) {
		named[name[1]] = true
	}
	there := map[string]bool{"wangchang/brazil": true}
	for _, f := range All() {
		there[f.Name] = true
		if !named[f.Name] && !strings.HasPrefix(f.Name, "frontier/") {
			t.Errorf("%s is in no row of %s", f.Name, papersPage)
		}
	}
	for name := range named {
		if !there[name] {
			t.Errorf("%s names %s, and there is no such figure", papersPage, name)
		}
	}
	for _, f := range All() {
		for _, c := range f.ListChecks() {
			var row *claim
			for _, r := range rows {
				// The checks of one name alone come before a pattern that would take them too.
				if matches(r.figure, f.Name) && (r.check == c.What || row == nil && matches(r.check, c.What)) {
					row = r
				}
			}
			if row == nil {
				t.Errorf("%s: %q is on no row of %s", f.Name, c.What, claimsTable)
				continue
			}
			if !slices.Contains(row.papers, c.Paper) {
				row.papers = append(row.papers, c.Paper)
			}
			row.later = append(row.later, c.Later != "")
		}
	}
	for i, r := range rows {
		want := strings.Join(r.papers, "; ")
		if *update {
			lines[at[i]] = strings.Join([]string{r.figure, r.check, r.words, want, r.fixed, r.reason, r.changed}, "\t")
			r.threshold = want
		}
		switch {
		case len(r.papers) == 0 && r.figure != "wangchang/brazil": // runs only if someone has that table
			t.Errorf("%s, %s: there is no such check", r.figure, r.check)
		case r.threshold != want:
			t.Errorf("%s, %s: the table says %q, the code %q: change the row and its last column (-update writes the "+
				"threshold)", r.figure, r.check, r.threshold, want)
		case r.words == "" || r.reason == "" || r.changed == "" || len(r.fixed) != len("2006-01-02"):
			t.Errorf("%s, %s: a cell is empty", r.figure, r.check)
		}
		for _, later := range r.later {
			if later != strings.HasPrefix(r.changed, "not counted") {
				t.Errorf("%s, %s: counted is %v in the code, the table says %q", r.figure, r.check, !later, r.changed)
			}
		}
	}
	if *update {
		if err := os.WriteFile(claimsTable, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The table of measured figures names figures and digests, its verdicts follow from its counts, and a row of the page of
// the papers that is about one of them alone has the same word.
func TestMeasuredFiguresAreOnThePage(t *testing.T) {
	table, err := os.ReadFile(figureTable)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(papersPage)
	if err != nil {
		t.Fatal(err)
	}
	digest := regexp.MustCompile("^[0-9a-f]{16}$")
	verdicts := map[string]string{}
	for line := range strings.Lines(string(table)) {
		c := strings.Split(strings.TrimSpace(line), "\t")
		if c[0] == "figure" {
			continue
		}
		if _, err := Find(c[0]); err != nil || len(c) != 8 || !digest.MatchString(c[4]) {
			t.Fatalf("%s: %q is no row of a figure", figureTable, line)
		}
		verdicts[c[0]] = c[1]
		if differs, unknown := c[6] != "0", c[7] != "0"; differs != (c[1] == "differs") || unknown && c[1] == "reproduced" {
			t.Errorf("%s: %s, with checks %q", c[0], c[1], c[5:])
		}
	}
	for line := range strings.Lines(string(page)) {
		names, cells := figureOnPage.FindAllStringSubmatch(line, -1), strings.Split(line, "|")
		if !strings.HasPrefix(line, "| ") || len(names) != 1 || len(cells) < 7 || verdicts[names[0][1]] == "" {
			continue
		}
		word := strings.TrimSpace(cells[5])
		if slices.Contains([]string{"reproduced", "differs", "partly", "not"}, word) && word != verdicts[names[0][1]] {
			t.Errorf("%s: %s on %s, %s in %s", names[0][1], word, papersPage, verdicts[names[0][1]], figureTable)
		}
	}
}
