// SPDX-License-Identifier: Apache-2.0

package lint

import "testing"

func TestLogs(t *testing.T) {
	in := func(line string) files {
		return files{"service/helper/a.go": "package helper\nfunc f() {\n" + line + "\n}\n"}
	}
	try(t, checkLogs, []one{
		{"plain", in(`s.Log.Info("opened", "sum", l.id.String(), "owners", n, "of", len(shares), "error", errs[h])`), nil},
		{"a listed text", in(`log.Error("a call failed", "stack", string(debug.Stack()))`), nil},
		{"a list", in("line := []any{\"call\", call}\nline = append(line, \"job\", q.Job)\n" +
			"g.Log.Info(\"audit\", line...)"), nil},
		{"no log", in(`t.Error(m.Body); o.Catalog.Info(m.Body)`), nil},
		{"another key", in(`s.Log.Info("a share", "content", n)`), []string{`"content"`}},
		{"a share", in(`s.Log.Info("a share", "sum", m.Body)`), []string{"m.Body"}},
		{"a spelling", in(`s.Log.Info("a share", "sum", hex.EncodeToString(x))`), []string{"put together"}},
		{"a message", in(`g.Log.Error("a call failed", "error", r.Any())`), []string{"r.Any()"}},
		{"an error of it", in(`g.Log.Error("a call failed", "error", fmt.Errorf("%v", x))`), []string{"put together"}},
		{"a key that is not written", in(`s.Log.Info("x", k, 1)`), []string{"listed keys"}},
		{"a text that is not written", in(`s.Log.Info(string(m))`), []string{"begins with"}},
		{"with", in(`log = s.Log.With("x", share)`), []string{"listed keys"}},
		{"a list that is not written", in("line := all(r)\ng.Log.Info(\"audit\", line...)"),
			[]string{"written as one", "where it is logged"}},
		{"in a list", in("line := []any{\"call\", call, \"error\", share}\nline = append(line, \"y\", 1)\n" +
			"g.Log.Info(\"audit\", line...)"),
			[]string{"share", `"y"`}},
	})
}
