// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// sample is a module made of the given files.
func sample(t *testing.T, files map[string]string) *Module {
	t.Helper()
	tree := fstest.MapFS{"go.mod": {Data: []byte("module m.test/m\n\ngo 1.26\n")}}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	m, err := Load(tree)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// one feeds a rule good and bad samples. want is a part of each complaint, in
// order; none means that the rule has nothing to say.
type one struct {
	name  string
	files map[string]string
	want  []string
}

func try(t *testing.T, rule func(*Module) []string, cases []one) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { compare(t, rule(sample(t, c.files)), c.want) })
	}
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %d complaints, want %d: %q", len(got), len(want), got)
	}
	for i := range got {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("complaint %q does not say %q", got[i], want[i])
		}
	}
}

type files = map[string]string

func TestImports(t *testing.T) {
	try(t, checkImports, []one{
		{"a learner that asks", files{
			"learn/brc/a.go": "package brc\n" + `import ("context"; "m.test/m/guard"; "m.test/m/learn/random")`,
			"guard/a.go":     "package guard\n" + `import _ "m.test/m/privacy/mech"`,
		}, nil},
		{"a test may import anything", files{
			"ground/dp/a.go":      "package dp",
			"ground/dp/a_test.go": "package dp\n" + `import _ "m.test/m/table/read/dataset"`,
		}, nil},
		{"a learner with a clock", files{
			"learn/brc/a.go": "package brc\n" + `import _ "time"`,
		}, []string{"learn/brc/a.go:2: learn/brc may not import time"}},
		{"a learner that looks inside", files{
			"learn/brc/a.go": "package brc\n" + `import _ "reflect"`,
		}, []string{"learn/brc/a.go:2: learn/brc may not import reflect"}},
		{"a reader of YAML without its bounds", files{
			"cmd/a/a.go":           "package main\n" + `import _ "gopkg.in/yaml.v3"`,
			"lab/x/a.go":           "package x\n" + `import _ "github.com/goccy/go-yaml/parser"`,
			"ground/yamltext/a.go": "package yamltext\n" + `import _ "github.com/goccy/go-yaml"`,
		}, []string{"cmd/a may not import gopkg.in/yaml.v3", "lab/x may not import github.com/goccy/go-yaml/parser"}},
		{"a learner with noise of its own", files{
			"learn/erm/a.go": "package erm\n" + `import _ "m.test/m/privacy/mech"`,
			"learn/brc/a.go": "package brc\n" + `import _ "m.test/m/privacy/rng"`,
		}, []string{"learn/brc may not import privacy/rng", "learn/erm may not import privacy/mech"}},
		{"a learner that opens its guard", files{
			"learn/brc/a.go": "package brc\n" + `import _ "m.test/m/guard/extend"`,
		}, []string{"learn/brc may not import guard/extend"}},
		{"a plan that reads rows", files{
			"explorer/planning/a.go":  "package planning\n" + `import _ "m.test/m/table/read/dataset"`,
			"table/read/dataset/a.go": "package dataset",
		}, []string{"explorer/planning may not import table/read/dataset"}},
		{"a learner that opens its guard through another package", files{
			"learn/brc/a.go":    "package brc\n" + `import _ "m.test/m/lab/x"`,
			"lab/x/a.go":        "package x\n" + `import _ "m.test/m/guard/extend"`,
			"guard/extend/a.go": "package extend",
		}, []string{"learn/brc must never reach guard/extend (by learn/brc → lab/x → guard/extend)"}},
		{"rows through a third package", files{
			"learn/brc/a.go":          "package brc\n" + `import _ "m.test/m/model/shrink"`,
			"model/shrink/a.go":       "package shrink\n" + `import _ "m.test/m/table/read/dataset"`,
			"table/read/dataset/a.go": "package dataset",
		}, []string{"learn/brc must never reach table/read/dataset (by learn/brc → model/shrink → table/read/dataset)"}},
		{"test packages in production", files{
			"train/audit/a.go": "package audit\n" + `import _ "m.test/m/check/testkit/mechtest"`,
		}, []string{"exists for tests only"}},
		{"seeds in the product", files{
			"train/a.go":              "package train\n" + `import _ "m.test/m/train/heldout"`,
			"train/heldout/a.go":      "package heldout\n" + `import _ "m.test/m/privacy/rng/replay"`,
			"privacy/rng/replay/a.go": "package replay",
		}, []string{"train must never reach privacy/rng/replay"}},
		{"randomness where it belongs", files{
			"privacy/rng/replay/a.go": "package replay\n" + `import _ "math/rand/v2"`,
			"lab/census/a.go":         "package census\n" + `import _ "m.test/m/privacy/rng/replay"`,
			"lab/experiment/s/a.go":   "package s\n" + `import _ "m.test/m/privacy/rng/replay"`,
			"model/a_test.go":         "package model\n" + `import _ "math/rand"`,
		}, nil},
		{"math/rand", files{"privacy/mech/a.go": "package mech\n" + `import _ "math/rand"`},
			[]string{"privacy/mech may not import math/rand:"}},
		{"math/rand/v2", files{"labs/a.go": "package labs\n" + `import _ "math/rand/v2"`},
			[]string{"may not import math/rand/v2"}},
		{"replay under another name", files{"cmd/x/a.go": "package main\n" +
			`import r "m.test/m/privacy/rng/replay"; var _ = r.Seeded`}, []string{"privacy/rng/replay"}},
		{"whatever the build tag", files{
			"ground/dp/a.go": "//go:build plan9\n\npackage dp\n" + `import _ "os"`,
		}, []string{"ground/dp may not import os"}},
	})
}

