// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"io/fs"
	"regexp"
	"strings"
)

var testName = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*)(…?)")

// checkNamedTests wants every test that a page names: a promise that leans on a
// test which is gone leans on nothing. TestX… names all that begin so.
func checkNamedTests(m *Module) (bad []string) {
	there := map[string]bool{}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			for _, d := range f.AST.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && f.Test && fn.Recv == nil {
					there[fn.Name.Name] = true
				}
			}
		}
	}
	for _, pattern := range []string{"docs/*.md", guarantees + "/*.md"} {
		pages, err := fs.Glob(m.FS, pattern)
		if err != nil {
			return []string{err.Error()}
		}
		for _, page := range pages {
			text, err := fs.ReadFile(m.FS, page)
			if err != nil {
				return []string{err.Error()}
			}
			for _, name := range testName.FindAllStringSubmatch(string(text), -1) {
				some := there[name[1]]
				for t := range there {
					some = some || name[2] != "" && strings.HasPrefix(t, name[1])
				}
				if !some {
					bad = append(bad, page+": names "+name[1]+", and there is no such test")
				}
			}
		}
	}
	return bad
}
