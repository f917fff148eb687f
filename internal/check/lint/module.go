// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Module holds the sources of one Go module, and of the modules nested in it whose paths begin with
// its own.
type Module struct {
	Path   string   // as in go.mod
	Nested []string // folders of the nested modules
	FS     fs.FS
	Fset   *token.FileSet
	Files  []*File
}

// File is one parsed Go file.
type File struct {
	Name    string // relative to the module root
	Package string // folder relative to the module root without internal, e.g. privacy/dp; "." for the root
	Src     []byte
	AST     *ast.File
	Test    bool
}

// Load parses every Go file below root with any build tags, except testdata, hidden folders and nested
// modules of others.
func Load(root fs.FS) (*Module, error) {
	own, err := readModulePath(root, ".")
	if err != nil {
		return nil, err
	}
	m := &Module{Path: own, FS: root, Fset: token.NewFileSet()}
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == "." {
				return nil
			}
			base := path.Base(name)
			nested, err := readModulePath(root, name)
			if base == "testdata" || base[0] == '.' || base[0] == '_' || err == nil && nested != m.Path+"/"+name {
				return fs.SkipDir
			}
			if err == nil {
				m.Nested = append(m.Nested, name)
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		src, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(m.Fset, name, src, parser.ParseComments)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, &File{Name: name, Package: shortName(path.Dir(name)), Src: src, AST: f,
			Test: strings.HasSuffix(name, "_test.go")})
		return nil
	})
	return m, err
}

// readModulePath reads the path of the module in a folder.
func readModulePath(root fs.FS, dir string) (string, error) {
	mod, err := fs.ReadFile(root, path.Join(dir, "go.mod"))
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(mod)) {
		if p, ok := strings.CutPrefix(line, "module "); ok {
			return strings.TrimSpace(p), nil
		}
	}
	return "", fmt.Errorf("%s/go.mod names no module", dir)
}

// production returns the files that are not tests.
func (m *Module) production() []*File {
	return slices.DeleteFunc(slices.Clone(m.Files), func(f *File) bool { return f.Test })
}

// readPages returns the texts of the files that match one of the patterns, by name.
func (m *Module) readPages(patterns ...string) (texts map[string]string, err error) {
	texts = map[string]string{}
	for _, pattern := range patterns {
		names, err := fs.Glob(m.FS, pattern)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			text, err := fs.ReadFile(m.FS, name)
			if err != nil {
				return nil, err
			}
			texts[name] = string(text)
		}
	}
	return texts, nil
}

// at formats a complaint as file:line: text.
func (m *Module) at(pos token.Pos, format string, args ...any) string {
	p := m.Fset.Position(pos)
	return fmt.Sprintf("%s:%d: %s", p.Filename, p.Line, fmt.Sprintf(format, args...))
}

// shortName removes "internal" from a folder, since everything except the library is internal.
func shortName(dir string) string {
	return strings.ReplaceAll(strings.TrimPrefix(dir, "internal/"), "/internal/", "/")
}

// shortName translates an import path into the short name of a package of this module.
func (m *Module) shortName(importPath string) (name string, ours bool) {
	if importPath == m.Path {
		return ".", true
	}
	dir, ours := strings.CutPrefix(importPath, m.Path+"/")
	return shortName(dir), ours
}

// importPath returns the unquoted path of an import.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		panic(err) // the parser accepted it
	}
	return p
}

// standard reports whether an import path belongs to the standard library.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// under reports whether path is root or lies below it.
func under(path, root string) bool { return path == root || strings.HasPrefix(path, root+"/") }

// qualified returns the import path and the name of an expression like pkg.Name, using the file's
// imports.
func (f *File) qualified(e ast.Expr) (pkg, name string) {
	sel, ok := e.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	id, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	for _, spec := range f.AST.Imports {
		p := importPath(spec)
		local := path.Base(p)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == id.Name {
			return p, sel.Sel.Name
		}
	}
	return "", ""
}
