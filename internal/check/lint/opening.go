// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"slices"
	"strings"
)

// opener is the only package that opens files for reading.
const opener = "ground/openfile"

// openers are functions by which others would: each waits for ever for the writer to a pipe.
var openers = map[string][]string{
	"os":                    {"Open", "ReadFile", "DirFS", "OpenRoot", "OpenInRoot", "NewFile"},
	"io/ioutil":             {"ReadFile"},
	"syscall":               {"Open"},
	"archive/zip":           {"OpenReader"},
	"crypto/tls":            {"LoadX509KeyPair"},
	"net/http":              {"Dir", "ServeFile"},
	"html/template":         {"ParseFiles", "ParseGlob"},
	"text/template":         {"ParseFiles", "ParseGlob"},
	"debug/elf":             {"Open"},
	"golang.org/x/sys/unix": {"Open", "Openat"},
}

// checkOpening makes every file that a program reads pass package openfile, which waits for no pipe
// but for one that is a table. os.OpenFile may create new files elsewhere, with O_EXCL. Experiments
// read the data sets that they bring.
func checkOpening(m *Module) (bad []string) {
	for _, f := range m.production() {
		if testOnly(f.Package) || f.Package == opener || under(f.Package, "lab") && !under(f.Package, "lab/cmd") {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 3 && !slices.ContainsFunc(call.Args, isExclusive) {
				if pkg, name := f.qualified(call.Fun); pkg == "os" && name == "OpenFile" {
					bad = append(bad, m.at(n.Pos(), "os.OpenFile without O_EXCL: open files by package %s", opener))
				}
			}
			if e, ok := n.(ast.Expr); ok {
				if pkg, name := f.qualified(e); slices.Contains(openers[pkg], name) {
					bad = append(bad, m.at(n.Pos(), "%s.%s: open files by package %s, which waits for no pipe", pkg, name, opener))
				}
			}
			return true
		})
	}
	return bad
}

// isExclusive reports whether an expression names O_EXCL.
func isExclusive(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		found = found || ok && strings.HasSuffix(id.Name, "O_EXCL")
		return true
	})
	return found
}