func TestRooms(t *testing.T) {
	of := func(name, imported string) files {
		return files{name: "package a\n" + `import _ "m.test/m/` + imported + `"`}
	}
	try(t, checkRooms, []one{
		{"downwards", of("internal/table/schema/a.go", "internal/ground/dp"), nil},
		{"upwards", of("internal/ground/dp/a.go", "internal/privacy/mech"), []string{"ground/dp may not import privacy/mech"}},
		{"over some rooms", of("internal/commands/a.go", "internal/ground/dp"), nil},
		{"upwards over some rooms", of("internal/ground/dp/a.go", "internal/commands/cli"),
			[]string{"ground/dp may not import commands/cli"}},
		{"within a room", of("internal/train/a.go", "internal/train/predict"), nil},
		{"a test, upwards", of("internal/ground/dp/a_test.go", "internal/net/wire"), nil},
		{"a product of the core", of("internal/spark/cluster/a.go", "internal/train"), nil},
		{"the core of a product", of("internal/train/a.go", "internal/spark"), []string{"train may not import spark"}},
		{"within a product", of("internal/net/commands/a.go", "internal/net/wire"), nil},
		{"a product of another", of("internal/net/commands/a.go", "internal/serve"), []string{"net/commands may not import serve"}},
		{"commands of a product", of("internal/net/commands/a.go", "internal/commands"), nil},
		{"a product with commands elsewhere", of("internal/net/wire/a.go", "internal/commands/cli"),
			[]string{"net/wire may not import commands/cli"}},
		{"a program with its product", of("cmd/discreet-net/a.go", "internal/net/commands"), nil},
		{"a program with another's", of("cmd/discreet/a.go", "internal/net/commands"),
			[]string{"cmd/discreet may not import net/commands"}},
		{"a program of a program", of("cmd/discreet/a.go", "cmd/discreet-net"), []string{"cmd/discreet may not import cmd/discreet-net"}},
		{"the library of the core", of("a.go", "internal/train"), nil},
		{"the library of commands", of("a.go", "internal/commands"), []string{". may not import commands"}},
		{"the library of a product", of("a.go", "internal/spark"), []string{". may not import spark"}},
		{"a program with the library", files{"cmd/discreet/a.go": "package a\n" + `import _ "m.test/m"`}, nil},
		{"a room with the library", files{"internal/commands/a.go": "package a\n" + `import _ "m.test/m"`},
			[]string{"commands may not import ."}},
		{"the laboratory", of("lab/x/a.go", "internal/net/wire"), nil},
		{"a folder that is no room", of("internal/misc/a.go", "internal/ground/dp"),
			[]string{"internal/misc is none of the rooms"}},
		{"a product of what is no room", of("internal/net/a.go", "internal/misc"), []string{"net may not import misc"}},
	})
}

