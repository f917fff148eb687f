// SPDX-License-Identifier: Apache-2.0

// Package private follows private numbers through a program: what is computed from rows
// may reach the mechanisms, and nothing else may be decided, sized, printed or stored by it.
package private

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Rules say what is private and who may look at it. Names are those of types and functions
// after the module's path and internal: learn/brc.privateRows.sumWeights.
type Rules struct {
	Module   string
	Packages []string         // patterns of the packages that are looked at
	Roots    []string         // packages all of whose functions are followed
	Private  map[string]Field // fields that hold private numbers, as type.field
	// Answers are methods whose results are told by their fields alone; true for those whose
	// numbers are private too.
	Answers map[string]bool
	Exits   []string          // functions through which numbers leave, with noise
	Public  []string          // packages of types that must not hold private numbers
	Here    map[string]string // functions in which answers about public columns are read, and why they are public
	Kernels map[string]string // functions that may look at private numbers, and why
	Skipped map[string]string // functions that are not followed, and why
	Clean   []string          // kernels whose results are public
	Pure    []string          // packages without bodies here that only compute
}

// Field says what is private of a field.
type Field struct {
	Length bool     // how long it is, too, and not only what it holds
	In     []string // the packages that fill it with private numbers, or ask for them; none for all
}

// Finding is a line where something private shows.
type Finding struct {
	File     string
	Line     int
	Function string
	What     string
}

func (f Finding) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", f.File, f.Line, f.Function, f.What)
}

func (r *Rules) ours(path string) bool {
	return path == r.Module || strings.HasPrefix(path, r.Module+"/")
}

// kernel is the entry that lets a function look, "" for none: its own, or its package's.
func (r *Rules) kernel(name string) string {
	if _, ok := r.Kernels[name]; ok {
		return name
	}
	for entry := range r.Kernels {
		if strings.HasSuffix(entry, ".") && strings.HasPrefix(name, entry) {
			return entry
		}
	}
	return ""
}

func (r *Rules) isClean(name string) bool { return slices.Contains(r.Clean, name) }
func (r *Rules) isExit(name string) bool  { return slices.Contains(r.Exits, name) }
func (r *Rules) isPure(pkg string) bool {
	return slices.ContainsFunc(r.Pure, func(p string) bool { return pkg == p || strings.HasPrefix(pkg, p+"/") })
}

func (r *Rules) shortName(t types.Type) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	path := strings.TrimPrefix(strings.TrimPrefix(named.Obj().Pkg().Path(), r.Module+"/"), "internal/")
	return path + "." + named.Obj().Name()
}

// public is the name of a type that must not hold private numbers, "" for others.
func (r *Rules) public(t types.Type) string {
	name := r.shortName(t)
	if slices.ContainsFunc(r.Public, func(p string) bool { return name == p || strings.HasPrefix(name, p+".") }) {
		return name
	}
	return ""
}

// isPublicHere reports whether the fields of a type are public in a function.
func (r *Rules) isPublicHere(function string, t types.Type) bool {
	_, ok := r.Here[function]
	return ok && slices.ContainsFunc([]string{"table/engine.", "table/column."}, func(p string) bool {
		return strings.HasPrefix(r.shortName(t), p)
	})
}

// Check follows private numbers through the module in dir; overlay replaces files of it, by
// their whole paths. stale are exceptions that nothing needs.
func Check(dir string, r *Rules, overlay map[string][]byte) (bad []Finding, stale []string, err error) {
	mode := packages.LoadSyntax
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: dir, Overlay: overlay}, r.Packages...)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, nil, fmt.Errorf("%s: %w", p.ID, p.Errors[0])
		}
	}
	prog, made := ssautil.Packages(loaded, ssa.InstantiateGenerics)
	prog.Build()
	f := &flow{rules: r, prog: prog, fields: map[*types.Var]taint{}, globals: map[*ssa.Global]taint{},
		partly: map[*types.Var][]string{}, captured: map[*ssa.FreeVar]taint{}, written: map[*ssa.FreeVar]taint{},
		calls: map[string]*call{}, findings: map[string]Finding{},
		used: map[string]bool{}, bound: map[*ssa.FreeVar]*ssa.Function{}}
	missing := f.declare(made)
	functions := slices.Collect(maps.Keys(ssautil.AllFunctions(prog)))
	slices.SortFunc(functions, func(a, b *ssa.Function) int {
		return cmp.Or(cmp.Compare(a.Pos(), b.Pos()), cmp.Compare(a.String(), b.String()))
	})
	for _, fn := range functions {
		f.collect(fn)
	}
	slices.SortFunc(f.taken, func(a, b *ssa.Function) int { return cmp.Compare(a.Pos(), b.Pos()) })
	f.taken = slices.Compact(f.taken)
	f.run()
	for _, one := range f.findings {
		bad = append(bad, one)
	}
	slices.SortFunc(bad, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line, cmp.Compare(a.What, b.What))
	})
	for name := range r.Kernels {
		if !f.used[name] {
			stale = append(stale, name+" looks at nothing private: take it off the list")
		}
	}
	stale = append(stale, missing...)
	slices.Sort(stale)
	return bad, stale, nil
}

// declare notes which fields are private, and the types that there are. It returns names
// of the rules that the module has not.
func (f *flow) declare(made []*ssa.Package) (missing []string) {
	declared := map[string]bool{}
	for _, p := range made {
		if p == nil {
			continue
		}
		for _, m := range p.Members {
			t, ok := m.(*ssa.Type)
			if !ok {
				continue
			}
			if named, ok := t.Type().(*types.Named); ok && named.TypeParams().Len() == 0 {
				f.concrete = append(f.concrete, t.Type(), types.NewPointer(t.Type()))
			}
			s, ok := t.Type().Underlying().(*types.Struct)
			for i := 0; ok && i < s.NumFields(); i++ {
				name := f.rules.shortName(t.Type()) + "." + s.Field(i).Name()
				if rule, ok := f.rules.Private[name]; ok {
					declared[name] = true
					was := shaped(itself, s.Field(i).Type()) &^ lengthOf(s.Field(i).Type())
					if rule.Length {
						was |= itself
					}
					if f.fields[s.Field(i)] = was; rule.In != nil {
						f.partly[s.Field(i)] = rule.In
					}
				}
			}
		}
	}
	for name := range f.rules.Private {
		if !declared[name] {
			missing = append(missing, "no field is called "+name)
		}
	}
	return missing
}

// collect notes which functions are roots and which are used as values.
func (f *flow) collect(fn *ssa.Function) {
	if len(fn.Blocks) == 0 {
		return
	}
	// Others are called by these, with functions that are known there.
	if fn.Pkg != nil && fn.Parent() == nil && token.IsExported(fn.Name()) && f.rules.isRoot(fn.Pkg.Pkg.Path()) {
		f.enter(fn, make([]taint, len(fn.Params)), make([]*ssa.Function, len(fn.Params)), nil)
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if m, ok := in.(*ssa.MakeClosure); ok {
				f.taken = append(f.taken, m.Fn.(*ssa.Function))
			}
			for _, o := range in.Operands(nil) {
				v, ok := (*o).(*ssa.Function)
				if call, is := in.(ssa.CallInstruction); ok && !(is && call.Common().Value == v) {
					f.taken = append(f.taken, v)
				}
			}
		}
	}
}

func (r *Rules) isRoot(path string) bool {
	path = strings.TrimPrefix(strings.TrimPrefix(path, r.Module+"/"), "internal/")
	return slices.ContainsFunc(r.Roots, func(p string) bool { return path == p || strings.HasPrefix(path, p+"/") })
}
