// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// countUnplanted counts the tags of proofs in whose declaration no row of
// internal/mutants plants a bug: lines that a proof leans on, of which nobody has shown
// that a test leans on them, too.
func countUnplanted(m *Module) (n int, which []string) {
	planted := map[string]bool{} // package and declaration
	for file, olds := range plantedTexts(m) {
		for _, p := range m.Packages {
			for _, f := range p.Files {
				if f.Name != file {
					continue
				}
				for _, old := range olds {
					if at := bytes.Index(f.Src, []byte(old)); at >= 0 {
						for _, name := range declarationsIn(m, f, at, at+len(old)) {
							planted[p.Name+" "+name] = true
						}
					}
				}
			}
		}
	}
	pages, _ := readTagPages(m)
	for _, p := range m.production() {
		if !slices.ContainsFunc(pages, func(t tagPage) bool { return slices.Contains(t.packages, p.Name) }) {
			continue
		}
		for t, at := range findTags(m, p) {
			if !planted[p.Name+" "+t.name] {
				n, which = n+1, append(which, fmt.Sprintf("%s: %s in %s", at, t.tag, t.name))
			}
		}
	}
	slices.Sort(which)
	return n, which
}

// plantedTexts are the texts that rows of internal/mutants replace, by file.
func plantedTexts(m *Module) map[string][]string {
	out := map[string][]string{}
	for _, p := range m.Packages {
		if p.Name != "mutants" {
			continue
		}
		for _, f := range p.Files {
			ast.Inspect(f.AST, func(n ast.Node) bool {
				row, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				fields := map[string]string{}
				for _, e := range row.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						if key, ok := kv.Key.(*ast.Ident); ok {
							fields[key.Name], _ = stringLiteral(kv.Value)
						}
					}
				}
				if fields["File"] != "" && fields["Old"] != "" {
					out[path.Clean(fields["File"])] = append(out[path.Clean(fields["File"])], fields["Old"])
				}
				return true
			})
		}
	}
	return out
}

// declarationsIn names the declarations of a file that bytes from to to are part of, as
// tags' lists do.
func declarationsIn(m *Module, f *File, from, to int) (names []string) {
	in := func(n ast.Node) bool {
		return m.Fset.Position(n.Pos()).Offset < to && from < m.Fset.Position(n.End()).Offset
	}
	for _, d := range f.AST.Decls {
		if !in(d) {
			continue
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			names = append(names, strings.TrimPrefix(receiverName(d)+"."+d.Name.Name, "."))
			if on := receiverName(d); on != "" { // what a type does is about the type
				names = append(names, on)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if !in(s) {
					continue
				}
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = append(names, s.Name.Name)
				case *ast.ValueSpec:
					for _, id := range s.Names {
						names = append(names, id.Name)
					}
				}
			}
		}
	}
	return names
}
