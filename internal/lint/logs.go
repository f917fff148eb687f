// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"go/ast"
	"go/printer"
	"go/token"
	"slices"
	"strings"
)

// logKeys are what a line of a log may tell: names and numbers of calls, callers, tasks
// and certificates. A new one starts here, in a change that says why operators may know
// it.
var logKeys = []string{"address", "after", "authorities", "aux", "call", "caller", "certificate", "collector",
	"ends", "epsilon", "error", "fault", "have", "helper", "helpers", "in_secret", "job", "key", "kind", "lists",
	"microseconds", "model", "need", "of", "owner", "owners", "participant", "party", "present", "problem", "protocol",
	"query", "refused", "refused_since_and_not_logged", "round", "scored", "slot", "stack", "status", "sum", "sums",
	"task", "tls", "version", "who"}

// logTexts are the values of log lines that are put together there, each looked at:
// digests, the front of a sum's ID, public keys, names and numbers of participants, kinds
// and stacks.
var logTexts = []string{`string(debug.Stack())`, `string(w.query.Kind)`, `multiparty.Digest(aux)`, `stamp(end)`,
	`stamp(list)`, `secretsum.Present(helpers)`, `fmt.Sprintf("%x", l.Roster[one.participant])`,
	`fmt.Sprintf("%x", sumID[:6])`, `fmt.Sprint(d.Refused)`, `r.keys.Name(given[i].Owner)`}

// logSecrets are names of what no log may see, in any letters: contents of messages and
// what is private in them.
var logSecrets = []string{"message", "messages", "share", "shares", "body", "msg", "any", "report", "reports",
	"vote", "votes", "ballot", "addend", "addends", "words", "cell", "cells", "labels", "rows", "values", "secret",
	"given", "sent", "answer", "request", "req", "raw", "text", "bytes", "payload", "data", "record", "records"}

// checkLogs keeps logs to listed keys with plain values: a share, a vote or a report
// that is logged has left unpaid.
func checkLogs(m *Module) (bad []string) {
	for _, p := range m.production() {
		if testOnly(p.Name) {
			continue
		}
		for _, f := range p.Files {
			if f.Test {
				continue
			}
			for _, decl := range f.AST.Decls {
				bad = append(bad, m.logsOf(decl)...)
			}
		}
	}
	return bad
}

// logsOf checks the log lines of one declaration, and the lists they are made of.
func (m *Module) logsOf(decl ast.Decl) (bad []string) {
	lists := map[string]bool{} // names of lists that are logged as a whole
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !isLogCall(call) {
			return true
		}
		first := slices.IndexFunc(call.Args, func(e ast.Expr) bool { _, ok := stringLiteral(e); return ok })
		if first < 0 || first > 1 {
			bad = append(bad, m.at(call.Pos(), "a log line begins with a text that is written in it"))
			return true
		}
		args := call.Args[first+1:]
		if id, ok := last(args).(*ast.Ident); ok && call.Ellipsis.IsValid() && len(args) == 1 {
			lists[id.Name] = true
			return true
		}
		bad = append(bad, m.logPairs(args)...)
		return true
	})
	if len(lists) == 0 {
		return bad
	}
	written := 0
	ast.Inspect(decl, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 {
			return true
		}
		if id, ok := a.Lhs[0].(*ast.Ident); !ok || !lists[id.Name] {
			return true
		}
		e, call := a.Rhs[0].(*ast.CallExpr)
		list, whole := a.Rhs[0].(*ast.CompositeLit)
		switch {
		case whole:
			written++
			bad = append(bad, m.logPairs(list.Elts)...)
		case call && m.source(e.Fun) == "append":
			bad = append(bad, m.logPairs(e.Args[1:])...)
		default:
			bad = append(bad, m.at(a.Pos(), "what is logged as a list is written as one, or appended to"))
		}
		return true
	})
	if written == 0 {
		bad = append(bad, m.at(decl.Pos(), "what is logged as a list is written as one where it is logged"))
	}
	return bad
}

func last(list []ast.Expr) ast.Expr {
	if len(list) == 0 {
		return nil
	}
	return list[len(list)-1]
}

// isLogCall reports whether a call is a line of a log: a level of something that is
// called log.
func isLogCall(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	levels := []string{"Debug", "Info", "Warn", "Error", "Log", "LogAttrs", "With"}
	if !ok || !slices.Contains(levels, strings.TrimSuffix(sel.Sel.Name, "Context")) {
		return false
	}
	name := ""
	switch x := sel.X.(type) {
	case *ast.Ident:
		name = x.Name
	case *ast.SelectorExpr:
		name = x.Sel.Name
	}
	name = strings.ToLower(name)
	return name == "log" || name == "logger" || name == "slog"
}

// logPairs checks keys and values in turn.
func (m *Module) logPairs(args []ast.Expr) (bad []string) {
	for i, e := range args {
		if i%2 == 0 {
			if key, ok := stringLiteral(e); !ok || !slices.Contains(logKeys, key) {
				bad = append(bad, m.at(e.Pos(), "a log tells listed keys only (logKeys), and this is none: %s",
					m.source(e)))
			}
			continue
		}
		if why := m.logValue(e); why != "" {
			bad = append(bad, m.at(e.Pos(), "a log must not tell %s: %s", m.source(e), why))
		}
	}
	return bad
}

// logValue is what is wrong with a logged value, "" for nothing.
func (m *Module) logValue(e ast.Expr) (why string) {
	if slices.Contains(logTexts, m.source(e)) {
		return ""
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			sel, method := n.Fun.(*ast.SelectorExpr)
			id, _ := n.Fun.(*ast.Ident)
			if !(method && len(n.Args) == 0 && sel.Sel.Name != "Any") && !(id != nil && id.Name == "len") {
				why = "it is put together here; such texts are listed (logTexts)"
			}
			if id != nil && id.Name == "len" {
				return false // how many is for its key to judge
			}
		case *ast.SliceExpr, *ast.CompositeLit, *ast.FuncLit:
			why = "it is put together here; such texts are listed (logTexts)"
		case *ast.Ident:
			if slices.Contains(logSecrets, strings.ToLower(n.Name)) {
				why = "logs hold nothing of messages, shares, votes and rows (logSecrets)"
			}
		}
		return why == ""
	})
	return why
}

// source is an expression as it is written.
func (m *Module) source(e ast.Expr) string {
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), e); err != nil {
		return err.Error()
	}
	return b.String()
}
