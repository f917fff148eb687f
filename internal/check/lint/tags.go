// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A proof leans on lines of code. In its argument it numbers them, (1.3) being the
// third of claim 1; the line bears the number in a comment, alone or before other
// words (// 1.3: rows meet noise), or its function's comment in brackets. The page
// lists if they are in a paragraph that begins so:
//
//	Tags in `learn/brc`: 1.1 `subroutine.listAll`, 1.2 and 1.3 `clip.stepWeight`.

const aTag = `[1-9]\.[0-9]+`
const someTags = aTag + `(?:(?:, | and )` + aTag + `)*`

var (
	tagPattern  = regexp.MustCompile(aTag)
	lineTags    = regexp.MustCompile(`(?:^//\s*|; )(` + someTags + `)(?:[:;]|\. |\.?$)`)
	bracketTags = regexp.MustCompile(`\((` + someTags + `)(?:[),;:])`)
	tagsList    = regexp.MustCompile("(?s)(?:^|\n)Tags in ((?:`[a-z/0-9]+`(?:, | and |,\n)?)+):(.*?)(?:\n\n|$)")
	tagEntry    = regexp.MustCompile(aTag + "|`[^`]+`")
	claimNumber = regexp.MustCompile(`(?m)^#{2,3} G-[A-Z]+-([0-9]+)\b`)
)

// tagged is a tag together with the declaration that has it.
type tagged struct{ tag, name string }

// tagPage holds the tags on one page of guarantees.
type tagPage struct {
	file     string
	packages []string
	listed   map[tagged]bool
}

// checkTags requires that the tags in a proof's argument, in the page's list and in the code agree:
// every tag in the argument is on the list; every tag on the list is in the argument and in the code
// of the function it names; and every tag in that code is on a list.
func checkTags(m *Module) (bad []string) {
	pages, bad := readTagPages(m)
	found := map[string]map[tagged]string{} // by package, if each is
	for _, f := range m.production() {
		if slices.ContainsFunc(pages, func(t tagPage) bool { return slices.Contains(t.packages, f.Package) }) {
			found[f.Package] = findTags(m, f.Package)
		}
	}
	onList := map[string]map[tagged]bool{} // by package
	for _, page := range pages {
		for t := range page.listed {
			there := false
			for _, name := range page.packages {
				if found[name][t] != "" {
					there = true
					if onList[name] == nil {
						onList[name] = map[tagged]bool{}
					}
					onList[name][t] = true
				}
			}
			if !there {
				bad = append(bad, fmt.Sprintf("%s: says that %s stands in %s of %s, and it does not", page.file, t.tag, t.name,
					strings.Join(page.packages, ", ")))
			}
		}
	}
	for name, tags := range found {
		for t, at := range tags {
			if !onList[name][t] {
				bad = append(bad, fmt.Sprintf("%s: bears tag %s in %s, and no page of proofs lists it", at, t.tag, t.name))
			}
		}
	}
	slices.Sort(bad)
	return bad
}

// readTagPages reads the lists, and checks each against its page's argument.
func readTagPages(m *Module) (out []tagPage, bad []string) {
	files, err := m.readPages(guarantees + "/*.md")
	if err != nil {
		return nil, []string{err.Error()}
	}
	for file, raw := range files {
		page := tagPage{file: file, listed: map[tagged]bool{}}
		listed, claims := map[string]bool{}, map[string]bool{}
		for _, c := range claimNumber.FindAllStringSubmatch(raw, -1) {
			claims[c[1]] = true
		}
		for _, list := range tagsList.FindAllStringSubmatch(raw, -1) {
			for _, name := range tagEntry.FindAllString(list[1], -1) {
				page.packages = append(page.packages, strings.Trim(name, "`"))
			}
			text, _, _ := strings.Cut(list[2], "Tests")
			for t := range readTagList(text) {
				page.listed[t], listed[t.tag] = true, true
			}
		}
		argument := map[string]bool{}
		text := tagsList.ReplaceAllString(raw, "\n\n")
		for _, some := range bracketTags.FindAllStringSubmatch(text, -1) {
			for _, t := range tagPattern.FindAllString(some[1], -1) {
				argument[t] = true
			}
		}
		for t := range argument {
			if !listed[t] && claims[strings.Split(t, ".")[0]] {
				bad = append(bad, file+": its argument leans on "+t+", and its list of tags has none of that number")
			}
		}
		for t := range listed {
			if !slices.Contains(tagPattern.FindAllString(text, -1), t) {
				bad = append(bad, file+": lists tag "+t+", and its argument does not lean on it")
			}
		}
		if len(page.listed) > 0 {
			out = append(out, page)
		}
	}
	return out, bad
}

// readTagList reads tags and the functions that have them: 1.1, 1.2 `f` and `g`.
func readTagList(text string) map[tagged]bool {
	out := map[tagged]bool{}
	var tags []string
	named := false
	for _, word := range tagEntry.FindAllString(text, -1) {
		if name, isName := strings.CutPrefix(word, "`"); isName {
			named = true
			for _, t := range tags {
				out[tagged{t, strings.TrimSuffix(name, "`")}] = true
			}
			continue
		}
		if named {
			tags, named = nil, false
		}
		tags = append(tags, word)
	}
	return out
}

// findTags lists the tags of a package's declarations, with their positions.
func findTags(m *Module, pkg string) map[tagged]string {
	out := map[tagged]string{}
	for _, f := range m.production() {
		if f.Package != pkg || path.Base(f.Name) == "doc.go" {
			continue
		}
		for _, g := range f.AST.Comments {
			if g == f.AST.Doc {
				continue
			}
			name := declarationAt(m, f.AST, g)
			text := ""
			for _, c := range g.List {
				for _, some := range lineTags.FindAllStringSubmatch(c.Text, -1) {
					text += some[1] + " "
				}
				for _, some := range bracketTags.FindAllStringSubmatch(c.Text, -1) {
					text += some[1] + " "
				}
			}
			for _, t := range tagPattern.FindAllString(text, -1) {
				out[tagged{t, name}] = m.Fset.Position(g.Pos()).String()
			}
		}
	}
	return out
}

// declarationAt returns the name of the declaration that a comment belongs to: the function around,
// below or on the line before it (Recv.Name for a method), or the constant, variable, type or
// Type.Field.
func declarationAt(m *Module, file *ast.File, g *ast.CommentGroup) string {
	lineOf := func(p token.Pos) int { return m.Fset.Position(p).Line }
	has := func(n ast.Node, doc *ast.CommentGroup) bool {
		return doc == g || n.Pos() <= g.Pos() && lineOf(g.Pos()) <= lineOf(n.End())
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && has(f, f.Doc) {
			return strings.TrimPrefix(receiverName(f)+"."+f.Name.Name, ".")
		}
		group, ok := d.(*ast.GenDecl)
		if !ok || !has(group, group.Doc) {
			continue
		}
		for _, s := range group.Specs {
			alone := len(group.Specs) == 1 && group.Doc == g
			switch s := s.(type) {
			case *ast.ValueSpec:
				if alone || has(s, s.Doc) {
					return s.Names[0].Name
				}
			case *ast.TypeSpec:
				if fields, ok := s.Type.(*ast.StructType); ok {
					for _, f := range fields.Fields.List {
						if len(f.Names) > 0 && has(f, f.Doc) {
							return s.Name.Name + "." + f.Names[0].Name
						}
					}
				}
				if alone || has(s, s.Doc) {
					return s.Name.Name
				}
			}
		}
	}
	return "no declaration"
}
