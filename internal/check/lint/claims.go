// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"maps"
	"regexp"
	"slices"
)

const guarantees = "evidence/guarantees"

var (
	claimID      = regexp.MustCompile(`\bG-[A-Z]+-[0-9]+\b`)
	claimHeading = regexp.MustCompile(`(?m)^#{2,3} (G-[A-Z]+-[0-9]+)\b`)
)

// checkClaims requires a page for every claim that code names, and code for every claim on a page. A
// claim without a page cannot be checked, and a claim without code becomes out of date.
func checkClaims(m *Module) (bad []string) {
	named, written := map[string]string{}, map[string]string{}
	for _, f := range m.Files {
		if f.Package == "check/lint" || f.Package == "check/mutants" {
			continue // samples name claims that do not exist, and a planted bug is no code for a claim
		}
		for _, id := range claimID.FindAllString(string(f.Src), -1) {
			named[id] = f.Name
		}
	}
	pages, err := m.readPages(guarantees + "/*.md")
	if err != nil {
		return []string{err.Error()}
	}
	for _, page := range slices.Sorted(maps.Keys(pages)) {
		for _, h := range claimHeading.FindAllStringSubmatch(pages[page], -1) {
			if first, twice := written[h[1]]; twice {
				bad = append(bad, page+": "+h[1]+" already has a heading in "+first)
			}
			written[h[1]] = page
		}
	}
	for id, file := range named {
		if written[id] == "" {
			bad = append(bad, file+": names "+id+", but no page in "+guarantees+" has a heading for it")
		}
	}
	for id, page := range written {
		if named[id] == "" {
			bad = append(bad, page+": "+id+" is claimed, but no code names it")
		}
	}
	slices.Sort(bad)
	return bad
}
