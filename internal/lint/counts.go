// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// limits are what the tree may have of each thing that is counted.
var limits = []struct {
	what  string
	limit int
	count func(*Module) (n int, which []string)
}{
	{"exported identifiers of importable packages", 190, countExported},
	{"entries at the top", 24, countTopEntries},
	{"pairs of packages with the same name", 0, countNamesakes},
	{"tags of proofs that no planted bug is about", 0, countUnplanted},
}

// checkLimits holds the tree to its limits.
func checkLimits(m *Module) (bad []string) {
	for _, l := range limits {
		n, which := l.count(m)
		if n > l.limit {
			bad = append(bad, fmt.Sprintf("%d %s, at most %d may be there:\n\t%s", n, l.what, l.limit,
				strings.Join(which, "\n\t")))
		}
	}
	return bad
}

// importable reports whether other modules can import a package.
func importable(p *Package) bool {
	return p.Files[0].AST.Name.Name != "main" && !slices.Contains(strings.Split(p.Dir, "/"), "internal")
}

// countExported counts what a reader of the library's documentation meets: exported
// constants, variables, types and functions, and the exported methods and fields of
// exported types.
func countExported(m *Module) (n int, which []string) {
	for _, p := range m.production() {
		if !importable(p) {
			continue
		}
		note := func(name string) {
			n++
			which = append(which, p.Name+": "+name)
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, d := range f.AST.Decls {
				switch d := d.(type) {
				case *ast.FuncDecl:
					on := receiverName(d)
					if d.Name.IsExported() && (on == "" || token.IsExported(on)) {
						note(strings.TrimPrefix(on+"."+d.Name.Name, "."))
					}
				case *ast.GenDecl:
					for _, s := range d.Specs {
						exportedOf(s, note)
					}
				}
			}
		}
	}
	return n, which
}

// receiverName is the name of the type that a method is of, "" for a function.
func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return "?"
		}
	}
}

func exportedOf(s ast.Spec, note func(string)) {
	switch s := s.(type) {
	case *ast.ValueSpec:
		for _, name := range s.Names {
			if name.IsExported() {
				note(name.Name)
			}
		}
	case *ast.TypeSpec:
		if !s.Name.IsExported() {
			return
		}
		note(s.Name.Name)
		var fields *ast.FieldList
		switch t := s.Type.(type) {
		case *ast.StructType:
			fields = t.Fields
		case *ast.InterfaceType:
			fields = t.Methods
		default:
			return
		}
		for _, f := range fields.List {
			for _, name := range f.Names {
				if name.IsExported() {
					note(s.Name.Name + "." + name.Name)
				}
			}
		}
	}
}

// countTopEntries counts what a visitor sees first: files and folders of the root,
// but for hidden ones and what is generated.
func countTopEntries(m *Module) (n int, which []string) {
	entries, err := fs.ReadDir(m.FS, ".")
	if err != nil {
		return 1 << 30, []string{err.Error()}
	}
	ignored := listIgnored(m)
	for _, e := range entries {
		name := e.Name()
		left := slices.ContainsFunc(ignored, func(pattern string) bool { ok, _ := path.Match(pattern, name); return ok })
		if !strings.HasPrefix(name, ".") && !left {
			which = append(which, name)
		}
	}
	return len(which), which
}

// listIgnored lists the patterns of .gitignore that are about entries of the root: what
// the README's commands leave there is not the project's.
func listIgnored(m *Module) (patterns []string) {
	text, _ := fs.ReadFile(m.FS, ".gitignore")
	for line := range strings.Lines(string(text)) {
		line = strings.Trim(strings.TrimSpace(line), "/")
		if line != "" && line[0] != '#' && !strings.Contains(line, "/") {
			patterns = append(patterns, line)
		}
	}
	return patterns
}

// countNamesakes counts pairs of packages that a reader cannot tell apart by name.
func countNamesakes(m *Module) (n int, which []string) {
	seen := map[string][]string{}
	for _, p := range m.production() {
		name := path.Base(p.Dir)
		for _, f := range p.Files {
			if !f.Test {
				name = f.AST.Name.Name
			}
		}
		if name == "main" {
			continue
		}
		for _, other := range seen[name] {
			n++
			which = append(which, other+" and "+p.Dir)
		}
		seen[name] = append(seen[name], p.Dir)
	}
	return n, which
}
