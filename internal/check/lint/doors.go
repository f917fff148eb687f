// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"path"
	"slices"
	"strings"
)

// behindDoors are the packages that read what other programs send.
var behindDoors = []string{"net/service/**", "net/federated/**", "serve/**", "explorer/serve"}

// doors are the files in them that decode on their own, each with the reason. Others decode JSON by package
// jsontext, and calls by package admission, which bound the number of elements before memory is taken for them.
var doors = map[string]string{
	"net/service/admission/body.go":      "counts the parts of calls first",
	"serve/inference/memory.go":          "counts the cells of calls first",
	"serve/inference/rest.go":            "counts the cells of a request first",
	"serve/inference/tensor.go":          "reads a text of a request",
	"net/service/secretsum/admission.go": "counts the elements first, and accepts other fields",
	"net/service/site/coordinate.go":     "reads three texts of an answer",
	"explorer/serve/budget.go":           "looks for doubled keys in what was decoded",
	"net/service/aggregator/live.go":     "reads its own store",
	"net/service/party/secret.go":        "reads its own file",
	"net/service/site/store.go":          "reads its own file",
	"net/service/problem/handler.go":     "reads the answer of its own process",
}

// decoders are functions that decode without a bound on elements, by package.
var decoders = map[string][]string{"json": {"Unmarshal", "NewDecoder"}, "proto": {"Unmarshal"}, "protojson": {"Unmarshal"},
	"gob": {"NewDecoder"}, "xml": {"Unmarshal", "NewDecoder"}}

// checkDoors restricts decoding of what others send to the doors, and requires that the handlers and clients of
// calls are made with the bounds of package admission.
func checkDoors(m *Module) (bad []string) {
	for _, f := range m.production() {
		if !matches(behindDoors, f.Package) || testOnly(f.Package) || f.Package == "net/service/rpc" {
			continue
		}
		door := doors[f.Package+"/"+path.Base(f.Name)] != ""
		ast.Inspect(f.AST, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && !door && slices.Contains(decoders[x.Name], n.Sel.Name) {
					bad = append(bad, m.at(n.Pos(), "%s.%s: decode by jsontext, which bounds the number of elements", x.Name, n.Sel.Name))
				}
			case *ast.CallExpr:
				sel, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || !strings.HasPrefix(sel.Sel.Name, "New") {
					return true
				}
				x, ok := sel.X.(*ast.Ident)
				bounds := map[bool][]string{true: {"Options", "Limits"}, false: {"Replies"}}[strings.HasSuffix(sel.Sel.Name, "Handler")]
				if ok && x.Name == "rpc" && (strings.HasSuffix(sel.Sel.Name, "Handler") || strings.HasSuffix(sel.Sel.Name, "Client")) &&
					!slices.ContainsFunc(n.Args, func(a ast.Expr) bool { return callsOneOf(a, bounds) }) {
					bad = append(bad, m.at(n.Pos(), "rpc.%s: must have the bounds of package admission (%s)", sel.Sel.Name,
						strings.Join(bounds, " or ")))
				}
			}
			return true
		})
	}
	return bad
}

// callsOneOf reports whether an expression is a call of a method or function of one of the names.
func callsOneOf(e ast.Expr, names []string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && slices.Contains(names, sel.Sel.Name)
}
