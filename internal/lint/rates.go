// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
)

// maxFalseAlarms bounds the declared false-positive rates of all ordinary tests
// together: with a hundred runs a day, one false alarm in thirty years.
const maxFalseAlarms = 1e-6

// checkRates adds up every FalsePositive written in a test. A rate divided by
// the number of turns of a loop (1e-9 / float64(len(cases))) counts undivided:
// once for the whole loop.
func checkRates(m *Module) (bad []string) {
	sum := constant.MakeFloat64(0)
	for _, p := range m.Packages {
		if testOnly(p.Room) {
			continue // a helper's own tests misuse it on purpose
		}
		for _, f := range p.Files {
			if !f.Test {
				continue
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				kv, ok := n.(*ast.KeyValueExpr)
				if !ok {
					return true
				}
				if key, ok := kv.Key.(*ast.Ident); !ok || key.Name != "FalsePositive" {
					return true
				}
				rate, ok := written(kv.Value)
				if !ok {
					bad = append(bad, m.at(kv.Pos(), "write the false-positive rate as a number, or a number over the turns of the loop, so that the rates can be added up"))
					return true
				}
				sum = constant.BinaryOp(sum, token.ADD, rate)
				return true
			})
		}
	}
	if total, _ := constant.Float64Val(sum); !(total < maxFalseAlarms) {
		bad = append(bad, fmt.Sprintf("the tests' declared false-positive rates add up to %.3g; they must stay below %g", total, maxFalseAlarms))
	}
	return bad
}

// written is the number at the front of a rate.
func written(e ast.Expr) (constant.Value, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.FLOAT || e.Kind == token.INT {
			v := constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0))
			return v, v.Kind() != constant.Unknown
		}
	case *ast.BinaryExpr:
		if e.Op == token.QUO {
			return written(e.X)
		}
	}
	return nil, false
}
