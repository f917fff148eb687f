// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"slices"
)

// bounded are the packages in which a number at which something changes has a name and a test.
var bounded = []string{"federated/answer", "federated/collect", "federated/flp", "federated/multiparty",
	"federated/secsum", "federated/wire", "heldout", "learn", "learn/brc", "learn/erm", "learn/grids", "learn/labeldp",
	"privacy/accounting", "privacy/ledger", "table/engine/blocks", "table/engine/kernel", "table/engine/memory",
	"table/engine/question", "table/engine/spark", "table/engine/statistic", "tune"}

// countless is the largest number that needs none: up to there numbers are of classes, words, bytes
// of a code.
const countless = 4

// checkBounds wants a name for every number above countless that something is compared with or held
// to, and a test of the package that names it: where no test knows a bound, a mistake beyond it is not
// seen. Constants of other packages are theirs to test.
func checkBounds(m *Module, dir string) (bad []string, err error) {
	err = m.eachTyped(dir, bounded, func(files []*ast.File, info *types.Info) {
		name := m.packageOf(files[0])
		if !slices.Contains(bounded, name) {
			return
		}
		tested := m.namesInTests(name)
		look := func(bounds ...ast.Expr) {
			for _, e := range bounds {
				v := info.Types[e].Value
				if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.CHAR || v == nil ||
					v.Kind() != constant.Int && v.Kind() != constant.Float ||
					constant.Compare(v, token.LEQ, constant.MakeInt64(countless)) {
					continue
				}
				names, ours := constantsOf(info, e)
				switch {
				case len(names) == 0:
					bad = append(bad, m.at(e.Pos(), "%s is a bound without a name: name it, and test on either side", m.source(e)))
				case ours && !slices.ContainsFunc(names, func(n string) bool { return tested[n] }):
					bad = append(bad, m.at(e.Pos(), "no test of %s names the bound %s: test on either side", name, m.source(e)))
				}
			}
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BinaryExpr:
					switch n.Op {
					case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
						look(n.X, n.Y)
					}
				case *ast.CallExpr:
					if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") {
						look(n.Args...)
					}
				case *ast.CaseClause:
					look(n.List...)
				}
				return true
			})
		}
	})
	slices.Sort(bad)
	return slices.Compact(bad), err
}

// constantsOf are the constants that a constant expression is made of, or the arrays whose length it
// is; ours if all are of its own package.
func constantsOf(info *types.Info, e ast.Expr) (names []string, ours bool) {
	ours = true
	ast.Inspect(e, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		switch info.Uses[id].(type) {
		case *types.PkgName:
			ours = false
		case *types.Const:
			names = append(names, id.Name)
		case *types.Builtin: // len of an array
			names, ours = append(names, id.Name), false
		}
		return true
	})
	return names, ours
}

// namesInTests are the identifiers of a package's tests.
func (m *Module) namesInTests(name string) map[string]bool {
	names := map[string]bool{}
	for _, p := range m.Packages {
		for _, f := range p.Files {
			if p.Name == name && f.Test {
				ast.Inspect(f.AST, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok {
						names[id.Name] = true
					}
					return true
				})
			}
		}
	}
	return names
}

// packageOf is the name of a file's package, as rules call it.
func (m *Module) packageOf(f *ast.File) string {
	for _, p := range m.production() {
		for _, of := range p.Files {
			if of.AST == f {
				return p.Name
			}
		}
	}
	return ""
}
