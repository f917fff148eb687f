// SPDX-License-Identifier: Apache-2.0

package yamltext

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// keys is a text with n keys in each of k mappings.
func keys(n, k int) string {
	var b strings.Builder
	for i := range k {
		fmt.Fprintf(&b, "m%d: {", i)
		for j := range n {
			fmt.Fprintf(&b, "k%d: 1, ", j)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// hostile are texts on which a YAML library spends memory or time out of proportion.
var hostile = map[string]string{
	"brackets":        strings.Repeat("[", 100_000),
	"braces":          strings.Repeat("{", 100_000),
	"pairs":           strings.Repeat("{a: [", 20_000),
	"dashes":          strings.Repeat("- ", 20_000),
	"indents":         "a:\n b:\n  c:\n   d:\n    e:\n     f:\n      g:\n       h:\n        i: x\n",
	"questions":       strings.Repeat("? ", 20_000),
	"tags":            strings.Repeat("! ", 20_000),
	"aliases":         "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
	"documents":       strings.Repeat("---\na: 1\n", 20_000),
	"keys":            keys(10_000, 1),
	"several of keys": keys(MaxKeys, 2),
	"many of keys":    keys(1000, 40),
	"too long":        strings.Repeat(" ", MaxBytes+1),
	"not UTF-8":       "a: \xff",
	"NUL":             "a: \x00",
}

func TestHostileTextsAreRefusedCheaply(t *testing.T) {
	const most = 48 << 20
	for name, text := range hostile {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var into map[string]any
		err := Decode("file", []byte(text), &into)
		runtime.ReadMemStats(&after)
		if _, ok := errors.AsType[*dp.ParamError](err); !ok {
			t.Errorf("%s: got %v, want a refusal", name, err)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > most {
			t.Errorf("%s: takes %d MB, want at most %d", name, took>>20, most>>20)
		}
	}
}

func TestTextsWithinTheBounds(t *testing.T) {
	root, err := Parse("file", []byte(keys(MaxKeys, 1)))
	if err != nil || len(root.Pairs[0].Value.Pairs) != MaxKeys {
		t.Errorf("got %v, want %d keys", err, MaxKeys)
	}
	deep := strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth)
	if _, err := Parse("file", []byte(deep)); err != nil {
		t.Error(err)
	}
	if _, err := Parse("file", []byte("["+deep+"]")); err == nil {
		t.Errorf("%d levels pass", MaxDepth+1)
	}
}

func TestDecode(t *testing.T) {
	var v struct {
		A string         `yaml:"a"`
		B map[string]int `yaml:"b"`
		C []string       `yaml:"c"`
	}
	if err := Decode("file", []byte("\ufeffa: x # why\nb: {k: 2}\nc: [\"1\", no]\n"), &v); err != nil {
		t.Fatal(err)
	}
	if v.A != "x" || v.B["k"] != 2 || strings.Join(v.C, " ") != "1 no" {
		t.Errorf("got %+v", v)
	}
	for _, bad := range []string{"d: 1", "a: x\na: y", "a: [", "b: {k: x}", "a: &x y", "a: x\n---\na: y",
		"a: \"x\\ny\"", "a: \"\\e[2J\"", "a: x\u202ey", "b: {\"k\\r\": 1}", "c: [\"\\x9b\"]", "a: |\n  x\n  y\n"} {
		if Decode("file", []byte(bad), &v) == nil {
			t.Errorf("%q is read", bad)
		}
	}
	if err := DecodeLines("file", []byte("a: |\n  one\n  two\n"), &v); err != nil || v.A != "one\ntwo\n" {
		t.Errorf("got %v, %q", err, v.A)
	}
	if DecodeLines("file", []byte("a: \"\\e[2J\""), &v) == nil {
		t.Error("a control character is read")
	}
	v.A = "x"
	for _, none := range []string{"", "# nothing\n"} {
		if err := Decode("file", []byte(none), &v); err != nil || v.A != "x" {
			t.Errorf("%q: got %v, %+v", none, err, v)
		}
	}
}

func TestLineOf(t *testing.T) {
	for text, want := range map[string]int{"a: 1\na: 2": 2, "a: 1\nb: [": 2, "a: 1\nb: &x 1": 2, "\xff": 1} {
		if _, err := Parse("file", []byte(text)); err == nil || LineOf(err) != want {
			t.Errorf("%q: got line %d of %v, want %d", text, LineOf(err), err, want)
		}
	}
}
