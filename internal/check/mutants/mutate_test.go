// SPDX-License-Identifier: Apache-2.0

package mutants

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A change is one small mistake in a file, made by rule.
type change struct {
	from, to int // bytes of the file that are replaced
	text     string
	kind     string
	line     int
}

// swapped are the operators that are taken for each other.
var swapped = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR, token.EQL: token.NEQ,
	token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND, token.ADD: token.SUB, token.SUB: token.ADD,
	token.MUL: token.QUO, token.SHL: token.SHR, token.SHR: token.SHL, token.AND: token.OR, token.XOR: token.AND,
	token.ADD_ASSIGN: token.SUB_ASSIGN, token.SUB_ASSIGN: token.ADD_ASSIGN, token.MUL_ASSIGN: token.ADD_ASSIGN,
}

// changesOf lists the mistakes of a file: conditions negated, operators and operands
// swapped, whole numbers off by one, the smaller taken for the larger, statements left
// out, and neighbouring ones in the other order.
func changesOf(src []byte) (all []change, err error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	text := func(n ast.Node) string { return string(src[at(n.Pos()):at(n.End())]) }
	add := func(kind string, from, to token.Pos, text string) {
		all = append(all, change{at(from), at(to), text, kind, fset.Position(from).Line})
	}
	list := func(stmts []ast.Stmt) {
		for i, s := range stmts {
			movable := false
			switch s := s.(type) {
			case *ast.ExprStmt, *ast.IncDecStmt:
				movable = true
			case *ast.AssignStmt:
				movable = s.Tok != token.DEFINE
			case *ast.IfStmt:
				if s.Else == nil && s.Init == nil {
					add("drop", s.Pos(), s.End(), "")
				}
			}
			if !movable {
				continue
			}
			add("drop", s.Pos(), s.End(), "")
			if i+1 < len(stmts) {
				next := stmts[i+1]
				if _, ok := next.(*ast.AssignStmt); ok && at(next.End())-at(s.Pos()) < 400 {
					add("reorder", s.Pos(), next.End(), text(next)+"\n"+text(s))
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR || n.Tok == token.CONST
		case *ast.IfStmt:
			add("negate", n.Cond.Pos(), n.Cond.End(), "!("+text(n.Cond)+")")
		case *ast.BlockStmt:
			list(n.List)
		case *ast.CaseClause:
			list(n.Body)
		case *ast.BinaryExpr:
			if to, ok := swapped[n.Op]; ok {
				add("operator", n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), to.String())
			}
			if n.Op == token.SUB || n.Op == token.QUO || n.Op == token.REM || n.Op == token.SHL {
				add("operands", n.Pos(), n.End(), "("+text(n.Y)+") "+n.Op.String()+" ("+text(n.X)+")")
			}
		case *ast.AssignStmt:
			if to, ok := swapped[n.Tok]; ok {
				add("operator", n.TokPos, n.TokPos+token.Pos(len(n.Tok.String())), to.String())
			}
		case *ast.BasicLit:
			if v, err := strconv.ParseInt(n.Value, 0, 62); n.Kind == token.INT && err == nil {
				add("off by one", n.Pos(), n.End(), strconv.FormatInt(v+1, 10))
			}
		case *ast.CallExpr:
			if id, ok := n.Fun.(*ast.Ident); ok && (id.Name == "min" || id.Name == "max") {
				add("min, max", id.Pos(), id.End(), map[string]string{"min": "max", "max": "min"}[id.Name])
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b change) int { return cmp.Or(a.from-b.from, a.to-b.to, cmp.Compare(a.kind, b.kind)) })
	return all, nil
}

func (c change) apply(src []byte) []byte {
	return slices.Concat(src[:c.from], []byte(c.text), src[c.to:])
}

// critical are the packages whose every mistake should be seen, and the tests that look
// after each: its own first.
var critical = map[string][]string{
	"internal/privacy/rng":              {"./internal/privacy/rng", "./internal/privacy/mech"},
	"internal/privacy/mech":             {"./internal/privacy/mech", "./internal/learn/brc"},
	"internal/privacy/accounting":       {"./internal/privacy/accounting"},
	"internal/privacy/response":         {"./internal/privacy/response", "./internal/privacy/mech"},
	"internal/ledger":                   {"./internal/ledger"},
	"internal/net/federated/flp":        {"./internal/net/federated/flp"},
	"internal/net/federated/secsum":     {"./internal/net/federated/secsum"},
	"internal/net/federated/answer":     {"./internal/net/federated/answer", "./internal/net/federated/simulate"},
	"internal/net/federated/multiparty": {"./internal/net/federated/multiparty"},
	"internal/learn/additive":           {"./internal/learn/additive", "./internal/check/noninterference"},
	"internal/learn/brc":                {"./internal/learn/brc", "./internal/check/noninterference"},
	"internal/learn/erm":                {"./internal/learn/erm", "./internal/check/noninterference"},
	"internal/learn/grids":              {"./internal/learn/grids", "./internal/check/noninterference"},
	"internal/learn/labeldp":            {"./internal/learn/labeldp", "./internal/check/noninterference"},
	"lab/internal/learn/pate":           {"./lab/internal/learn/pate", "./lab/internal/noninterference"},
	"lab/internal/learn/people":         {"./lab/internal/learn/people", "./lab/internal/noninterference"},
}

// longestRun is the time that the tests of one package have to see one mistake; a mistake
// that makes them run longer is seen.
const longestRun = 5 * time.Minute

// TestMutate makes mistakes by rule in the packages of critical and counts those that
// their tests see. It runs on request (make mutate): DISCREET_MUTATE is all or a list of
// packages, DISCREET_MUTATE_SAMPLE how many mistakes of each, drawn by DISCREET_MUTATE_SEED
// (17 if absent); 0 for every one. Survivors are listed, to be met by a test or judged in
// evidence/mutation.md.
func TestMutate(t *testing.T) {
	asked := os.Getenv("DISCREET_MUTATE")
	if asked == "" {
		t.Skip("set DISCREET_MUTATE to packages or all (make mutate)")
	}
	sample, err := strconv.Atoi(cmp.Or(os.Getenv("DISCREET_MUTATE_SAMPLE"), "0"))
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("DISCREET_MUTATE_SEED"), "17"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, pkg := range slices.Sorted(func(yield func(string) bool) {
		for pkg := range critical {
			if (asked == "all" || slices.Contains(strings.Split(asked, ","), pkg)) && !yield(pkg) {
				return
			}
		}
	}) {
		all := mistakes(t, pkg)
		rand.New(rand.NewPCG(seed, uint64(len(pkg)))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		killed, slow, made := 0, 0, 0
		for _, m := range all {
			if sample > 0 && made == sample {
				break
			}
			end := m.tried(t, critical[pkg])
			if end == unbuilt {
				continue
			}
			switch made++; end {
			case survived:
				t.Logf("survives: %s", m)
			case timedOut:
				slow++
				fallthrough
			case failed:
				killed++
			}
		}
		t.Logf("%s: %d of %d are seen, %d of them by their time (%d in all, built or not)", pkg, killed, made, slow,
			len(all))
	}
}

// mistake is a change of one file.
type mistake struct {
	change
	file string // from the root
	src  []byte
}

func (m mistake) String() string {
	line := string(m.src[bytes.LastIndexByte(m.src[:m.from], '\n')+1:])
	line, _, _ = strings.Cut(line, "\n")
	return fmt.Sprintf("%s:%d: %s: %s → %q", m.file, m.line, m.kind, strings.TrimSpace(line), m.text)
}

// mistakes are all that the rules make in a package.
func mistakes(t *testing.T, pkg string) (all []mistake) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, pkg, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		changes, err := changesOf(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			all = append(all, mistake{c, filepath.Join(pkg, filepath.Base(path)), src})
		}
	}
	return all
}

// ending is what became of a mistake.
type ending int

const (
	survived ending = iota
	failed
	timedOut // a test ran for longestRun, or would not end
	unbuilt
)

// tried runs the tests of packages on the mistake until one fails.
func (m mistake) tried(t *testing.T, tests []string, flags ...string) ending {
	t.Helper()
	overlay := writeOverlay(t, filepath.Join(root, m.file), m.apply(m.src))
	for _, pkg := range tests {
		ctx, cancel := context.WithTimeout(t.Context(), 2*longestRun)
		args := slices.Concat([]string{"test", "-failfast", "-vet=off", "-timeout", longestRun.String(), "-overlay", overlay}, flags)
		cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
		cmd.Dir, cmd.Env = root, workspace(t)
		out, err := cmd.CombinedOutput()
		cancel()
		if bytes.Contains(out, []byte("[build failed]")) {
			return unbuilt
		}
		if bytes.Contains(out, []byte("panic: test timed out")) {
			return timedOut
		}
		if err != nil {
			t.Logf("%s", out[max(0, len(out)-2000):])
			return failed
		}
	}
	return survived
}

// TestWrongLearners makes mistakes by rule in learners: the promise must hold in all, since the guard
// keeps it. DISCREET_WRONG_LEARNERS is how many are drawn, by DISCREET_MUTATE_SEED (17 if absent).
// A learner that does not end shows nothing of a row, so its time is only counted.
func TestWrongLearners(t *testing.T) {
	most, err := strconv.Atoi(os.Getenv("DISCREET_WRONG_LEARNERS"))
	if err != nil {
		t.Skip("set DISCREET_WRONG_LEARNERS to a number of mistakes (make wrong-learners)")
	}
	seed, err := strconv.ParseUint(cmp.Or(os.Getenv("DISCREET_MUTATE_SEED"), "17"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	var all []mistake
	for _, learner := range []string{"additive", "auto", "brc", "erm", "grids", "labeldp"} {
		all = append(all, mistakes(t, filepath.Join("internal/learn", learner))...)
	}
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	made, slow := 0, 0
	for _, m := range all {
		if made == most {
			break
		}
		switch m.tried(t, []string{"./internal/check/noninterference"}, "-run=TestPromiseHolds") {
		case unbuilt:
			continue
		case failed:
			t.Errorf("the promise is broken: %s", m)
		case timedOut:
			slow++
		}
		made++
		t.Logf("%d: %s", made, m)
	}
	t.Logf("%d mistakes in learners, %d of which do not end", made, slow)
}

// The rules make each kind of mistake, once where it can be made once.
func TestChanges(t *testing.T) {
	src := []byte("package p\n\nfunc f(a, b int) int {\n\tif a < b {\n\t\treturn a - b\n\t}\n\ta = b\n\tb = " +
		"7\n\treturn max(a, b)\n}\n")
	all, err := changesOf(src)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, c := range all {
		kinds[c.kind]++
		if out := c.apply(src); bytes.Equal(out, src) {
			t.Errorf("%+v changes nothing", c)
		}
	}
	want := map[string]int{"negate": 1, "operator": 2, "operands": 1, "off by one": 1, "min, max": 1, "drop": 3,
		"reorder": 1}
	for kind, n := range want {
		if kinds[kind] != n {
			t.Errorf("%d times %q, want %d", kinds[kind], kind, n)
		}
	}
}
