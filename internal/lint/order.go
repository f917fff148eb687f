// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// exact lists the rooms whose sums must not depend on the order of a map: there
// a last bit that differs between two runs is a leak, or a model that cannot be
// checked against its twin.
var exact = []string{"learn", "lab/learn", "privacy/mech", "table/engine", "table/feature", "model", "optimize"}

// checkOrder finds floating-point sums that run in map order. dir is the
// module's folder; the go command supplies the types of what a room imports.
func checkOrder(m *Module, dir string) (bad []string, err error) {
	err = m.eachTyped(dir, exact, func(files []*ast.File, info *types.Info) {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if loop, ok := n.(*ast.RangeStmt); ok && unordered(info, loop.X) {
					for _, pos := range findSums(info, loop) {
						bad = append(bad,
							m.at(pos, "a floating-point sum in map order differs from run to run; sort the keys, or add integers"))
					}
				}
				return true
			})
		}
	})
	return bad, err
}

// eachTyped calls do with the files and the types of each package that is one of names, or under
// one.
func (m *Module) eachTyped(dir string, names []string, do func(files []*ast.File, info *types.Info)) error {
	var chosen []*Package
	var patterns []string
	for _, p := range m.production() {
		if slices.ContainsFunc(names, func(r string) bool { return under(p.Name, r) }) {
			chosen = append(chosen, p)
			patterns = append(patterns, "./"+p.Dir)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	imp, err := exportData(dir, patterns)
	if err != nil {
		return err
	}
	for _, p := range chosen {
		var files []*ast.File
		for _, f := range p.Files {
			// Only what the go command builds here has types to import.
			if built, err := build.Default.MatchFile(filepath.Join(dir, p.Dir), filepath.Base(f.Name)); err != nil {
				return err
			} else if built && !f.Test {
				files = append(files, f.AST)
			}
		}
		info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{},
			Uses: map[*ast.Ident]types.Object{}}
		conf := types.Config{Importer: importer.ForCompiler(m.Fset, "gc", imp), Error: func(error) {}}
		if _, err := conf.Check(m.Path+"/"+p.Dir, m.Fset, files, info); err != nil {
			return fmt.Errorf("%s does not compile: %w", p.Dir, err)
		}
		do(files, info)
	}
	return nil
}

// exportData lets the go command compile what the patterns import, and returns
// where the compiler's type information is.
func exportData(dir string, patterns []string) (importer.Lookup, error) {
	env, err := goEnv(dir)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", append([]string{"list", "-e", "-deps", "-export", "-json=ImportPath,Export"},
		patterns...)...)
	cmd.Dir, cmd.Env = dir, env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
	}
	return func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("no type information for %s", path)
		}
		return os.Open(exports[path])
	}, nil
}

// unordered reports whether ranging over x visits it in map order: a map, or
// one of the iterators of package maps.
func unordered(info *types.Info, x ast.Expr) bool {
	if t := info.TypeOf(x); t != nil {
		if _, ok := t.Underlying().(*types.Map); ok {
			return true
		}
	}
	call, ok := x.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	fn := info.Uses[sel.Sel]
	return fn != nil && fn.Pkg() != nil && fn.Pkg().Path() == "maps"
}

// findSums finds the float accumulators of a loop: assignments to something that
// outlives one turn and is not the turn's own element.
func findSums(info *types.Info, loop *ast.RangeStmt) (found []token.Pos) {
	ast.Inspect(loop.Body, func(n ast.Node) bool {
		as, ok := n.(*ast.AssignStmt)
		if !ok {
			return true
		}
		for i, lhs := range as.Lhs {
			if !isFloat(info.TypeOf(lhs)) || !outlives(info, lhs, loop) {
				continue
			}
			switch as.Tok {
			case token.ADD_ASSIGN, token.SUB_ASSIGN, token.MUL_ASSIGN, token.QUO_ASSIGN:
				found = append(found, as.Pos())
			case token.ASSIGN:
				if len(as.Rhs) == len(as.Lhs) && mentions(as.Rhs[i], lhs) {
					found = append(found, as.Pos())
				}
			}
		}
		return true
	})
	return found
}

func isFloat(t types.Type) bool {
	if t == nil {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&(types.IsFloat|types.IsComplex) != 0
}

// outlives reports whether lhs is declared before the loop, and is not indexed
// by the loop's own key.
func outlives(info *types.Info, lhs ast.Expr, loop *ast.RangeStmt) bool {
	for {
		switch x := lhs.(type) {
		case *ast.Ident:
			obj := info.ObjectOf(x)
			return obj != nil && (obj.Pos() < loop.Pos() || obj.Pos() >= loop.End())
		case *ast.IndexExpr:
			key, ok := loop.Key.(*ast.Ident)
			if id, is := x.Index.(*ast.Ident); ok && is && info.ObjectOf(id) == info.ObjectOf(key) {
				return false
			}
			lhs = x.X
		case *ast.SelectorExpr:
			lhs = x.X
		case *ast.StarExpr:
			lhs = x.X
		case *ast.ParenExpr:
			lhs = x.X
		default:
			return true
		}
	}
}

// mentions reports whether an arithmetic expression contains x, as text, as
// one of its operands.
func mentions(e, x ast.Expr) (found bool) {
	want := types.ExprString(x)
	b, ok := e.(*ast.BinaryExpr)
	if !ok {
		return false
	}
	ast.Inspect(b, func(n ast.Node) bool {
		if n, ok := n.(ast.Expr); ok && types.ExprString(n) == want {
			found = true
		}
		return !found
	})
	return found
}
