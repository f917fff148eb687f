// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/packages"
)

// bounded are the packages in which every threshold needs a name and a test.
var bounded = []string{"federated/answer", "federated/collect", "federated/flp", "federated/multiparty",
	"federated/secsum", "federated/wire", "heldout", "lab/compare", "learn", "learn/brc", "learn/erm", "learn/grids", "learn/labeldp",
	"privacy/accounting", "privacy/ledger", "table/engine/blocks", "table/engine/kernel", "table/engine/memory",
	"table/engine/question", "table/engine/spark", "table/engine/statistic", "tune"}

// countless is the largest number that needs no name: numbers up to it are counts of classes, words or
// bytes of a code.
const countless = 4

// checkBounds requires a name for every number above countless with which something is compared or to
// which it is limited, and a test of the package that mentions the name. Without a test that knows the
// bound, a mistake beyond it is not found. Constants of other packages are exempt.
func checkBounds(m *Module, dir string) (bad []string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	err = m.eachTyped(dir, bounded, func(name string, p *packages.Package) {
		info, tested := p.TypesInfo, m.namesInTests(name)
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
					bad = append(bad, m.at(e.Pos(), "%s is a bound without a name: name it, and test on either side", types.ExprString(e)))
				case ours && !slices.ContainsFunc(names, func(n string) bool { return tested[n] }):
					bad = append(bad, m.at(e.Pos(), "no test of %s names the bound %s: test on either side", name, types.ExprString(e)))
				}
			}
		}
		for _, f := range p.Syntax {
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

// constantsOf returns the constants in a constant expression, or the arrays whose length it is; ours
// is true if all are of its own package.
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

// namesInTests returns the identifiers in a package's tests.
func (m *Module) namesInTests(name string) map[string]bool {
	names := map[string]bool{}
	for _, f := range m.Files {
		if f.Package == name && f.Test {
			ast.Inspect(f.AST, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok {
					names[id.Name] = true
				}
				return true
			})
		}
	}
	return names
}

// eachTyped calls do with each of the named packages, and its types.
func (m *Module) eachTyped(dir string, names []string, do func(name string, p *packages.Package)) error {
	env, err := goEnv(dir)
	if err != nil {
		return err
	}
	var patterns []string
	parsed := map[string]*ast.File{}
	for _, f := range m.production() {
		if slices.Contains(names, f.Package) {
			patterns = append(patterns, "./"+path.Dir(f.Name))
		}
		parsed[filepath.Join(dir, f.Name)] = f.AST
	}
	all, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: dir, Env: env, Fset: m.Fset,
		ParseFile: func(_ *token.FileSet, name string, _ []byte) (*ast.File, error) { return parsed[name], nil }}, patterns...)
	if err != nil {
		return err
	}
	for _, p := range all {
		if len(p.Errors) > 0 {
			return fmt.Errorf("%s does not compile: %w", p.PkgPath, p.Errors[0])
		}
		name, _ := m.shortName(p.PkgPath)
		do(name, p)
	}
	return nil
}
