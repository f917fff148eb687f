// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const root = "../../.."

// folders lists all folders of sources below the root, from the root; out holds what was built.
var folders = sync.OnceValues(func() (all []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if n := d.Name(); path != root && (n == "testdata" || n == "out" || n[0] == '.' || n[0] == '_') {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		all = append(all, filepath.ToSlash(rel))
		return err
	})
	return all, err
})

// folderOf finds the one folder whose path ends as given. So a row survives a move of a folder.
func folderOf(end string) (string, error) {
	all, err := folders()
	if err != nil {
		return "", err
	}
	var found []string
	for _, f := range all {
		if f == end || strings.HasSuffix(f, "/"+end) {
			found = append(found, f)
		}
	}
	if len(found) != 1 {
		return "", fmt.Errorf("%d folders end in %q, want 1: %q", len(found), end, found)
	}
	return found[0], nil
}

// filesOf lists the Go files of a folder: its tests, or all others.
func filesOf(folder string, tests bool) (out []string, err error) {
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") == tests {
			out = append(out, path)
		}
	}
	return out, err
}

// A spot is a piece of a file.
type spot struct {
	file     string
	src      []byte
	from, to int
}

func (s spot) String() string { return string(s.src[s.from:s.to]) }

// planted is the spot's file with another text in place of the spot.
func (s spot) planted(text string) []byte {
	return slices.Concat(s.src[:s.from], []byte(text), s.src[s.to:])
}

// A scope has the declarations of a package by name. A name stands twice if two builds declare it.
type scope map[string][]spot

var scopes = map[string]scope{} // by folder

// scopeOf reads the declarations of a folder, once.
func scopeOf(folder string) (scope, error) {
	if found, ok := scopes[folder]; ok {
		return found, nil
	}
	paths, err := filesOf(folder, false)
	if err != nil {
		return nil, err
	}
	out := scope{}
	for _, path := range paths {
		src, err := os.ReadFile(path)
		if err == nil {
			err = out.add(path, src)
		}
		if err != nil {
			return nil, err
		}
	}
	scopes[folder] = out
	return out, nil
}

// add adds the functions, methods (Type.Method), types, variables and constants of a file.
func (s scope) add(path string, src []byte) error {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	declare := func(name string, n ast.Node) {
		s[name] = append(s[name], spot{path, src, fset.Position(n.Pos()).Offset, fset.Position(n.End()).Offset})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = receiverOf(d.Recv.List[0].Type) + "." + name
			}
			declare(name, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					declare(spec.Name.Name, spec)
				case *ast.ValueSpec:
					declare(spec.Names[0].Name, spec)
				}
			}
		}
	}
	return nil
}

// find finds the one piece of the declaration of a name that reads as the pattern, whatever its file, spaces,
// line ends and comments.
func (s scope) find(name, pattern string) (spot, error) {
	if len(s[name]) == 0 {
		return spot{}, fmt.Errorf("nothing is declared as %s", name)
	}
	want := wordsOf([]byte(pattern))
	if len(want) == 0 {
		return spot{}, fmt.Errorf("no pattern for %s", name)
	}
	var found []spot
	for _, d := range s[name] {
		have := wordsOf([]byte(d.String()))
		for i := range max(0, len(have)-len(want)+1) {
			if slices.EqualFunc(want, have[i:i+len(want)], func(a, b word) bool { return a.text == b.text }) {
				found = append(found, spot{d.file, d.src, d.from + have[i].from, d.from + have[i+len(want)-1].to})
			}
		}
	}
	if len(found) != 1 {
		return spot{}, fmt.Errorf("%q stands %d times in %s, want once", pattern, len(found), name)
	}
	return found[0], nil
}

func receiverOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverOf(e.X)
	case *ast.IndexExpr:
		return receiverOf(e.X)
	case *ast.IndexListExpr:
		return receiverOf(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}

type word struct {
	text     string
	from, to int
}

// wordsOf lists the tokens of a piece of Go, without what gofmt adds and takes away.
func wordsOf(src []byte) (all []word) {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(src))
	var s scanner.Scanner
	s.Init(file, src, nil, 0)
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return all
		}
		if tok == token.SEMICOLON && text != ";" { // of a line's end
			continue
		}
		if text == "" {
			text = tok.String()
		}
		if n := len(all); n > 0 && all[n-1].text == "," && strings.Contains(")]}", text) {
			all = all[:n-1] // of a list in several lines
		}
		from := file.Offset(pos)
		all = append(all, word{text, from, from + len(text)})
	}
}

// A row keeps its place when its code is moved, reformatted or commented, and loses it, which is told, when
// the code is gone or stands there twice.
func TestPlaces(t *testing.T) {
	const code = "package p\n\nfunc (s *sum[T]) add(x int) int {\n\treturn f(s.all, x) // the sum\n}\n\nfunc f(a, b int) int { return a + b }\n"
	split := strings.Replace(code, "f(s.all, x)", "f(\n\t\ts.all, // all\n\t\tx,\n\t)", 1)
	for _, c := range []struct {
		what, name, pattern string
		files               []string
		want                string
	}{
		{"as written", "sum.add", "f(s.all, x)", []string{code}, "f(s.all, x)"},
		{"in another file", "sum.add", "f(s.all, x)", []string{"package p\n", code}, "f(s.all, x)"},
		{"in several lines", "sum.add", "f( s.all,x )", []string{split}, "f(\n\t\ts.all, // all\n\t\tx,\n\t)"},
		{"another function is gone", "f", "a + b", []string{strings.Replace(code, "f(s.all, x)", "0", 1)}, "a + b"},
		{"part of a name", "f", "a + bc", []string{strings.Replace(code, "a + b", "a + bcd", 1)}, ""},
		{"the function is gone", "sum.take", "f(s.all, x)", []string{code}, ""},
		{"the code is gone", "sum.add", "f(s.most, x)", []string{code}, ""},
		{"the code stands twice", "f", "a", []string{code}, ""},
		{"the function stands twice", "f", "a + b", []string{code, "package p\n\nfunc f(a, b int) int { return a + b }\n"}, ""},
		{"no code", "f", "", []string{code}, ""},
	} {
		all := scope{}
		for _, src := range c.files {
			if err := all.add("a.go", []byte(src)); err != nil {
				t.Fatal(err)
			}
		}
		at, err := all.find(c.name, c.pattern)
		if got := at.String(); got != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s: found %q (%v), want %q", c.what, got, err, c.want)
		}
	}
}

// parses says whether a text is a Go file.
func parses(src []byte) error {
	_, err := parser.ParseFile(token.NewFileSet(), "", bytes.NewReader(src), parser.SkipObjectResolution)
	return err
}
