// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// divided are the packages whose numbers leave with noise.
var divided = []string{"federated", "heldout", "lab/learn", "learn", "train", "tune"}

// denominators are what numbers are divided by before noise, by package, each looked at: public
// ones and, as said below, totals whose own move the sensitivity covers. A private number as a
// divisor moves what leaves by more than its numerator does.
var denominators = map[string][]string{
	"federated/multiparty": {"int64(len(shares)) * One", "int64(pl.Parties) << coefBits"},
	"learn/additive":       {"caps[0]", "caps[1]", "den", "engine.WeightOne", "learn.RowUnits(f.table)", "units"},
	"learn/auto":           {"engine.WeightOne"},
	"learn/erm":            {"float64(max(1, s.Rows))"}, // of the sample of public size that a solver looks at
	// The totals of all weights and of all rows are covered: G-BRC-1 and G-PEOPLE-1 bound the
	// quotient.
	"learn/brc":        {"2 * (wrong + right)", "2 * r.one()", "one", "pos + neg", "wrong + right"},
	"learn/grids":      {"engine.WeightOne", "engine.WeightOne / curveUnit"},
	"learn/labeldp":    {"int64(n) << unitBits"}, // rows, which are public there
	"lab/learn/pate":   {"one"},
	"lab/learn/people": {"2 * total", "total"},
	"tune":             {"2 * max(1, int64(len(labels)))", "loss.Den", "lossSteps"}, // rows that judge, public there
}

// checkDivisors keeps private numbers from being divisors before noise.
func checkDivisors(m *Module, dir string) (bad []string, err error) {
	used := map[string]bool{}
	err = m.eachTyped(dir, divided, func(files []*ast.File, info *types.Info) {
		for _, f := range files {
			name := m.packageOf(f)
			den := func(e ast.Expr) {
				text := m.source(e)
				used[name+": "+text] = true
				if info.Types[e].Value == nil && !slices.Contains(denominators[name], text) {
					bad = append(bad, m.at(e.Pos(), "a number is divided before noise by %s: look whether it is public, or the "+
						"sensitivity covers its move, and list it (denominators)", text))
				}
			}
			isRatio := func(e ast.Expr) bool { return m.typeName(info.TypeOf(e)) == "privacy/mech.Ratio" }
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CompositeLit:
					if !isRatio(n) {
						return true
					}
					for i, e := range n.Elts {
						if pair, ok := e.(*ast.KeyValueExpr); !ok && i == 1 {
							den(e)
						} else if ok && m.source(pair.Key) == "Den" {
							den(pair.Value)
						}
					}
				case *ast.AssignStmt:
					for i, e := range n.Lhs {
						if field, ok := e.(*ast.SelectorExpr); ok && field.Sel.Name == "Den" && isRatio(field.X) {
							den(n.Rhs[min(i, len(n.Rhs)-1)])
						}
					}
					if n.Tok == token.QUO_ASSIGN && m.tellsSecret(info, n.Rhs[0]) {
						den(n.Rhs[0])
					}
				case *ast.BinaryExpr:
					if n.Op == token.QUO && m.tellsSecret(info, n.Y) {
						den(n.Y)
					}
				}
				return true
			})
		}
	})
	for name, texts := range denominators {
		for _, text := range texts {
			if !used[name+": "+text] && err == nil && strings.HasSuffix(m.Path, "/discreet") {
				bad = append(bad, "in "+name+" nothing is divided by "+text+": take it off the list (denominators)")
			}
		}
	}
	slices.Sort(bad)
	return bad, err
}

// packageOf is the name of the package that a file is of, as rules call it.
func (m *Module) packageOf(f *ast.File) string {
	for _, p := range m.production() {
		for _, of := range p.Files {
			if of.AST == f {
				return p.Name
			}
		}
	}
	return ""
}
