// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/types"
	"slices"
	"strings"
)

const spdx = "// SPDX-License-Identifier: Apache-2.0\n\n"

// checkHeaders requires the licence line at the top and gofmt's layout.
func checkHeaders(m *Module) (bad []string) {
	for _, f := range m.Files {
		if !bytes.HasPrefix(f.Src, []byte(spdx)) {
			bad = append(bad, f.Name+": the first line must be "+strings.TrimSpace(spdx)+", followed by an empty line")
		}
		if out, err := format.Source(f.Src); err == nil && !bytes.Equal(out, f.Src) {
			bad = append(bad, f.Name+": not formatted; run gofmt -w")
		}
	}
	return bad
}

// checkOutput forbids output in libraries: a printed or logged line may be an unpaid release, and an
// exit skips deferred calls.
func checkOutput(m *Module) (bad []string) {
	for _, f := range m.production() {
		if isCommand(f.Package) {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			pkg, name := f.qualified(call.Fun)
			id, _ := call.Fun.(*ast.Ident)
			switch {
			case pkg == "os" && name == "Exit",
				pkg == "log" || pkg == "log/slog",
				pkg == "fmt" && strings.HasPrefix(name, "Print"),
				id != nil && id.Obj == nil && (id.Name == "print" || id.Name == "println"):
				bad = append(bad, m.at(call.Pos(),
					"a library neither prints, logs nor exits; return an error, write to an io.Writer that the caller gave"))
			}
			return true
		})
	}
	return bad
}

// streams are the packages that may name the process's own streams: they wrap them in a
// plaintext.Writer.
var streams = []string{"commands/cli", "cmd/discreet-serve"}

// checkTerminal makes what programs print pass package plaintext: a text of another program or person
// could rewrite the terminal, or forge a line of ours.
func checkTerminal(m *Module) (bad []string) {
	for _, f := range m.production() {
		if testOnly(f.Package) {
			continue
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			switch pkg, name := f.qualified(e); {
			case pkg == "os" && (name == "Stdout" || name == "Stderr") && !slices.Contains(streams, f.Package):
				bad = append(bad, m.at(n.Pos(), "os.%s: write to the streams of cli.App, which escape control characters", name))
			case pkg == "fmt" && (strings.HasPrefix(name, "Fprint") || strings.HasPrefix(name, "Print")) &&
				isCommand(f.Package):
				bad = append(bad, m.at(n.Pos(), "fmt.%s: plaintext.Fprintf keeps each value on its line", name))
			}
			return true
		})
	}
	return bad
}

// isCommand reports whether the package is a program, or is used by programs only: it may print and
// exit.
func isCommand(pkg string) bool {
	return under(pkg, "cmd") || under(pkg, "commands") || under(pkg, "net/commands") || under(pkg, "serve/commands") || under(pkg, "lab/cmd")
}

// receiverName returns the name of a method's receiver type, "" for a function.
func receiverName(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	name, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[") // without type parameters
	return strings.TrimPrefix(name, "*")
}
