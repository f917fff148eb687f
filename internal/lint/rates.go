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
// once for the whole loop. A check inside a loop must have such a rate.
func checkRates(m *Module) (bad []string) {
	sum := constant.MakeFloat64(0)
	for _, p := range m.Packages {
		if testOnly(p.Name) {
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
				rate, ok := writtenNumber(kv.Value)
				if !ok {
					bad = append(bad,
						m.at(kv.Pos(), "write the false-positive rate as a number, or a number over the turns of the loop, so that "+
							"the rates can be added up"))
					return true
				}
				sum = constant.BinaryOp(sum, token.ADD, rate)
				return true
			})
			for _, pos := range f.repeated() {
				bad = append(bad, m.at(pos, "this check runs in a loop: divide its false-positive rate by the number of turns"))
			}
		}
	}
	if total, _ := constant.Float64Val(sum); !(total < maxFalseAlarms) {
		bad = append(bad, fmt.Sprintf("the tests' declared false-positive rates add up to %.3g; they must stay below %g",
			total, maxFalseAlarms))
	}
	return bad
}

// writtenNumber is the number at the front of a rate.
func writtenNumber(e ast.Expr) (constant.Value, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.FLOAT || e.Kind == token.INT {
			v := constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0))
			return v, v.Kind() != constant.Unknown
		}
	case *ast.BinaryExpr:
		if e.Op == token.QUO {
			return writtenNumber(e.X)
		}
	}
	return nil, false
}

// repeated finds the checks that run in a loop under a claim whose rate is not
// divided. Checks that a Rejects expects to fail raise no false alarm.
func (f *File) repeated() (found []token.Pos) {
	var path []ast.Node
	ast.Inspect(f.AST, func(n ast.Node) bool {
		if n == nil {
			path = path[:len(path)-1]
			return true
		}
		path = append(path, n)
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) < 2 || !undivided(call.Args[1]) {
			return true
		}
		loop := false
		for _, outer := range path {
			switch outer := outer.(type) {
			case *ast.ForStmt, *ast.RangeStmt:
				loop = true
			case *ast.CallExpr:
				if sel, ok := outer.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Rejects" {
					return true
				}
			}
		}
		if loop {
			found = append(found, call.Pos())
		}
		return true
	})
	return found
}

// undivided reports whether e is a claim, or the name of one, whose rate is a
// plain number.
func undivided(e ast.Expr) bool {
	if id, ok := e.(*ast.Ident); ok && id.Obj != nil {
		switch def := id.Obj.Decl.(type) {
		case *ast.AssignStmt:
			for i, lhs := range def.Lhs {
				if l, ok := lhs.(*ast.Ident); ok && l.Name == id.Name && len(def.Rhs) == len(def.Lhs) {
					e = def.Rhs[i]
				}
			}
		case *ast.ValueSpec:
			for i, name := range def.Names {
				if name.Name == id.Name && i < len(def.Values) {
					e = def.Values[i]
				}
			}
		}
	}
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return false
	}
	for _, elt := range lit.Elts {
		if kv, ok := elt.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok && key.Name == "FalsePositive" {
				_, plain := kv.Value.(*ast.BasicLit)
				return plain
			}
		}
	}
	return false
}
