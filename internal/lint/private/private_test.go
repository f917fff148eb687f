// SPDX-License-Identifier: Apache-2.0

package private

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// One small module, in which every line that says want shows a private number.
const example = `package m

import "fmt"

type Answer struct{ Count []int }
type Table interface{ Ask() *Answer }
type Model struct{ N int }
type box struct{ n, sum int }

func Release(label string, values []int) []int { return values }

func use() {}

func branch(a *Answer) int {
	if a.Count[0] > 3 { // want
		return 1
	}
	return 0
}

func loop(a *Answer) (sum int) {
	for _, n := range a.Count {
		sum += n
	}
	return sum
}

func kernel(a *Answer) int {
	if a.Count[0] > 3 {
		return 1
	}
	return 0
}

func each(list []int, do func(int)) {
	for _, x := range list {
		do(x)
	}
}

func Fit(t Table) *Model {
	a := t.Ask()
	branch(a)
	b := &box{sum: loop(a)}
	alias := make([]int, 1)
	other := alias[:]
	other[0] = b.sum
	if alias[0] == 0 { // want
		use()
	}
	if kernel(a) == 1 { // want
		use()
	}
	total := 0
	each(a.Count, func(x int) { total += x })
	_ = fmt.Sprint(total) // want
	out := Release("a", a.Count)
	if out[0] > 0 {
		b.n = 1
	}
	if b.n == 1 {
		return &Model{out[0]}
	}
	Release("b", make([]int, b.sum)) // want
	Release(fmt.Sprint(len(a.Count)), nil)
	if min(loop(a), 7) > 2 { // want
		use()
	}
	return &Model{loop(a)} // want
}
`

func TestFlow(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m.test/m\n\ngo 1.26\n", "m.go": example} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rules := &Rules{Module: "m.test/m", Packages: []string{"."}, Roots: []string{"m.test/m"},
		Private: map[string]Field{"m.test/m.Answer.Count": {}}, Answers: map[string]bool{"m.test/m.Table.Ask": false},
		Exits: []string{"m.test/m.Release"}, Public: []string{"m.test/m.Model"},
		Kernels: map[string]string{"m.test/m.kernel": "it may", "m.test/m.Release": "it need not"}}
	bad, stale, err := Check(dir, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(stale) != 1 || !strings.Contains(stale[0], "Release") {
		t.Errorf("stale: %q, want Release alone", stale)
	}
	found := map[int]bool{}
	for _, f := range bad {
		found[f.Line] = true
	}
	for i, line := range slices.Collect(strings.Lines(example)) {
		if want := strings.Contains(line, "// want"); found[i+1] != want {
			t.Errorf("line %d: found %v, want %v: %s", i+1, found[i+1], want, line)
		}
	}
	if t.Failed() {
		t.Log(bad)
	}
}
