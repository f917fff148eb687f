// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// checkRandomness keeps reproducible randomness out of production: whoever
// knows the seed subtracts the noise.
func checkRandomness(m *Module) (bad []string) {
	for _, p := range m.production() {
		if under(p.Name, "privacy/rng/replay") || under(p.Name, "census") || under(p.Name, "lab") ||
			under(p.Name, "heldout") || testOnly(p.Name) {
			continue
		}
		for _, f := range p.Files {
			for _, spec := range f.AST.Imports {
				ip := importPath(spec)
				name, _ := m.shortName(ip)
				if !f.Test && (ip == "math/rand" || ip == "math/rand/v2" || name == "privacy/rng/replay") {
					bad = append(bad,
						m.at(spec.Pos(), "imports %s: reproducible randomness lives in privacy/rng/replay, census, lab, in the splits "+
							"of heldout, and in tests only; draw from rng.Source", ip))
				}
			}
		}
	}
	return bad
}

// checkSeedFlag allows a flag named seed only where the command says that the
// result is for show: experiment and demo. Those commands live in files of
// that name.
func checkSeedFlag(m *Module) (bad []string) {
	for _, p := range m.production() {
		if !isCommand(p) {
			continue
		}
		for _, f := range p.Files {
			base := path.Base(f.Name)
			if f.Test || strings.HasPrefix(base, "experiment") || strings.HasPrefix(base, "demo") {
				continue
			}
			ast.Inspect(f.AST, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if _, method := call.Fun.(*ast.SelectorExpr); !method {
					return true
				}
				if slices.ContainsFunc(call.Args, func(e ast.Expr) bool { s, ok := stringLiteral(e); return ok && s == "seed" }) {
					bad = append(bad, m.at(call.Pos(), `a flag named "seed": only the experiment and demo commands may be seeded`))
				}
				return true
			})
		}
	}
	return bad
}

// stringLiteral returns the value of a string literal.
func stringLiteral(e ast.Expr) (string, bool) {
	b, ok := e.(*ast.BasicLit)
	if !ok || b.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(b.Value)
	return s, err == nil
}
