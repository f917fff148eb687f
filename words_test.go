// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/train"
)

// Errors of this package come from packages that the command uses too, whose texts may name flags and
// commands. This walks every text of those packages: what goWords makes of it has no flag, no command,
// and no parameter that no learner has.
func TestWordsAreGo(t *testing.T) {
	params := map[string]bool{}
	for _, l := range train.Learners() {
		for _, o := range l.Options {
			params[o.Name] = true
		}
	}
	param := regexp.MustCompile(`Options\.Params\["([^"]*)"\]`)
	exempt := map[string]bool{}
	for place, text := range textsOfImports(t) {
		words := goWords(text)
		if found := speaksOfCommands.FindString(words); found != "" {
			known := slices.IndexFunc(commandOnly, func(c [2]string) bool { return strings.Contains(text, c[0]) })
			if known < 0 {
				t.Errorf("%s: %q keeps %q: %q", place, text, found, words)
			} else {
				exempt[commandOnly[known][0]] = true
			}
		}
		if torn := regexp.MustCompile(`\(\)|\( | \)| ;| ,|  `); torn.MatchString(words) && !torn.MatchString(text) {
			t.Errorf("%s: %q is torn: %q", place, text, words)
		}
		for _, m := range param.FindAllStringSubmatch(words, -1) {
			if !params[m[1]] {
				t.Errorf("%s: %q becomes %q, and no learner has %s", place, text, words, m[1])
			}
		}
	}
	for _, c := range commandOnly {
		if !exempt[c[0]] {
			t.Errorf("no text holds %q: take it off the list", c[0])
		}
	}
}

// commandOnly are parts of texts that keep a flag or a command, each with the reason.
var commandOnly = [][2]string{
	{"discreet budget recover", "no function of this package recovers a ledger"},
	{"aws configure export-credentials --format env", "a flag of another program"},
	{"-----BEGIN ", "no flag"},
	{"--conf", "handed to spark-submit"}, {"--master", "handed to spark-submit"}, {"--deploy-mode", "handed to spark-submit"},
	{"--files", "handed to spark-submit"}, {"--spark-submit", "this package has no Spark"},
	{"... %d more; --json lists all", "a line of the command, no error"},
	{"schema check --data", "a line of a drafted schema, no error"}, {"(--public-sample)", "a line of a drafted schema, no error"},
	{"--no-header --columns N", "of the header of a file without a schema, which this package does not read"},
}

// textsOfImports returns the string literals, joined where they are added up, of all packages of this
// module that this package imports, by place.
func textsOfImports(t *testing.T) map[string]string {
	t.Helper()
	const module = "github.com/discreet-dp/discreet/"
	texts, seen, queue := map[string]string{}, map[string]bool{}, []string{"."}
	for len(queue) > 0 {
		folder := queue[0]
		queue = queue[1:]
		files, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") || folder == "." && filepath.Base(path) == "errors.go" {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range file.Imports {
				next := strings.Trim(i.Path.Value, `"`)
				if rest, ours := strings.CutPrefix(next, module); ours && !seen[rest] {
					if _, err := os.Stat(rest); err != nil {
						t.Fatal(err)
					}
					seen[rest] = true
					queue = append(queue, rest)
				}
			}
			ast.Inspect(file, func(n ast.Node) bool {
				text, ok := joined(n)
				if ok {
					texts[set.Position(n.Pos()).String()] = text
				}
				return !ok
			})
		}
	}
	return texts
}

// joined returns the text of a literal or of a sum that holds some; what is computed becomes "x".
func joined(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case *ast.BasicLit:
		if n.Kind == token.STRING {
			text, err := strconv.Unquote(n.Value)
			return text, err == nil
		}
	case *ast.BinaryExpr:
		left, some := joined(n.X)
		right, more := joined(n.Y)
		if n.Op == token.ADD && (some || more) {
			if !some {
				left = "x"
			}
			if !more {
				right = "x"
			}
			return left + right, true
		}
	}
	return "", false
}
