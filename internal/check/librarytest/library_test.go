// SPDX-License-Identifier: Apache-2.0

package librarytest

import (
	"errors"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
)

const modulePath = "github.com/discreet-dp/discreet"

// deliberate are the internal types that the library gives a name of its own.
var deliberate = map[string]bool{"ParamError": true, "FaultError": true}

// exported loads the types of the library from what the go command compiled.
func exported(t *testing.T) *types.Package {
	t.Helper()
	out, err := exec.Command("go", "list", "-deps", "-export", "-f", "{{.ImportPath}} {{.Export}}", modulePath).Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[path] = file
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }
	p, err := importer.ForCompiler(token.NewFileSet(), "gc", open).Import(modulePath)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// No signature, field or method of the library mentions a type that its users
// cannot name.
func TestNoInternalTypeLeaks(t *testing.T) {
	scope, names := exported(t).Scope(), 0
	for _, name := range scope.Names() {
		obj := scope.Lookup(name)
		if !obj.Exported() {
			continue
		}
		names++
		if deliberate[name] {
			continue
		}
		for _, found := range leaks(obj) {
			t.Errorf("%s mentions %s", name, found)
		}
		if named, ok := obj.Type().(*types.Named); ok {
			for m := range named.Methods() {
				if !m.Exported() {
					continue
				}
				names++
				for _, found := range leaks(m) {
					t.Errorf("%s.%s mentions %s", name, m.Name(), found)
				}
			}
		}
	}
	if names > 150 {
		t.Errorf("%d exported names, more than 150", names)
	}
	t.Logf("%d exported names", names)
}

// leaks are the internal types in the public part of a declaration.
func leaks(obj types.Object) (found []string) {
	seen := map[types.Type]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		if seen[t] {
			return
		}
		seen[t] = true
		switch t := t.(type) {
		case *types.Alias:
			if t.Obj().Pkg() == nil || t.Obj().Pkg().Path() != modulePath || !deliberate[t.Obj().Name()] {
				walk(types.Unalias(t))
			}
		case *types.Named:
			if p := t.Obj().Pkg(); p != nil && strings.Contains(p.Path(), "/internal/") {
				found = append(found, t.String())
			}
			for a := range t.TypeArgs().Types() {
				walk(a)
			}
			if t.Obj() == obj {
				walk(t.Underlying())
			}
		case *types.Pointer:
			walk(t.Elem())
		case *types.Slice:
			walk(t.Elem())
		case *types.Array:
			walk(t.Elem())
		case *types.Chan:
			walk(t.Elem())
		case *types.Map:
			walk(t.Key())
			walk(t.Elem())
		case *types.Struct:
			for f := range t.Fields() {
				if f.Exported() {
					walk(f.Type())
				}
			}
		case *types.Signature:
			for v := range t.Params().Variables() {
				walk(v.Type())
			}
			for v := range t.Results().Variables() {
				walk(v.Type())
			}
		case *types.Interface:
			for m := range t.Methods() {
				if m.Exported() {
					walk(m.Type())
				}
			}
		}
	}
	walk(obj.Type())
	return found
}

// newcomer is a program of someone who knows the library only by its
// documentation.
const newcomer = `package main

import (
	"context"
	"github.com/discreet-dp/discreet"
)

func main() {
	ctx := context.Background()
	schema, err := discreet.LoadSchema("census.yaml")
	must(err)
	table, err := discreet.ReadTable(ctx, schema, "census.csv")
	must(err)
	ledger, err := discreet.OpenLedger(ctx, "ledger.db")
	must(err)
	must(ledger.Declare(ctx, "census", discreet.Price{Epsilon: 1}))
	model, err := discreet.Train(ctx, table, discreet.Options{Epsilon: 0.5, Account: ledger.Job("census", "first")})
	must(err)
	predictions, err := model.PredictTable(table)
	must(err)
	println(len(predictions.Class), model.Statement().Counted)
}
func must(err error) { if err != nil { panic(err) } }
`

