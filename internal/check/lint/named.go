// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	testName   = regexp.MustCompile("`((?:Test|Fuzz)[A-Z][A-Za-z0-9]*|test_[a-z0-9_]+)(…?)")
	scriptName = regexp.MustCompile("`TestScripts/([a-z0-9_]+)`")
	pythonTest = regexp.MustCompile(`(?m)^def (test_[a-z0-9_]+)\(`)
)

// checkNamedTests requires that every test named on a page exists, because a promise that refers to a
// deleted test is unsupported. TestX… names all tests with this prefix, and TestScripts/x a script of
// the commands. Code named on a page of evidence, or in a package's comment, must exist as well.
func checkNamedTests(m *Module) (bad []string) {
	there := map[string]bool{}
	for _, f := range m.Files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test && fn.Recv == nil {
				there[fn.Name.Name] = true
			}
		}
	}
	python, err := m.readPages("python/tests/*.py")
	for _, text := range python {
		for _, def := range pythonTest.FindAllStringSubmatch(text, -1) {
			there[def[1]] = true
		}
	}
	pages, failed := m.readPages("docs/*.md", "evidence/*.md", guarantees+"/*.md")
	if err := errors.Join(err, failed); err != nil {
		return []string{err.Error()}
	}
	for page, text := range pages {
		for _, script := range scriptName.FindAllStringSubmatch(text, -1) {
			if _, err := fs.Stat(m.FS, "cmd/discreet/testdata/"+script[1]+".txtar"); err != nil {
				bad = append(bad, page+": names the script "+script[1]+", and there is none")
			}
		}
		for _, name := range testName.FindAllStringSubmatch(text, -1) {
			some := there[name[1]]
			for t := range there {
				some = some || name[2] != "" && strings.HasPrefix(t, name[1])
			}
			if !some {
				bad = append(bad, page+": names "+name[1]+", and there is no such test")
			}
		}
	}
	bad = append(bad, checkNamedCode(m, pages)...)
	slices.Sort(bad)
	return bad
}

var (
	codeOnPage = regexp.MustCompile("`((?:[a-z0-9]+/)+[a-z0-9]+)\\.([A-Za-z]\\w*(?:\\.[A-Za-z]\\w*)*)`")
	codeInText = regexp.MustCompile(`(^|[^\w./-])([A-Za-z]\w*)\.([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)(/|\b)`)
	fileInText = regexp.MustCompile(`(?:^|[\s(])([a-z]\w*\.go)\b`)
)

// checkNamedCode requires that code named as `folder/package.Name` on a page, and as Name.Member,
// package.Name or file.go in the comment of a package, exists.
func checkNamedCode(m *Module, pages map[string]string) (bad []string) {
	declared := map[string]map[string]bool{} // by folder of the package: names, and Type.Member
	anywhere := map[string]bool{}            // package.Name and Type.Member, whatever the folder
	for _, f := range m.Files {
		if declared[f.Package] == nil {
			declared[f.Package] = map[string]bool{}
		}
		for _, name := range declaredNames(f.AST) {
			declared[f.Package][name] = true
			anywhere[name], anywhere[f.AST.Name.Name+"."+name] = true, true
		}
	}
	for page, text := range pages {
		for _, code := range codeOnPage.FindAllStringSubmatch(text, -1) {
			if file := slices.Contains([]string{"go", "yaml", "tsv"}, code[2]); !file && !declared[code[1]][code[2]] {
				bad = append(bad, fmt.Sprintf("%s: names %s.%s, and there is no such code", page, code[1], code[2]))
			}
		}
	}
	for _, f := range m.production() {
		text := f.AST.Doc.Text()
		for _, file := range fileInText.FindAllStringSubmatch(text, -1) {
			if file[1] == strings.ToLower(file[1]) && !slices.ContainsFunc(m.Files, func(g *File) bool {
				return strings.HasPrefix(g.Name, path.Dir(f.Name)+"/") && path.Base(g.Name) == file[1]
			}) {
				bad = append(bad, fmt.Sprintf("%s: names %s, and there is no such file", f.Name, file[1]))
			}
		}
		for _, code := range codeInText.FindAllStringSubmatch(text, -1) {
			name := code[2] + "." + code[3]
			switch ext := path.Ext(name); {
			case code[4] == "/", name == "e.g", name == "i.e",
				slices.Contains([]string{".go", ".md", ".json", ".proto", ".py"}, ext),
				anywhere[name], declared[f.Package][name],
				strings.Contains(text, code[2]+", err :=") || strings.Contains(text, code[2]+" :="):
			default:
				bad = append(bad, fmt.Sprintf("%s: names %s, and there is no such code", f.Name, name))
			}
		}
	}
	return bad
}

// declaredNames returns what a file declares: names, and Type.Member for fields and methods.
func declaredNames(f *ast.File) (out []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			out = append(out, strings.TrimPrefix(receiverName(d)+"."+d.Name.Name, "."))
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.ValueSpec:
					for _, n := range s.Names {
						out = append(out, n.Name)
					}
				case *ast.TypeSpec:
					out = append(out, s.Name.Name)
					for _, member := range membersOf(s.Type) {
						out = append(out, s.Name.Name+"."+member)
					}
				}
			}
		}
	}
	return out
}

func membersOf(t ast.Expr) (out []string) {
	var fields *ast.FieldList
	switch t := t.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		return nil
	}
	for _, f := range fields.List {
		for _, n := range f.Names {
			out = append(out, n.Name)
		}
	}
	return out
}

// goCommand matches a call of Go in the Makefile and on pages, up to the end of the line. Folders are
// relative to the module, or to the page.
var (
	goCommand = regexp.MustCompile("(?:go|\\$\\(GO\\)) (?:test|run|build|generate) [^`\n]*")
	goFolder  = regexp.MustCompile(`(?:^| )\./([a-z0-9_/-]+)`)
)

// checkNamedPackages requires that every package in a command of the Makefile or of a page exists.
// Commands that are rarely run would otherwise break unnoticed.
func checkNamedPackages(m *Module) (bad []string) {
	pages, err := ownPages(m)
	rules, failed := m.readPages("Makefile")
	if err := errors.Join(err, failed); err != nil {
		return []string{err.Error()}
	}
	maps.Copy(pages, rules)
	for page, text := range pages {
		for _, command := range goCommand.FindAllString(text, -1) {
			for _, folder := range goFolder.FindAllStringSubmatch(command, -1) {
				if !isFolder(m.FS, folder[1]) && !isFolder(m.FS, path.Join(path.Dir(page), folder[1])) {
					bad = append(bad, fmt.Sprintf("%s: names ./%s, and there is no such package", page, folder[1]))
				}
			}
		}
	}
	slices.Sort(bad)
	return bad
}

func isFolder(files fs.FS, name string) bool {
	info, err := fs.Stat(files, strings.Trim(path.Clean(name), "/"))
	return err == nil && info.IsDir()
}
