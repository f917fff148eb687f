// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/callgraph/rta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// function is a declared function, Recv.Name for a method, and where, as file:line.
type function struct{ name, at string }

// reach is which functions the programs of a module are made of, and which of them
// are ever called.
type reach struct {
	functions []function
	byProduct map[string]bool // by function.at: from the command, or a program that uses the library
	byLab     map[string]bool // from the laboratory's command
}

// findReach follows all calls from the module's programs, by rapid type analysis,
// which misses calls by reflection and assembly alone. The library's own tests stand
// for programs that use it, and so does all that it exports. Packages that nothing but
// other tests import are in no program.
func findReach(dir, module string) (*reach, error) {
	env, err := goEnv(dir)
	if err != nil {
		return nil, err
	}
	cfg := &packages.Config{Mode: packages.LoadAllSyntax, Dir: dir, Env: env, Tests: true}
	loaded, err := packages.Load(cfg, ".", "./cmd/discreet", "./cmd/discreet-net", "./lab/cmd/discreet-lab")
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: %w", p.ID, p.Errors[0])
		}
	}
	loaded = slices.DeleteFunc(loaded, func(p *packages.Package) bool { // the commands' tests are no users
		return p.ID != p.PkgPath && !strings.HasPrefix(p.ID, module+" ") && !strings.HasPrefix(p.ID, module+"_test ") ||
			strings.HasSuffix(p.ID, ".test") && p.ID != module+".test"
	})
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	prog, made := ssautil.AllPackages(loaded, ssa.InstantiateGenerics)
	prog.Build()
	out := &reach{}
	at := func(f *ssa.Function) string {
		pos := prog.Fset.Position(f.Pos())
		name, err := filepath.Rel(root, pos.Filename)
		if err != nil || strings.HasPrefix(name, "..") {
			return ""
		}
		return fmt.Sprintf("%s:%d", filepath.ToSlash(name), pos.Line)
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		if p.ID != p.PkgPath || p.PkgPath != module && !strings.HasPrefix(p.PkgPath, module+"/") {
			return
		}
		for _, file := range p.Syntax {
			if ast.IsGenerated(file) {
				continue
			}
			for _, d := range file.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && fn.Name.Name != "init" && fn.Name.Name != "_" && !isMarker(fn) {
					f := prog.FuncValue(p.TypesInfo.Defs[fn.Name].(*types.Func))
					out.functions = append(out.functions, function{strings.TrimPrefix(receiverName(fn)+"."+fn.Name.Name, "."), at(f)})
				}
			}
		}
	})
	var product, lab []*ssa.Function
	for i, p := range made {
		if p == nil {
			continue
		}
		switch id := loaded[i].ID; id {
		case module:
			product = append(product, exportedFunctions(prog, p.Pkg)...)
		case module + ".test", module + "/cmd/discreet", module + "/cmd/discreet-net":
			product = append(product, p.Func("init"), p.Func("main"))
		case module + "/lab/cmd/discreet-lab":
			lab = append(lab, p.Func("init"), p.Func("main"))
		}
	}
	follow := func(roots []*ssa.Function) map[string]bool {
		reached := map[string]bool{}
		for f := range rta.Analyze(roots, false).Reachable {
			if f.Pos().IsValid() {
				reached[at(f)] = true
			}
		}
		return reached
	}
	out.byProduct, out.byLab = follow(product), follow(lab)
	return out, nil
}

// isMarker reports whether a method is there for its name: it does nothing.
func isMarker(fn *ast.FuncDecl) bool {
	return fn.Recv != nil && fn.Type.Params.NumFields() == 0 && fn.Body != nil && len(fn.Body.List) == 0
}

// exportedFunctions are the functions that a package exports and all methods of types
// that it exports, but for generic ones, which have a body where they are used only.
func exportedFunctions(prog *ssa.Program, p *types.Package) (out []*ssa.Function) {
	note := func(f *types.Func) {
		if sig := f.Signature(); sig.TypeParams().Len() == 0 && sig.RecvTypeParams().Len() == 0 {
			out = append(out, prog.FuncValue(f))
		}
	}
	for _, name := range p.Scope().Names() {
		switch o := p.Scope().Lookup(name).(type) {
		case *types.Func:
			if o.Exported() {
				note(o)
			}
		case *types.TypeName:
			named, ok := o.Type().(*types.Named)
			for i := 0; ok && o.Exported() && i < named.NumMethods(); i++ {
				note(named.Method(i))
			}
		}
	}
	return out
}
