// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	testName   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*|test_[a-z0-9_]+)(…?)")
	scriptName = regexp.MustCompile("`TestScripts/([a-z0-9_]+)`")
	pythonTest = regexp.MustCompile(`(?m)^def (test_[a-z0-9_]+)\(`)
)

const pythonTests = "python/tests/*.py"

// checkNamedTests requires that every test named on a page exists, because a promise that refers to a
// deleted test is unsupported. TestX… names all tests with this prefix, and TestScripts/x a script of
// the commands.
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
	for _, pattern := range []string{pythonTests, "docs/*.md", "evidence/*.md", guarantees + "/*.md"} {
		pages, err := fs.Glob(m.FS, pattern)
		if err != nil {
			return []string{err.Error()}
		}
		for _, page := range pages {
			text, err := fs.ReadFile(m.FS, page)
			if err != nil {
				return []string{err.Error()}
			}
			if pattern == pythonTests {
				for _, def := range pythonTest.FindAllStringSubmatch(string(text), -1) {
					there[def[1]] = true
				}
				continue
			}
			for _, script := range scriptName.FindAllStringSubmatch(string(text), -1) {
				if _, err := fs.Stat(m.FS, "cmd/discreet/testdata/"+script[1]+".txtar"); err != nil {
					bad = append(bad, page+": names the script "+script[1]+", and there is none")
				}
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

// goCommand matches a call of Go in the Makefile and on pages, up to the end of the line. Folders are
// relative to the module, or to the page.
var (
	goCommand = regexp.MustCompile("(?:go|\\$\\(GO\\)) (?:test|run|build|generate) [^`\n]*")
	goFolder  = regexp.MustCompile(`(?:^| )\./([a-z0-9_/-]+)`)
)

// checkNamedPackages requires that every package in a command of the Makefile or of a page exists.
// Commands that are rarely run would otherwise break unnoticed.
func checkNamedPackages(m *Module) (bad []string) {
	pages, err := listPages(m)
	if err != nil {
		return []string{err.Error()}
	}
	for _, page := range append(pages, "Makefile") {
		text, err := fs.ReadFile(m.FS, page)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return []string{err.Error()}
		}
		for _, command := range goCommand.FindAllString(string(text), -1) {
			for _, folder := range goFolder.FindAllStringSubmatch(command, -1) {
				if !isFolder(m.FS, folder[1]) && !isFolder(m.FS, path.Join(path.Dir(page), folder[1])) {
					bad = append(bad, fmt.Sprintf("%s: names ./%s, and there is no such package", page, folder[1]))
				}
			}
		}
	}
	return bad
}

func isFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, strings.Trim(path.Clean(name), "/"))
	return err == nil && info.IsDir()
}
