// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	testName   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*|test_[a-z0-9_]+)(…?)")
	scriptName = regexp.MustCompile("`TestScripts/([a-z0-9_]+)`")
	pythonTest = regexp.MustCompile(`(?m)^def (test_[a-z0-9_]+)\(`)
)

// checkNamedTests requires that every test named on a page exists, because a promise that refers to a
// deleted test is unsupported. TestX… names all tests with this prefix, and TestScripts/x a script of
// the commands.
func checkNamedTests(m *Module) (bad []string) {
	there := map[string]bool{}
	for _, f := range m.Files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test && fn.Recv == nil {
				there[fn.Name.Name] = true
			}
		}
	}
	python, err := m.readPages("python/tests/*.py")
	for _, text := range python {
		for _, def := range pythonTest.FindAllStringSubmatch(text, -1) {
			there[def[1]] = true
		}
	}
	pages, failed := m.readPages("docs/*.md", "evidence/*.md", guarantees+"/*.md")
	if err := errors.Join(err, failed); err != nil {
		return []string{err.Error()}
	}
	for page, text := range pages {
		for _, script := range scriptName.FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(m.FS, "cmd/discreet/testdata/"+script[1]+".txtar"); err != nil {
				bad = append(bad, page+": names the script "+script[1]+", and there is none")
			}
		}
		for _, name := range testName.FindAllStringSubmatch(text, -1) {
			some := there[name[1]]
			for t := range there {
				some = some || name[2] != "" && strings.HasPrefix(t, name[1])
			}
			if !some {
				bad = append(bad, page+": names "+name[1]+", and there is no such test")
			}
		}
	}
	slices.Sort(bad)
	return bad
}

// goCommand matches a call of Go in the Makefile and on pages, up to the end of the line. Folders are
// relative to the module, or to the page.
var (
	goCommand = regexp.MustCompile("(?:go|\\$\\(GO\\)) (?:test|run|build|generate) [^`\n]*")
	goFolder  = regexp.MustCompile(`(?:^| )\./([a-z0-9_/-]+)`)
)

// checkNamedPackages requires that every package in a command of the Makefile or of a page exists.
// Commands that are rarely run would otherwise break unnoticed.
func checkNamedPackages(m *Module) (bad []string) {
	pages, err := ownPages(m)
	rules, failed := m.readPages("Makefile")
	if err := errors.Join(err, failed); err != nil {
		return []string{err.Error()}
	}
	maps.Copy(pages, rules)
	for page, text := range pages {
		for _, command := range goCommand.FindAllString(text, -1) {
			for _, folder := range goFolder.FindAllStringSubmatch(command, -1) {
				if !isFolder(m.FS, folder[1]) && !isFolder(m.FS, path.Join(path.Dir(page), folder[1])) {
					bad = append(bad, fmt.Sprintf("%s: names ./%s, and there is no such package", page, folder[1]))
				}
			}
		}
	}
	slices.Sort(bad)
	return bad
}

func isFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, strings.Trim(path.Clean(name), "/"))
	return err == nil && info.IsDir()
}
