// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "draw the picture of rooms again")

// TestPicture holds the picture of rooms in CONTRIBUTING.md to the imports.
func TestPicture(t *testing.T) {
	m, err := Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	const page, from, to = root + "/CONTRIBUTING.md", "```mermaid\n", "```\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), from)
	picture, after, closed := strings.Cut(rest, to)
	if !found || !closed {
		t.Fatalf("%s must have a picture between %q and %q", page, from, to)
	}
	want := drawRooms(m.roomArrows())
	if *update {
		if err := os.WriteFile(page, []byte(before+from+want+to+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if picture != want {
		t.Errorf("the picture of rooms is not as the imports: go test ./internal/check/lint -run TestPicture -update\n%s", want)
	}
}

// roomArrows returns the rooms that each room of internal imports.
func (m *Module) roomArrows() map[string]map[string]bool {
	arrows := map[string]map[string]bool{}
	for _, f := range m.production() {
		from := roomOf(f.Package)
		if !strings.HasPrefix(f.Name, "internal/") || from == "check" {
			continue
		}
		if arrows[from] == nil {
			arrows[from] = map[string]bool{}
		}
		for _, spec := range f.AST.Imports {
			if short, ours := m.shortName(importPath(spec)); ours && roomOf(short) != from {
				arrows[from][roomOf(short)] = true
			}
		}
	}
	return arrows
}

// drawRooms draws an arrow for each import that no longer way of arrows implies.
func drawRooms(arrows map[string]map[string]bool) string {
	reach := func(from, to string) bool {
		seen, todo := map[string]bool{}, []string{from}
		for len(todo) > 0 {
			at := todo[0]
			todo = todo[1:]
			for next := range arrows[at] {
				if next == to {
					return true
				}
				if !seen[next] {
					seen[next] = true
					todo = append(todo, next)
				}
			}
		}
		return false
	}
	var b strings.Builder
	b.WriteString("graph TD\n")
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		for _, to := range slices.Sorted(maps.Keys(arrows[from])) {
			implied := false
			for next := range arrows[from] {
				implied = implied || next != to && reach(next, to)
			}
			if !implied {
				fmt.Fprintf(&b, "  %s --> %s\n", from, to)
			}
		}
	}
	return b.String()
}

func TestDrawRooms(t *testing.T) {
	got := drawRooms(map[string]map[string]bool{"a": {"b": true, "c": true}, "b": {"c": true}, "c": {}, "d": {"c": true}})
	if want := "graph TD\n  a --> b\n  b --> c\n  d --> c\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
