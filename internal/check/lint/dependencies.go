// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

const dependencyPage = "evidence/decisions/0001-dependencies.md"

// dependencyRow is a row of the page's table: module, version, reason, drawbacks.
var dependencyRow = regexp.MustCompile("(?m)^\\| *`([^`]+)` *\\| *([^|]*?) *\\| *([^|]*?) *\\| *([^|]*?) *\\|")

// checkDependencies compares the imports of the sources, and the pinned tools, with the page that
// gives the reason for each dependency.
func checkDependencies(m *Module) (bad []string) {
	versions, tools := map[string]string{}, []string{}
	for _, dir := range append([]string{"."}, m.Nested...) {
		mod, err := fs.ReadFile(m.FS, path.Join(dir, "go.mod"))
		if err != nil {
			return []string{err.Error()}
		}
		required, used := parseMod(string(mod))
		tools = append(tools, used...)
		for lib, version := range required {
			was, twice := versions[lib]
			if twice && was != version {
				bad = append(bad, fmt.Sprintf("%s/go.mod: %s is %s here and %s in go.mod", dir, lib, version, was))
			}
			if !twice && lib != m.Path {
				versions[lib] = version
			}
		}
	}
	moduleOf := func(importPath string) string { // the longest module path wins
		best := ""
		for lib := range versions {
			if under(importPath, lib) && len(lib) > len(best) {
				best = lib
			}
		}
		return best
	}
	used := map[string]bool{}
	for _, t := range tools {
		used[moduleOf(t)] = true
	}
	for _, f := range m.Files {
		for _, spec := range f.AST.Imports {
			ip := importPath(spec)
			if _, ours := m.shortName(ip); ours || standard(ip) {
				continue
			}
			used[moduleOf(ip)] = true // "" for what is in no go.mod, which does not compile
		}
	}
	page, err := fs.ReadFile(m.FS, dependencyPage)
	if err != nil {
		return append(bad, err.Error())
	}
	listed := map[string]bool{}
	for _, r := range dependencyRow.FindAllStringSubmatch(string(page), -1) {
		path, version, why := r[1], r[2], r[3]
		listed[path] = true
		switch {
		case !used[path]:
			bad = append(bad, dependencyPage+": "+path+" is listed but nothing imports it")
		case version != versions[path]:
			bad = append(bad, dependencyPage+": "+path+" is listed as "+version+", go.mod says "+versions[path])
		case why == "":
			bad = append(bad, dependencyPage+": "+path+" has no reason")
		}
	}
	for path := range used {
		if path != "" && !listed[path] {
			bad = append(bad, "go.mod: "+path+" is used but "+dependencyPage+" gives no reason for it")
		}
	}
	slices.Sort(bad)
	return bad
}

// parseMod reads the required versions and the tools from a go.mod file.
func parseMod(text string) (versions map[string]string, tools []string) {
	versions = map[string]string{}
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
		case f[0] == ")":
			block = ""
		case len(f) == 2 && f[1] == "(":
			block = f[0]
		default:
			if block != "" {
				f = append([]string{block}, f...)
			}
			if f[0] == "require" && len(f) == 3 {
				versions[f[1]] = f[2]
			}
			if f[0] == "tool" && len(f) == 2 {
				tools = append(tools, f[1])
			}
		}
	}
	return versions, tools
}
