// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"testing"
)

// exported are the functions of the package, and a value of each of its types.
var (
	exportedFuncs = map[string]any{
		"LoadSchema": LoadSchema, "ParseSchema": ParseSchema, "NumberColumn": NumberColumn, "IntegerColumn": IntegerColumn,
		"CategoryColumn": CategoryColumn, "DateColumn": DateColumn, "IgnoredColumn": IgnoredColumn, "NewSchema": NewSchema, "ReadTable": ReadTable, "ReadTableFrom": ReadTableFrom,
		"TableOf": TableOf[struct{}], "TableOfRows": TableOfRows, "TableFromSQL": TableFromSQL, "Learners": Learners,
		"Train": Train, "OpenLedger": OpenLedger, "LoadModel": LoadModel, "Text": Text, "Number": Number,
	}
	exportedTypes = map[string]any{
		"Schema": Schema{}, "Role": Role(""), "Relation": Relation(""), "TableSpec": TableSpec{}, "Column": Column{}, "Person": Person{},
		"Label": Label{}, "Table": Table{}, "Options": Options{}, "Price": Price{}, "Release": Release{}, "Fact": Fact{},
		"Plan": Plan{}, "Account": Uncounted, "AccountFunc": AccountFunc(nil), "ParamError": ParamError{},
		"FaultError": FaultError{}, "Ledger": Ledger{}, "Balance": Balance{}, "Model": Model{}, "Predictions": Predictions{},
		"Report": Report{}, "EvaluationOptions": EvaluationOptions{}, "Estimate": Estimate{}, "PrivateReport": PrivateReport{},
		"Statement": Statement{}, "Explanation": Explanation{}, "Cell": Cell{}, "Predictor": Predictor{},
	}
)

// TestZeroArguments: no exported function or method panics with zero arguments, as a program has
// them that forgot an error, nor on a zero value or a nil pointer.
func TestZeroArguments(t *testing.T) {
	for _, d := range declarations(t) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() && exportedFuncs[d.Name.Name] == nil {
				t.Errorf("%s is not tried", d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok && s.Name.IsExported() && exportedTypes[s.Name.Name] == nil {
					t.Errorf("type %s is not tried", s.Name)
				}
			}
		}
	}
	t.Chdir(t.TempDir())
	for name, f := range exportedFuncs {
		callWithZeros(t, name, reflect.ValueOf(f))
	}
	for name, zero := range exportedTypes {
		typ := reflect.TypeOf(zero)
		ways := map[string]reflect.Value{"zero": reflect.New(typ), "nil": reflect.Zero(reflect.PointerTo(typ))}
		for way, receiver := range ways {
			if _, failure := receiver.Interface().(error); failure && way == "nil" {
				continue // an error that is nil is none
			}
			for i := range receiver.NumMethod() {
				if way == "nil" {
					if _, byValue := typ.MethodByName(receiver.Type().Method(i).Name); byValue {
						continue // the language itself has no value to call it on
					}
				}
				callWithZeros(t, fmt.Sprintf("%s.%s (%s)", name, receiver.Type().Method(i).Name, way), receiver.Method(i))
			}
		}
	}
	// What is no zero value may be handed what is.
	s, err := ParseSchema([]byte(goodSchema))
	if err != nil {
		t.Fatal(err)
	}
	receiver := reflect.ValueOf(s)
	for i := range receiver.NumMethod() {
		callWithZeros(t, "good schema's "+receiver.Type().Method(i).Name, receiver.Method(i))
	}
	for name, f := range exportedFuncs {
		callWithZeros(t, name+" of a good schema", reflect.ValueOf(f), s)
	}
}

// declarations are those of the package.
func declarations(t *testing.T) (all []ast.Decl) {
	for _, name := range []string{"discreet.go", "errors.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, file.Decls...)
	}
	return all
}

const goodSchema = `{name: t, unit: one visit, relation: replace-one,
file: {delimiter: ",", quote: "", header: true}, columns: [
{name: x, role: private, number: {lower: 0, upper: 1, default: 0}},
{name: y, role: public, label: {levels: ["no", "yes"], positive: "yes"}}]}`

// callWithZeros calls f with the given arguments in the places of their types and zeros elsewhere.
func callWithZeros(t *testing.T, name string, f reflect.Value, given ...any) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			t.Errorf("%s panics: %v", name, fault)
		}
	}()
	var args []reflect.Value
	for i := range f.Type().NumIn() {
		in := f.Type().In(i)
		if f.Type().IsVariadic() && i == f.Type().NumIn()-1 {
			for _, g := range given {
				if reflect.TypeOf(g) == in.Elem() {
					args = append(args, reflect.ValueOf(g))
				}
			}
			break
		}
		arg := reflect.Zero(in)
		for _, g := range given {
			if reflect.TypeOf(g) == in {
				arg = reflect.ValueOf(g)
			}
		}
		args = append(args, arg)
	}
	f.Call(args)
}

// TestNoContext: a program that hands over no context where all else is real has an error or a
// result, and no panic.
func TestNoContext(t *testing.T) {
	t.Chdir(t.TempDir())
	const text = "x,y\n0.5,yes\n0.25,no\n"
	if err := os.WriteFile("t.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := ParseSchema([]byte(goodSchema))
	if err != nil {
		t.Fatal(err)
	}
	table, err := ReadTable(t.Context(), s, "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	l, err := OpenLedger(t.Context(), "l.db")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Declare(t.Context(), "d", Price{Epsilon: 3}); err != nil {
		t.Fatal(err)
	}
	for _, account := range []Account{Uncounted, l.Job("d", "one"), AccountFunc(func(context.Context, Price, []Release) error { return nil })} {
		given := []any{s, table, Options{Epsilon: 1, Account: account}, "t.csv"}
		for name, f := range exportedFuncs {
			callWithZeros(t, name+" without a context", reflect.ValueOf(f), given...)
		}
		for _, real := range []any{s, table, l} {
			receiver := reflect.ValueOf(real)
			for i := range receiver.NumMethod() {
				if name := receiver.Type().Method(i).Name; name != "Close" {
					callWithZeros(t, fmt.Sprintf("%T.%s without a context", real, name), receiver.Method(i), given...)
				}
			}
		}
	}
}
