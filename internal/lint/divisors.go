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
var divided = []string{"federated", "guard", "heldout", "learn", "train", "tune"}

// denominators are what numbers are divided by before noise, by package, each looked at: public
// ones and, as said below, totals whose own move the sensitivity covers. A private number as a
// divisor moves what leaves by more than its numerator does.
var denominators = map[string][]string{
	"federated/multiparty": {"int64(len(shares)) * One", "int64(pl.Parties) << coefBits"},
	// Caps follow from released steps, units from the schema; rows are public where a mean is taken,
	// and den is that of the scores beside it.
	"guard": {"c.of.rowUnits()", "den", "engine.WeightOne * gr.of.rowUnits()", "gr.of.rowUnits()",
		"int64(c.caps[0])", "int64(c.caps[1])", "int64(engine.WeightOne / curve)", "int64(n) << FeatureBits"},
	"learn/additive": {"1 + math.Exp(-fit.Scores[g])"}, // what is in the exponent was released
	"learn/erm":      {"float64(max(1, s.Rows))"},      // of the sample of public size that a solver looks at
	// The totals of all weights and of all rows are covered: G-BRC-1 and G-PEOPLE-1 bound the
	// quotient.
	"learn/brc": {"2 * (wrong + right)", "2 * r.one()", "one", "pos + neg", "wrong + right"},
	// Grids are chosen by their gain without privacy only.
	"learn/grids":     {"curve*parts[i%len(parts)] + ridge"},
	"learn/learntest": {"p[k].Bound"},
	"learn/pate":      {"one"},
	"learn/people":    {"2 * total", "all", "total"},                               // all: of a classifier of public columns and labels
	"tune":            {"2 * max(1, int64(len(labels)))", "loss.Den", "lossSteps"}, // rows that judge, public there
}

// checkDivisors keeps private numbers from being divisors before noise.
func checkDivisors(m *Module, dir string) (bad []string, err error) {
	used := map[string]bool{}
	err = m.eachTyped(dir, divided, func(files []*ast.File, info *types.Info) {
		for _, f := range files {
			name, local := m.packageOf(f), m.secretLocals(info, f)
			private := func(e ast.Expr) bool { return m.tellsSecret(info, e) || m.mentions(info, e, local) }
			den := func(e ast.Expr) {
				text := m.source(ast.Unparen(e))
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
					if n.Tok == token.QUO_ASSIGN && private(n.Rhs[0]) {
						den(n.Rhs[0])
					}
				case *ast.BinaryExpr:
					if n.Op == token.QUO && private(n.Y) {
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

// secretLocals are the variables of a file's functions that are assigned what is private, or what
// other such variables make, but for what was released.
func (m *Module) secretLocals(info *types.Info, f *ast.File) map[types.Object]bool {
	local, before := map[types.Object]bool{}, -1
	take := func(to ast.Expr, from ast.Expr) {
		if at, ok := to.(*ast.IndexExpr); ok {
			to = at.X
		}
		if call, ok := from.(*ast.CallExpr); ok {
			if fn, ok := call.Fun.(*ast.SelectorExpr); ok && m.typeName(info.TypeOf(fn.X)) == "privacy/mech.Exit" {
				return
			}
		}
		id, ok := to.(*ast.Ident)
		if ok && info.ObjectOf(id) != nil && (m.tellsSecret(info, from) || m.mentions(info, from, local)) {
			local[info.ObjectOf(id)] = true
		}
	}
	for len(local) > before {
		before = len(local)
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					take(to, n.Rhs[min(i, len(n.Rhs)-1)])
				}
			case *ast.ValueSpec:
				for i, to := range n.Names {
					if len(n.Values) > 0 {
						take(to, n.Values[min(i, len(n.Values)-1)])
					}
				}
			case *ast.RangeStmt:
				if n.Value != nil {
					take(n.Value, n.X)
				}
			}
			return true
		})
	}
	return local
}

// mentions reports whether an expression is made of one of these variables by more than its length.
func (m *Module) mentions(info *types.Info, e ast.Expr, local map[types.Object]bool) (some bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			some = some || local[info.Uses[n]]
		case *ast.SelectorExpr:
			return !isSecret(m.typeName(info.TypeOf(n.X))) // whose fields tellsSecret knows
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "len" || id.Name == "cap") {
				return false
			}
		case *ast.FuncLit:
			return false
		}
		return true
	})
	return some
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
