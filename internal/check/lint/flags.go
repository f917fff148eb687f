// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// spelling matches a flag, the beginning of one that is put together, and commands of the programs;
// releases are what “discreet release” writes.
var spelling = regexp.MustCompile(`--[a-z]|(^|[ (])--$|\bdiscreet (budget|schema|train|plan|predict|explain|evaluate|export)\b|` +
	`\bdiscreet-(net|lab) [a-z]`)

// flagUsers are packages beside the commands that write flags, each for its reason: spark calls
// spark-submit, and the page shows a choice as a command.
var flagUsers = []string{"spark", "explorer/planning"}

// checkFlags keeps flags and commands out of the texts of packages that other fronts use too: an
// error has a dp.Step, which each front words.
func checkFlags(m *Module) (bad []string) {
	for _, f := range m.production() {
		if isCommand(f.Package) || testOnly(f.Package) || slices.Contains(flagUsers, f.Package) || under(f.Package, "check") ||
			!strings.HasPrefix(f.Name, "internal/") && f.Package != "." {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				if text, _ := strconv.Unquote(l.Value); spelling.MatchString(text) {
					bad = append(bad, m.at(n.Pos(), "%s: flags and commands are words of the command line; a dp.Step is worded by each front",
						spelling.FindString(text)))
				}
			}
			return true
		})
	}
	return bad
}
