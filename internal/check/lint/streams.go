// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/token"
	"maps"
	"slices"
	"strings"
)

// derived are the functions that derive words, keys or numbers from others, each with the test over many
// derivations that none repeats and none correlates (stattest.Streams), or after a dash with the reason
// why it needs none.
var derived = map[string]string{
	"net/federated/collect.shortID":           "- names owners and reports, for equality alone",
	"net/federated/secsum.listGenerators":     "TestGeneratorsAreNeverRepeated",
	"net/federated/secsum.ranges.draw":        "TestChallengesAreNeverRepeated",
	"net/federated/sites.Masks.Hide":          "TestMasksAreNeverRepeated",
	"net/federated/wire.Placing.Of":           "TestTicketsAreNeverRepeated",
	"train/heldout.Split.coins":               "TestCoinsOfSplitsAreNeverRepeated",
	"privacy/rng.Keyed":                       "TestKeyedWordsAreNeverRepeated",
	"privacy/rng/replay.Seeded":               "TestSeededWordsAreNeverRepeated",
	"privacy/rng/replay.source":               "TestSeededWordsAreNeverRepeated",
	"serve/inference.loadServed":              "- names a version of a model",
	"net/service/owner.run.coins":             "TestCoinsOfOwnersAreNeverRepeated",
	"table/read/dataset.identifiers.numberOf": "TestKeysOfPersonsAreNeverRepeated",
	"table/engine/memory.Lots.between":        "TestLotsAreNeverRepeated",
}

// derivers are what words are derived with: functions of packages by import path, * for all, and methods
// of any type under "".
var derivers = map[string][]string{
	"crypto/hkdf": {"*"}, "crypto/hmac": {"New"}, "crypto/pbkdf2": {"*"}, "crypto/sha3": {"*"}, "crypto/aes": {"NewCipher"},
	"crypto/cipher": {"NewCTR"}, "crypto/ed25519": {"NewKeyFromSeed"}, "math/rand/v2": {"NewChaCha8", "NewPCG", "ChaCha8"},
	"math/rand": {"NewSource"}, "": {"HashToScalar", "HashToElement"},
}

// checkStreams requires that every function of the product which derives words has a line in derived, and
// that its test holds it to stattest.Streams or says that nothing repeats. It sees a hash whose sum is read
// as numbers, or in part, as well.
func checkStreams(m *Module) (bad []string) {
	tests := map[string]bool{}
	for _, f := range m.Files {
		for _, d := range f.AST.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && f.Test && strings.HasPrefix(fn.Name.Name, "Test") {
				tests[f.Package+"."+fn.Name.Name] = true
			}
		}
	}
	known := maps.Clone(derived)
	for _, f := range m.production() {
		if under(f.Package, "lab") || testOnly(f.Package) {
			continue
		}
		names := map[string]string{} // of imported packages
		for _, spec := range f.AST.Imports {
			p := importPath(spec)
			name := strings.TrimSuffix(p, "/v2")
			name = name[strings.LastIndex(name, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			names[name] = p
		}
		for _, d := range f.AST.Decls {
			at, name := derives(d, names)
			if at == token.NoPos {
				continue
			}
			name = f.Package + "." + name
			test, listed := derived[name]
			delete(known, name)
			switch {
			case !listed:
				bad = append(bad, m.at(at, "%s derives words from others: it needs a test with stattest.Streams, and a line in internal/check/lint/streams.go", name))
			case !strings.HasPrefix(test, "- ") && !tests[f.Package+"."+test]:
				bad = append(bad, m.at(at, "%s has no test %s", name, test))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		bad = append(bad, "internal/check/lint/streams.go names "+name+", which derives nothing")
	}
	return bad
}

// derives returns where a declaration derives words, and its name.
func derives(d ast.Decl, names map[string]string) (at token.Pos, name string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name = d.Name.Name
		if d.Recv != nil {
			of := d.Recv.List[0].Type
			if p, ok := of.(*ast.StarExpr); ok {
				of = p.X
			}
			if id, ok := of.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
	case *ast.GenDecl:
		if d.Tok != token.TYPE {
			return token.NoPos, ""
		}
		name = d.Specs[0].(*ast.TypeSpec).Name.Name
	}
	sums, read := map[string]bool{}, token.NoPos // variables that hold a hash
	ast.Inspect(d, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if isDeriver(n, names) && at == token.NoPos {
				at = n.Pos()
			}
		case *ast.AssignStmt:
			for i, e := range n.Rhs {
				if id, ok := n.Lhs[min(i, len(n.Lhs)-1)].(*ast.Ident); ok && isHash(e, names) {
					sums[id.Name] = true
				}
			}
		case *ast.SliceExpr:
			if id, ok := n.X.(*ast.Ident); ok && sums[id.Name] && (n.High != nil || n.Low != nil) {
				read = n.Pos()
			}
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && strings.HasPrefix(s.Sel.Name, "Uint") {
				for _, arg := range n.Args {
					if cut, ok := arg.(*ast.SliceExpr); ok {
						arg = cut.X
					}
					if id, ok := arg.(*ast.Ident); ok && sums[id.Name] {
						read = n.Pos()
					}
				}
			}
		}
		return true
	})
	if at == token.NoPos {
		at = read
	}
	return at, name
}

// isDeriver reports whether n names one of derivers.
func isDeriver(n *ast.SelectorExpr, names map[string]string) bool {
	if id, ok := n.X.(*ast.Ident); ok {
		if of := derivers[names[id.Name]]; names[id.Name] != "" {
			return slices.Contains(of, n.Sel.Name) || slices.Contains(of, "*") ||
				strings.HasSuffix(names[id.Name], "privacy/rng") && n.Sel.Name == "Keyed"
		}
	}
	return slices.Contains(derivers[""], n.Sel.Name)
}

// isHash reports whether e is the sum of a hash.
func isHash(e ast.Expr, names map[string]string) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !strings.HasPrefix(s.Sel.Name, "Sum") {
		return false
	}
	if id, ok := s.X.(*ast.Ident); ok && strings.HasPrefix(names[id.Name], "crypto/") {
		return true
	}
	none, ok := call.Args[0].(*ast.Ident)
	return ok && none.Name == "nil"
}
