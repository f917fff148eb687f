// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// secretTypes hold what leaves an owner, a party or a table for one purpose alone. Values of them
// cannot be printed, logged or put into errors, and they have no method that spells them. Listed
// are the fields that may be, beside how many there are of anything.
var secretTypes = map[string][]string{
	"federated/secsum.Message":           {"Task", "Kind", "From", "To"},
	"federated/wire.Report":              {"Task", "Owner", "Slot", "Ask"},
	"service/aggregator/store.Report":    {"Task", "Round", "Owner", "Via", "Most"},
	"service/secretsum.Share":            nil,
	"service/rpc.ShareRequest":           nil,
	"service/rpc.SignedShare":            nil,
	"service/rpc.SignedReport":           nil,
	"service/rpc.VoteRequest":            nil,
	"service/rpc.VoteResponse":           nil,
	"privacy/response.Report":            nil,
	"privacy/response.Tally":             {"Reports"},
	"privacy/mech.Ratio":                 nil,
	"table/dataset.Table":                {"Schema", "Rows"},
	"table/engine.Patterns":              {"Words"},
	"table/engine.Groups":                {"Len"},
	"table/engine.LossSums":              nil,
	"table/engine/question.Sums":         {"Words", "Counters"},
	"table/engine/statistic.CellSums":    nil,
	"table/engine/statistic.ClassCounts": nil,
	"table/engine/statistic.GridSums":    nil,
	"table/engine/statistic.Residuals":   nil,
	"table/engine/statistic.Slope":       nil,
}

// secretPlaces are the packages that handle such values.
var secretPlaces = []string{"discreet", "federated", "heldout", "learn", "lab", "privacy/mech", "privacy/response",
	"service", "table", "train", "tune"}

// spellingMethods are those by which a value is spelt without being asked for.
var spellingMethods = []string{"String", "GoString", "Format", "Error", "LogValue", "MarshalText", "MarshalJSON"}

// checkSecrets keeps secret values away from what spells values.
func checkSecrets(m *Module, dir string) (bad []string, err error) {
	known := map[string]bool{}
	err = m.eachTyped(dir, secretPlaces, func(files []*ast.File, info *types.Info) {
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					if name := m.typeName(info.TypeOf(n.Name)); isSecret(name) {
						known[name] = true
					}
				case *ast.FuncDecl:
					generated := strings.HasSuffix(m.Fset.Position(n.Pos()).Filename, ".pb.go")
					if n.Recv != nil && !generated && slices.Contains(spellingMethods, n.Name.Name) &&
						isSecret(m.typeName(info.TypeOf(n.Recv.List[0].Type))) {
						bad = append(bad, m.at(n.Pos(), "a secret value must not be spelt (secretTypes): method %s", n.Name.Name))
					}
				case *ast.CallExpr:
					if !spells(info, n) {
						return true
					}
					for _, a := range n.Args {
						if m.tellsSecret(info, a) {
							bad = append(bad, m.at(a.Pos(), "a secret value must not be printed, logged or put into errors "+
								"(secretTypes): %s", m.source(a)))
						}
					}
				}
				return true
			})
		}
	})
	for name := range secretTypes {
		if !known[name] && err == nil && strings.HasSuffix(m.Path, "/discreet") {
			bad = append(bad, "no type is called "+name+": take it off the list (secretTypes)")
		}
	}
	slices.Sort(bad)
	return bad, err
}

func isSecret(name string) bool { _, ok := secretTypes[name]; return ok }

// typeName is the name of a type, or of what it points to, as rules call it.
func (m *Module) typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	path := strings.TrimPrefix(strings.TrimPrefix(named.Obj().Pkg().Path(), m.Path+"/"), "internal/")
	return path + "." + named.Obj().Name()
}

// spells reports whether a call spells its arguments: one of fmt, of log, of errors, or of a method
// of theirs.
func spells(info *types.Info, call *ast.CallExpr) bool {
	var id *ast.Ident
	switch fn := call.Fun.(type) {
	case *ast.SelectorExpr:
		id = fn.Sel
	case *ast.Ident:
		id = fn
	}
	if id == nil || info.Uses[id] == nil || info.Uses[id].Pkg() == nil {
		return id != nil && (id.Name == "print" || id.Name == "println" || id.Name == "panic")
	}
	return slices.Contains([]string{"fmt", "log", "log/slog", "errors"}, info.Uses[id].Pkg().Path())
}

// tellsSecret reports whether an expression has a secret type, or is made of one by more than its
// public fields.
func (m *Module) tellsSecret(info *types.Info, e ast.Expr) bool {
	tells := func(e ast.Expr) bool { return m.tellsSecret(info, e) }
	secret := func(e ast.Expr) bool { return isSecret(m.typeName(info.TypeOf(e))) }
	switch e := e.(type) {
	case *ast.FuncLit:
		return false
	case *ast.ParenExpr:
		return tells(e.X)
	case *ast.StarExpr:
		return tells(e.X)
	case *ast.UnaryExpr:
		return tells(e.X)
	case *ast.BinaryExpr:
		return tells(e.X) || tells(e.Y)
	case *ast.KeyValueExpr:
		return tells(e.Value)
	case *ast.CompositeLit:
		return slices.ContainsFunc(e.Elts, tells) || m.holdsSecret(info.TypeOf(e))
	case *ast.IndexExpr:
		return tells(e.X)
	case *ast.SliceExpr:
		return tells(e.X)
	case *ast.SelectorExpr:
		if fields, ok := secretTypes[m.typeName(info.TypeOf(e.X))]; ok {
			return !slices.Contains(fields, e.Sel.Name)
		}
	case *ast.CallExpr:
		if id, ok := e.Fun.(*ast.Ident); ok && (id.Name == "len" || id.Name == "cap") {
			return false
		}
		if fn, ok := e.Fun.(*ast.SelectorExpr); ok && secret(fn.X) {
			return true
		}
		if slices.ContainsFunc(e.Args, tells) && !types.Identical(info.TypeOf(e), types.Universe.Lookup("error").Type()) {
			return true
		}
	}
	return m.holdsSecret(info.TypeOf(e))
}

// holdsSecret reports whether a value of a type has secret ones that spelling it would spell.
func (m *Module) holdsSecret(t types.Type) bool {
	seen := map[types.Type]bool{}
	var holds func(types.Type) bool
	holds = func(t types.Type) bool {
		if t == nil || seen[t] {
			return false
		}
		seen[t] = true
		if isSecret(m.typeName(t)) {
			return true
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer:
			return holds(u.Elem())
		case *types.Slice:
			return holds(u.Elem())
		case *types.Array:
			return holds(u.Elem())
		case *types.Map:
			return holds(u.Key()) || holds(u.Elem())
		case *types.Struct:
			for i := range u.NumFields() {
				if holds(u.Field(i).Type()) {
					return true
				}
			}
		}
		return false
	}
	return holds(t)
}
