// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

var (
	readVariable = regexp.MustCompile(`os\.Getenv\("(DISCREET_[A-Z_]+)"\)`)
	firstSkip    = regexp.MustCompile(`(?s)^(.*?)\.Skipf?\(`)
	onlyLong     = regexp.MustCompile(`size\.OnlyLong\(t, "(.*)"\)`)
	longAsAWhole = regexp.MustCompile(`(?m)^\tsize\.OnlyLong\(`)
	standsIn     = regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*`)
)

// checkSkipped requires that every test runs somewhere. If a test is skipped without a variable of the
// environment, a target of make must set the variable for the test's package. If the reason for having
// no small size names another test, that test must exist and have a small size.
func checkSkipped(m *Module) (bad []string) {
	makefiles, err := m.readPages("Makefile", "lab/peers/*/Makefile")
	if err != nil {
		return []string{err.Error()}
	}
	var recipes []string
	for _, text := range makefiles {
		recipes = append(recipes, strings.Split(strings.ReplaceAll(text, "\\\n", ""), "\n")...)
	}
	small := map[string]bool{}
	reasons := map[*ast.FuncDecl]string{}
	for _, f := range m.Files {
		for _, d := range f.AST.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || !f.Test {
				continue
			}
			text := string(f.Src[m.Fset.Position(fn.Pos()).Offset:m.Fset.Position(fn.End()).Offset])
			small[fn.Name.Name] = small[fn.Name.Name] || !longAsAWhole.MatchString(text)
			for _, why := range onlyLong.FindAllStringSubmatch(text, -1) {
				reasons[fn] += why[1] + " "
			}
			before := firstSkip.FindString(text)
			for _, name := range readVariable.FindAllStringSubmatch(before, -1) {
				sets := regexp.MustCompile(`\b` + name[1] + `=.*\./` + regexp.QuoteMeta(path.Dir(f.Name)) + `([^\w/-]|$)`)
				if !slices.ContainsFunc(recipes, sets.MatchString) {
					bad = append(bad, m.at(fn.Pos(), "%s runs nowhere: no target sets %s for its package", fn.Name.Name, name[1]))
				}
			}
		}
	}
	for fn, why := range reasons {
		for _, other := range standsIn.FindAllString(why, -1) {
			if !small[other] {
				bad = append(bad, m.at(fn.Pos(), "%s leaves a claim to %s, which is absent or has no small size", fn.Name.Name, other))
			}
		}
	}
	slices.Sort(bad)
	return bad
}