func TestHeaders(t *testing.T) {
	try(t, checkHeaders, []one{
		{"as it should be", files{"ground/dp/a.go": spdx + "package dp\n"}, nil},
		{"no licence", files{"ground/dp/a.go": "package dp\n"}, []string{"ground/dp/a.go: the first line"}},
		{"licence in the package doc", files{"ground/dp/a.go": strings.TrimSpace(spdx) + "\npackage dp\n"},
			[]string{"ground/dp/a.go: the first line"}},
		{"licence second", files{"ground/dp/a_test.go": "// Hello.\n" + spdx + "package dp\n"},
			[]string{"ground/dp/a_test.go: the first line"}},
		{"not formatted", files{"ground/dp/a.go": spdx + "package dp\n\nvar  x = 1\n"}, []string{"gofmt"}},
	})
}

func TestOutput(t *testing.T) {
	with := func(imports, call string) files {
		return files{"model/a.go": "package model\n" + imports + "\nfunc f() { " + call + " }\n"}
	}
	try(t, checkOutput, []one{
		{"writing where told", with(`import ("fmt"; "io")`, `fmt.Fprintln(io.Discard)`), nil},
		{"a command", files{"cmd/x/a.go": "package main\n" + `import "os"; func f() { os.Exit(1) }`}, nil},
		{"an example", files{"model/a.go": "package model", "model/x_test.go": "package model\n" +
			`import "fmt"; func f() { fmt.Println() }`}, nil},
		{"exit", with(`import "os"`, `os.Exit(1)`), []string{"model/a.go:3"}},
		{"exit by another name", with(`import sys "os"`, `sys.Exit(1)`), []string{"neither prints"}},
		{"fatal", with(`import "log"`, `log.Fatal()`), []string{"neither prints"}},
		{"log", with(`import "log/slog"`, `slog.Info("x")`), []string{"neither prints"}},
		{"print", with(`import "fmt"`, `fmt.Printf("x")`), []string{"neither prints"}},
		{"built-in", with("", `println(1)`), []string{"neither prints"}},
	})
}

func TestFlags(t *testing.T) {
	with := func(text string) files { return files{"internal/model/a.go": "package model\nconst x = " + text} }
	try(t, checkFlags, []one{
		{"a parameter", with(`"rows must be given"`), nil},
		{"a dash", with(`"-----BEGIN x" + "a -- b"`), nil},
		{"a comment", files{"internal/model/a.go": "// Package model has no --rows.\npackage model"}, nil},
		{"a tag of a protocol", with(`"discreet votes 1"`), nil},
		{"a command", files{"internal/commands/a.go": "package commands\nconst x = `--rows`"}, nil},
		{"a command of the network", files{"internal/net/commands/a.go": "package commands\nconst x = `--rows`"}, nil},
		{"a program", files{"cmd/x/a.go": "package main\nconst x = `--rows`"}, nil},
		{"a test", files{"internal/model/a_test.go": "package model\nconst x = `--rows`"}, nil},
		{"a flag", with(`"give --rows"`), []string{"--r"}},
		{"a flag of a service", files{"internal/net/service/a.go": "package service\nconst x = `no --roster`"}, []string{"--r"}},
		{"a flag in a sum", with(`"a" + ("b" + "--rows")`), []string{"--r"}},
		{"a flag that is put together", with(`"give --" + "rows"`), []string{"--"}},
		{"a named command", with(`"discreet budget init creates it"`), []string{"discreet budget"}},
		{"another program", with(`"what discreet-lab attack printed"`), []string{"discreet-lab a"}},
		{"the library", files{"a.go": "package m\nconst x = `--rows`"}, []string{"--r"}},
	})
}

func TestDependencies(t *testing.T) {
	mod := "module m.test/m\n\nrequire a.test/a v1.2.3\n\n" +
		"require (\n\ta.test/a/b/v2 v2.0.0 // indirect\n\tc.test/c v0.1.0\n)\n\ntool c.test/c/cmd/c\n"
	code := "package plot\n" + `import (_ "a.test/a/x"; _ "a.test/a/b/v2"; _ "m.test/m/ground/dp"; _ "fmt")`
	table := "| library | version | reason | gave up |\n|---|---|---|---|\n" +
		"| `a.test/a` | v1.2.3 | it draws | much |\n| `a.test/a/b/v2` | v2.0.0 | it draws more | little |\n"
	last := "| `c.test/c` | v0.1.0 | it lints | nothing |\n"
	try(t, checkDependencies, []one{
		{"complete", files{"go.mod": mod, "plot/a.go": code, dependencyPage: table + last}, nil},
		{"no page", files{"go.mod": mod, "plot/a.go": code}, []string{"not exist"}},
		{"an unlisted tool", files{"go.mod": mod, "plot/a.go": code, dependencyPage: table}, []string{"c.test/c is used"}},
		{"another version", files{"go.mod": mod, "plot/a.go": code,
			dependencyPage: table + strings.Replace(last, "0.1", "0.2", 1)}, []string{"go.mod says v0.1.0"}},
		{"no reason", files{"go.mod": mod, "plot/a.go": code,
			dependencyPage: table + strings.Replace(last, "it lints", "", 1)}, []string{"no reason"}},
		{"no longer used", files{"go.mod": mod, dependencyPage: table + last},
			[]string{"a.test/a is listed", "a.test/a/b/v2 is listed"}},
		{"used in a test, not listed", files{"go.mod": mod, "plot/a_test.go": code, dependencyPage: last},
			[]string{"a.test/a is used", "a.test/a/b/v2 is used"}},
	})
}

