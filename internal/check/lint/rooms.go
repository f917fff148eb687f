// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"slices"
	"strings"
)

// core are the rooms of the core, from the ground up. A room may import those before it.
var core = []string{"ground", "privacy", "table", "ledger", "guard", "model", "learn", "train", "release", "commands"}

// products stand beside the core, which imports none of them. They do not import one another, so that
// each can be left out.
var products = []string{"net", "serve", "explorer", "spark"}

// programs join rooms of the core with the products named.
var programs = map[string][]string{
	"cmd/discreet":       {"serve", "explorer", "spark"},
	"cmd/discreet-net":   {"net", "spark"},
	"cmd/discreet-serve": {"serve"},
}

// roomOf returns the first folder of a package.
func roomOf(pkg string) string {
	room, _, _ := strings.Cut(pkg, "/")
	return room
}

// mayEnter reports whether production code of a package may import another one of this module. The
// laboratory may import anything; checkImports says who imports packages for tests.
func mayEnter(from, to string) bool {
	own, other := roomOf(from), roomOf(to)
	height := slices.Index(core, other)
	switch {
	case own == other && own != "cmd", own == "lab", testOnly(from), testOnly(to):
		return true
	case slices.Contains(core, own):
		return height >= 0 && height < slices.Index(core, own)
	case slices.Contains(products, own): // of which some have commands, of their own room
		return height >= 0 && (other != "commands" || under(from, own+"/commands"))
	case own == ".":
		return height >= 0 && other != "commands"
	case own == "cmd":
		return height >= 0 || to == "." || slices.Contains(programs[from], other)
	}
	return false
}

// checkRooms checks that every folder of internal is a room, and who imports whom among rooms. Tests
// may import any package.
func checkRooms(m *Module) (bad []string) {
	named := slices.Concat(core, products, []string{"check"})
	for _, f := range m.production() {
		if strings.HasPrefix(f.Name, "internal/") && !slices.Contains(named, roomOf(f.Package)) {
			bad = append(bad, m.at(f.AST.Package, "internal/%s is none of the rooms %s", roomOf(f.Package), strings.Join(named, ", ")))
			continue
		}
		for _, spec := range f.AST.Imports {
			if to, ours := m.shortName(importPath(spec)); ours && !mayEnter(f.Package, to) {
				bad = append(bad, m.at(spec.Pos(), "%s may not import %s: a room stands on those before it, a product on the core alone, "+
					"and programs join them (internal/check/lint/rooms.go)", f.Package, to))
			}
		}
	}
	return bad
}
