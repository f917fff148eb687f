// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"slices"
)

// clientMakers are the packages that make HTTP clients: one for federations, whose members identify
// each other by certificates, and one for object stores. Neither follows redirects.
var clientMakers = []string{"net/service/identity", "table/read/object"}

// clientNames are identifiers of package http that make or are another HTTP client.
var clientNames = []string{"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head",
	"Post", "PostForm"}

// checkClients restricts network clients to these packages. Other clients would follow redirects, and
// send their data to any server that a response names.
func checkClients(m *Module) (bad []string) {
	for _, f := range m.production() {
		if slices.Contains(clientMakers, f.Package) || testOnly(f.Package) {
			continue
		}
		types := map[ast.Expr]bool{} // of pointers: a client that someone else has made
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if star, ok := n.(*ast.StarExpr); ok {
				types[star.X] = true
			}
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || types[sel] || !slices.Contains(clientNames, sel.Sel.Name) {
				return true
			}
			if x, ok := sel.X.(*ast.Ident); ok && x.Name == "http" {
				bad = append(bad, m.at(n.Pos(), "http.%s: call others by identity.HTTPClient, which follows no redirect",
					sel.Sel.Name))
			}
			return true
		})
	}
	return bad
}