func TestClaims(t *testing.T) {
	code := "// Package brc keeps claim G-BRC-1.\npackage brc\n"
	try(t, checkClaims, []one{
		{"both sides", files{"learn/brc/a.go": code, guarantees + "/brc.md": "# BRC\n\n## G-BRC-1 (whole row)\n"}, nil},
		{"no page", files{"learn/brc/a.go": code}, []string{"names G-BRC-1"}},
		{"only mentioned on the page", files{"learn/brc/a.go": code, guarantees + "/brc.md": "see G-BRC-1\n"},
			[]string{"names G-BRC-1"}},
		{"another number", files{"learn/brc/a.go": code, guarantees + "/brc.md": "### G-BRC-10\n"},
			[]string{"G-BRC-10 is claimed", "names G-BRC-1,"}},
		{"told twice", files{"learn/brc/a.go": code, guarantees + "/a.md": "## G-BRC-1\n",
			guarantees + "/b.md": "## G-BRC-1\n"}, []string{"already has a heading in " + guarantees + "/a.md"}},
	})
}

func TestTags(t *testing.T) {
	page := "# BRC\n\n## G-BRC-1\n\nSo it is (1.1), and so (1.2, by induction).\n\n"
	list := "Tags in `learn/brc`: 1.1 `fit`; 1.2 `plan.draw` and `size`. Tests: `TestFit` (1.7)\n"
	code := "package brc\n\n// fit draws (1.1).\nfunc fit() {}\n\nfunc (p *plan) draw() {\n\tnoise() // 1.2: rows meet " +
		"noise\n}\n\nconst size = 1 // 1.2\n\n// See section 3.5.1 (3.5.1) and 1.9 of it.\ntype plan struct{}\n"
	with := func(page, code string) files {
		return files{guarantees + "/brc.md": page, "internal/learn/brc/a.go": code,
			"internal/learn/other/b.go": "package other\n\n// f is (2.2).\nfunc f() {}\n"}
	}
	try(t, checkTags, []one{
		{"as it should be", with(page+list, code), nil},
		{"no list", with(page, code), []string{"leans on 1.1", "leans on 1.2"}},
		{"a tag too few in code", with(page+list, strings.Replace(code, "1.2: rows", "rows", 1)),
			[]string{"says that 1.2 stands in plan.draw"}},
		{"in another function", with(page+list, strings.Replace(code, "func fit", "func fitAll", 1)),
			[]string{"says that 1.1 stands in fit", "a.go:3:1: bears tag 1.1 in fitAll"}},
		{"a tag too many in code", with(page+list, code+"\nfunc f() {} // 1.3\n"), []string{"bears tag 1.3 in f,"}},
		{"none of the argument's", with(strings.Replace(page, "1.2", "so", 1)+list, code), []string{"lists tag 1.2"}},
		{"a field", with(page+strings.Replace(list, "`size`", "`plan.size`", 1),
			strings.Replace(strings.Replace(code, "const size = 1 // 1.2", "", 1), "struct{}", "struct {\n\tsize int // 1.2\n}",
				1)), nil},
	})
}

