// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"slices"
)

// clientMaker is the package that makes the one HTTP client.
const clientMaker = "service/identity"

// clientNames are what makes or is another HTTP client.
var clientNames = []string{"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head",
	"Post", "PostForm"}

// checkClients keeps network clients in one place: one that is made elsewhere
// follows redirects, and carries what it sends to whoever a server names.
func checkClients(m *Module) (bad []string) {
	for _, p := range m.production() {
		if p.Name == clientMaker || testOnly(p.Name) {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			types := map[ast.Expr]bool{} // of pointers: a client that somebody else has made
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
	}
	return bad
}