// A program in another module trains, predicts and charges a ledger in at most 25
// lines and two imports, without a network.
func TestProgramInAnotherModule(t *testing.T) {
	size.OnlyLong(t, "builds a program in another module; the examples make the same calls")
	here, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{"main.go": newcomer}
	for _, name := range []string{"go.mod", "go.sum", "examples/quickstart/census.yaml",
		"examples/quickstart/census.csv"} {
		text, err := os.ReadFile(filepath.Join(here, name))
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(name)] = string(text)
	}
	// The requirements of this module, so that none is looked up.
	files["go.mod"] = strings.Replace(files["go.mod"], "module "+modulePath, "module example.com/newcomer", 1) +
		"\nrequire " + modulePath + " v0.0.0\n\nreplace " + modulePath + " => " + here + "\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.Command("go", "run", ".")
	run.Dir = dir
	run.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROX"+"Y=off", "GOWORK=off")
	out, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if want := "400 true\n"; string(out) != want {
		t.Errorf("prints %q, want %q", out, want)
	}
	lines := strings.Count(strings.TrimSpace(newcomer), "\n") + 1
	if imports := strings.Count(newcomer, "\t\""); lines > 25 || imports != 2 {
		t.Errorf("%d lines, %d imports", lines, imports)
	}
}

// The rows of one table are the same to a model however they came in.
func TestEveryWayInIsTheSameTable(t *testing.T) {
	schema, err := discreet.LoadSchema("../../../examples/quickstart/census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../../examples/quickstart/census.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows := [][]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n")[1:] {
		rows = append(rows, strings.Split(line, ","))
	}
	file, err := discreet.ReadTable(t.Context(), schema, "../../../examples/quickstart/census.csv")
	if err != nil {
		t.Fatal(err)
	}
	model, err := discreet.Train(t.Context(), file, discreet.Options{Epsilon: 1, Account: discreet.Uncounted})
	if err != nil {
		t.Fatal(err)
	}
	want, err := model.PredictTable(file)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := discreet.ReadTableFrom(t.Context(), schema, strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := discreet.TableOfRows(schema, func(yield func([]string) bool) {
		for _, row := range rows {
			if !yield(row) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, table := range map[string]*discreet.Table{"reader": reader, "cells": cells} {
		got, err := model.PredictTable(table)
		if err != nil {
			t.Fatal(err)
		}
		sameScores(t, name, got.Scores, want.Scores)
	}

	predictor, err := model.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, name := range schema.Columns() {
		at[name] = i
	}
	var alone []float64
	for i, row := range rows {
		var cells []discreet.Cell
		for _, name := range predictor.Columns() {
			cells = append(cells, discreet.Text(row[at[name]]))
		}
		class, score, err := predictor.Predict(cells)
		if err != nil {
			t.Fatal(err)
		}
		if class != want.Class[i] {
			t.Fatalf("row %d is %q alone and %q in the table", i, class, want.Class[i])
		}
		alone = append(alone, score)
	}
	sameScores(t, "predictor", alone, want.Scores)
}

func sameScores(t *testing.T, name string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d scores, want %d", name, len(got), len(want))
	}
	for i := range want {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
			t.Fatalf("%s: score %d is %v, want %v", name, i, got[i], want[i])
		}
	}
}

func TestTrainRefuses(t *testing.T) {
	schema, err := discreet.LoadSchema("../../../examples/quickstart/census.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, err := discreet.ReadTable(t.Context(), schema, "../../../examples/quickstart/census.csv")
	if err != nil {
		t.Fatal(err)
	}
	for param, o := range map[string]discreet.Options{
		"account": {Epsilon: 1},
		"epsilon": {Account: discreet.Uncounted},
		"delta":   {Epsilon: 1, Delta: 1, Account: discreet.Uncounted},
		"learner": {Epsilon: 1, Learner: "oracle", Account: discreet.Uncounted},
		"depth":   {Epsilon: 1, Params: map[string]string{"depth": "3"}, Account: discreet.Uncounted},
	} {
		_, err := discreet.Train(t.Context(), table, o)
		if p, ok := errors.AsType[*discreet.ParamError](err); !ok || p.Param != param {
			t.Errorf("%s: %v", param, err)
		}
	}
	if _, err := discreet.Train(t.Context(), table,
		discreet.Options{Epsilon: -1, Account: discreet.Uncounted}); err == nil {
		t.Error("a negative epsilon is taken")
	}
	if _, err := discreet.Train(t.Context(), table,
		discreet.Options{Epsilon: math.NaN(), Account: discreet.Uncounted}); err == nil {
		t.Error("a NaN epsilon is taken")
	}
}