// The samples are put together here so that this file stays clean itself.
func TestPlaces(t *testing.T) {
	for _, bad := range []string{
		"cd /wo" + "rk/main", "/ro" + "ot/.cache", `open("/ho` + `me/ann/x")`, "(/Us" + "ers/ann)",
		"https://pro" + "xy.golang.org", "https://py" + "pi.org/simple", "files.python" + "hosted.org",
		"GOPR" + "OXY=off", "pip install --extra-index-" + "url x", "see ../shared/gu" + "ide/house.md",
		"is not installed; pip install dis" + "creet", "pip install --user dis" + "creet\n", "$ pip install 'dis" + "creet'", "uv pip install dis" + "creet==1",
		"brew install dis" + "creet-net", "apt-get install -y dis" + "creet",
		"docker pul" + "l x", "docker ru" + "n --rm -v \"$PWD:/data\" discreet show", "podman ru" + "n discreet-net",
	} {
		if got := findPlaces("a.txt", []byte("fine\n"+bad+"\n")); len(got) == 0 || !strings.HasPrefix(got[0], "a.txt:2: ") {
			t.Errorf("%q passes: %q", bad, got)
		}
	}
	for _, good := range []string{
		"pip install out/python/discreet-*.whl", "pip install ./discreet-0.1.0-py3-none-any.whl", "apt install ./discreet_0.1.0.deb",
		"docker run --pull never discreet show", "go install github.com/discreet-dp/discreet/cmd/x@latest", "go install ./cmd/discreet", "pip install numpy", "go run github.com/x/y@v1",
		"frame" + "work/x", "../../shared/datasets", "pkg.go.dev", "apache.org/licenses", "n/wo" + "rk", "at home/work",
	} {
		if got := findPlaces("a.txt", []byte(good)); got != nil {
			t.Errorf("%q is refused: %q", good, got)
		}
	}
	dir := t.TempDir() // no version control: checked whole
	if err := os.WriteFile(filepath.Join(dir, "x"), []byte("/ro"+"ot\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := checkPlaces(dir)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, got, []string{"x:1: "})
}

func TestOpening(t *testing.T) {
	try(t, checkOpening, []one{
		{"the one way, and a new file", files{"internal/ground/openfile/a.go": "package openfile\n" + `import "os"; var f = os.Open`,
			"internal/release/card/a.go": "package card\n" + `import "os"; var f, _ = os.OpenFile("x", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0)`,
			"lab/internal/a/a.go":        "package a\n" + `import "os"; var f = os.ReadFile`}, nil},
		{"others", files{"internal/release/card/a.go": "package card\n" + `import ("os"; "crypto/tls"); var a, b = os.ReadFile, tls.LoadX509KeyPair`,
			"lab/cmd/a/a.go": "package main\n" + `import "os"; var f = os.Open`}, []string{"os.ReadFile", "tls.LoadX509KeyPair", "os.Open"}},
		{"a file that may be a pipe", files{"internal/release/card/a.go": "package card\n" +
			`import "os"; var f, _ = os.OpenFile("x", os.O_RDONLY, 0)`}, []string{"os.OpenFile"}},
	})
}

func TestTerminal(t *testing.T) {
	try(t, checkTerminal, []one{
		{"the printer", files{"internal/commands/cli/a.go": "package cli\n" + `import "os"; var out = os.Stdout`,
			"cmd/discreet/a.go": "package main\n" + `import "m.test/m/internal/ground/plaintext"; func f() { plaintext.Fprintf(nil, "x") }`}, nil},
		{"a library that writes to a writer", files{"internal/release/card/a.go": "package card\n" +
			`import "fmt"; func f() { fmt.Fprintf(nil, "x") }`}, nil},
		{"values as they are", files{"cmd/discreet/a.go": "package main\n" + `import "fmt"; func f() { fmt.Fprintln(nil, "x") }`},
			[]string{"fmt.Fprintln"}},
		{"a stream as it is", files{"internal/commands/a.go": "package commands\n" + `import "os"; var out = os.Stderr`},
			[]string{"os.Stderr"}},
	})
}

func TestClients(t *testing.T) {
	try(t, checkClients, []one{
		{"the one place", files{"internal/net/service/identity/http.go": "package identity\n" +
			`import "net/http"; var c = &http.Client{Transport: &http.Transport{}}`}, nil},
		{"a client that was made there", files{"internal/net/service/sum/a.go": "package sum\n" +
			`import "net/http"; type c struct{ h *http.Client }`}, nil},
		{"a test's own", files{"internal/net/service/sum/a_test.go": "package sum\n" +
			`import "net/http"; var c = http.Client{}`}, nil},
		{"one more client", files{"internal/net/service/sum/a.go": "package sum\n" + `import "net/http"; var c = &http.Client{}`},
			[]string{"http.Client"}},
		{"everybody's client", files{"cmd/discreet/a.go": "package main\n" + `import "net/http"; func f() { http.Get("x") }`},
			[]string{"http.Get"}},
	})
}

func TestDoors(t *testing.T) {
	try(t, checkDoors, []one{
		{"a door", files{"internal/net/service/site/store.go": "package site\n" +
			`import "encoding/json"; func f() { json.Unmarshal(nil, nil) }`}, nil},
		{"one more decoder", files{"internal/net/service/site/a.go": "package site\n" +
			`import "encoding/json"; func f() { json.NewDecoder(nil) }`}, []string{"json.NewDecoder"}},
		{"a bounded service", files{"internal/net/service/x/a.go": "package x\n" +
			`import "m.test/m/net/service/rpc"; func f() { rpc.NewXHandler(nil, gate.Options()); rpc.NewXClient(nil, admission.Replies(1)) }`}, nil},
		{"a service without bounds", files{"internal/net/service/x/a.go": "package x\n" +
			`import "m.test/m/net/service/rpc"; func f() { rpc.NewXHandler(nil) }`}, []string{"rpc.NewXHandler"}},
		{"a client without bounds", files{"internal/net/service/x/a.go": "package x\n" +
			`import "m.test/m/net/service/rpc"; func f() { rpc.NewXClient(nil, connect.WithReadMaxBytes(1)) }`}, []string{"rpc.NewXClient"}},
	})
}

func TestLinks(t *testing.T) {
	front := "[docs](docs/README.md)\n[site](https://example.org/x.md)\n"
	try(t, checkLinks, []one{
		{"all pages found, one by way of another", files{
			"README.md": front, "docs/README.md": "[a](a.md#part) [here](#here)", "docs/a.md": "[b](b/b.md)",
			"docs/b/b.md": "[home](../../README.md)",
		}, nil},
		{"a page outside the navigation", files{"README.md": front, "docs/README.md": "[a](a.md)", "docs/a.md": "",
			"site/mkdocs.yml": "nav:\n  - Index: docs/README.md\n"}, []string{"docs/a.md: must be in the navigation"}},
		{"a page that no link leads to", files{"README.md": front, "docs/README.md": "", "docs/a.md": ""},
			[]string{"docs/a.md: no link leads to it"}},
		{"a link that leads nowhere", files{"README.md": front, "docs/README.md": "[a](a.md)"},
			[]string{"docs/README.md: the link a.md leads nowhere"}},
		{"no table of contents on the front page", files{"README.md": "[a](docs/a.md)", "docs/a.md": "[c](README.md)",
			"docs/README.md": ""}, []string{"README.md: must link docs/README.md"}},
	})
}

func TestStreams(t *testing.T) {
	// Of the functions below none is one that the product has, whose absence here is another complaint each.
	absent := len(derived)
	for what, body := range map[string]string{
		"a key":            "package a\nimport \"crypto/hkdf\"\nfunc derive(k []byte) { hkdf.Key(nil, k, nil, \"\", 32) }",
		"a renamed import": "package a\nimport kdf \"crypto/hkdf\"\nfunc derive(k []byte) { kdf.Key(nil, k, nil, \"\", 32) }",
		"a generator":      "package a\nimport \"math/rand/v2\"\ntype derive struct{ src rand.ChaCha8 }",
		"a hash as a number": "package a\nimport (\"crypto/sha256\"; \"encoding/binary\")\n" +
			"func derive(k []byte) uint64 { h := sha256.Sum256(k); return binary.LittleEndian.Uint64(h[:]) }",
		"a part of a hash":   "package a\nimport \"crypto/sha256\"\nfunc derive(k []byte) []byte { h := sha256.Sum256(k); return h[:2] }",
		"coins":              "package a\nimport \"example.org/m/internal/privacy/rng\"\nfunc derive(k []byte) { rng.Keyed(k, \"\", nil) }",
		"a method of a type": "package a\nfunc derive(g group) { g.HashToScalar(nil, nil) }",
	} {
		got := checkStreams(sample(t, files{"internal/a/a.go": body}))
		if len(got) != absent+1 || !strings.Contains(got[0], "a.derive derives words") {
			t.Errorf("%s: %d complaints, the first %q", what, len(got), got[0])
		}
	}
	whole := "package a\nimport \"crypto/sha256\"\nfunc name(k []byte) [32]byte { h := sha256.Sum256(k); return h }"
	if got := checkStreams(sample(t, files{"internal/a/a.go": whole})); len(got) != absent {
		t.Errorf("a whole hash, which is a name: %q", got)
	}
}

func TestNamedTests(t *testing.T) {
	try(t, checkNamedTests, []one{
		{"one that is there", files{"docs/a.md": "sure (`TestA`)", "a_test.go": "package a\nfunc TestA(t *testing.T) {}"},
			nil},
		{"one that is gone", files{"evidence/guarantees/a.md": "sure (`TestA/row`)",
			"a_test.go": "package a\nfunc TestB(t *testing.T) {}"}, []string{"TestA"}},
		{"all that begin so", files{"docs/a.md": "sure (`TestA…`, `TestC…`)",
			"a_test.go": "package a\nfunc TestAB(t *testing.T) {}"}, []string{"TestC"}},
		{"scripts and Python", files{"docs/a.md": "`TestScripts/one`, `TestScripts/two`, `test_here`, `test_gone`",
			"cmd/discreet/testdata/one.txtar": "", "python/tests/test_a.py": "def test_here(watch):\n",
			"a_test.go": "package a\nfunc TestScripts(t *testing.T) {}"},
			[]string{"test_gone", "names the script two"}},
		{"code on a page", files{"evidence/a.md": "`b/c.T.F`, `b/c.T.M`, `b/c.gone`, `b/c.go`", "internal/b/c/c.go": "package c\n" +
			"type T struct{ F int }\nfunc (T) M() {}"}, []string{"names b/c.gone"}},
		{"code in a package's comment", files{"internal/b/c/c.go": "// Package c is e.g. T.F, c.Do, d.go, and as x := New() says x.Y.\n" +
			"package c\ntype T struct{ F int }\nfunc Do() {}", "internal/b/c/in/d.go": "package in"}, nil},
		{"code that is gone", files{"internal/b/c/c.go": "// Package c is T.G (d.go).\npackage c\ntype T struct{ F int }"},
			[]string{"names T.G", "names d.go"}},
	})
}

func TestNamedPackages(t *testing.T) {
	try(t, checkNamedPackages, []one{
		{"those that are there", files{"Makefile": "\t$(GO) test -v ./a/b ./...\n", "a/b/c.go": "package b",
			"docs/x.md": "again: `go test ./a/b -run X`, and read ./c"}, nil},
		{"one of the Makefile that is gone", files{"Makefile": "\t$(GO) test -v ./b", "a/b/c.go": "package b"},
			[]string{"Makefile: names ./b"}},
		{"one of a page that is gone", files{"docs/x.md": "`X=1 go test ./b -run X`", "a/b/c.go": "package b"},
			[]string{"docs/x.md: names ./b"}},
	})
}

func TestSkipped(t *testing.T) {
	const measured = "package b\nfunc TestA(t *testing.T) { if os.Getenv(\"DISCREET_A\") == \"\" { t.Skip(\"set it\") } }"
	long := func(why string) string {
		return "package b\nfunc TestLong(t *testing.T) {\n\tsize.OnlyLong(t, \"" + why + "\")\n}\n"
	}
	try(t, checkSkipped, []one{
		{"a test with a target", files{"a/b/c_test.go": measured, "Makefile": "\tDISCREET_A=1 go test \\\n\t\t./a/b\n"}, nil},
		{"a test of another package than the target's", files{"a/b/c_test.go": measured,
			"Makefile": "\tDISCREET_A=1 go test ./a\n"}, []string{"TestA runs nowhere: no target sets DISCREET_A"}},
		{"a variable that only changes a test", files{"a/b/c_test.go": "package b\n" +
			"func TestA(t *testing.T) { if !here { t.Skip(\"not here\") }; n := os.Getenv(\"DISCREET_A\") }"}, nil},
		{"a quick test that stands in", files{"a/b/c_test.go": long("many; TestA is one") + "func TestA(t *testing.T) {}\n"}, nil},
		{"a test that is gone", files{"a/b/c_test.go": long("many; TestA is one")}, []string{"TestLong leaves a claim to TestA"}},
		{"a long test that stands in", files{"a/b/c_test.go": long("many; TestLong is one")},
			[]string{"TestLong leaves a claim to TestLong"}},
	})
}
