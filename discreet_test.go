// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// speaksOfCommands matches what means nothing to a Go program.
var speaksOfCommands = regexp.MustCompile(`--[a-zA-Z]|\bdiscreet(-net|-lab)? (budget|schema|train|plan|show|` +
	`predict|explain|evaluate|export|card|split|release|audit|site|party)\b|not-private`)

// TestErrorsAreTyped causes each kind of failure. A program can branch on it, and its words name no
// flag and no command.
func TestErrorsAreTyped(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	census := "examples/quickstart/census"
	s, err := LoadSchema(census + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, err := ReadTable(ctx, s, census+".csv")
	if err != nil {
		t.Fatal(err)
	}
	ledger, err := OpenLedger(ctx, filepath.Join(dir, "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Close()
	if err := ledger.Declare(ctx, "census", Price{Epsilon: 1}); err != nil {
		t.Fatal(err)
	}
	train := func(dataset, id string, o Options) (*Model, error) {
		o.Account = ledger.Job(dataset, id)
		return Train(ctx, table, o)
	}
	m, err := train("census", "monday", Options{Epsilon: 0.4, Learner: "additive"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	other, err := ParseSchema([]byte(goodSchema))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := TableOfRows(other, slices.Values([][]string{{"0.5", "yes"}, {"0.1", "no"}}))
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	param, fault := any(new(*ParamError)), any(new(*FaultError))
	for what, c := range map[string]struct {
		run  func() error
		want any // a sentinel, or a pointer to a type of errors
	}{
		"no schema file":          {func() error { _, err := LoadSchema(dir + "/none"); return err }, fs.ErrNotExist},
		"a schema that is none":   {func() error { _, err := LoadSchema(write("tab.yaml", "\tname: x")); return err }, param},
		"a schema without a unit": {func() error { _, err := ParseSchema([]byte("name: x")); return err }, param},
		"an empty schema":         {func() error { _, err := ParseSchema(nil); return err }, param},
		"Latin-1":                 {func() error { _, err := ParseSchema([]byte("name: \xfc")); return err }, param},
		"no table":                {func() error { _, err := ReadTable(ctx, s, dir+"/none"); return err }, fs.ErrNotExist},
		"a workbook":              {func() error { _, err := ReadTable(ctx, s, write("t.xlsx", "PK")); return err }, fault},
		"another header":          {func() error { _, err := ReadTable(ctx, s, write("t.csv", "Age,b\n1,2\n")); return err }, fault},
		"an interrupt":            {func() error { _, err := ReadTable(stopped, s, census+".csv"); return err }, context.Canceled},
		"a struct":                {func() error { _, err := TableOf(s, []struct{ X complex64 }{{}}); return err }, param},
		"ragged rows":             {func() error { _, err := TableOfRows(s, slices.Values([][]string{{"1"}})); return err }, fault},
		"no epsilon":              {func() error { _, err := s.Plan(Options{}); return err }, param},
		"a strange learner":       {func() error { _, err := s.Plan(Options{Epsilon: 1, Learner: "x"}); return err }, param},
		"a strange choice":        {func() error { _, err := s.Plan(Options{Epsilon: 1, Params: map[string]string{"x": "1"}}); return err }, param},
		"no number": {func() error {
			_, err := s.Plan(Options{Epsilon: 1, Learner: "additive", Params: map[string]string{"bins": "x"}})
			return err
		}, param},
		"infinite epsilon": {func() error {
			_, err := Train(ctx, table, Options{NotPrivate: true, Epsilon: 1, Account: Uncounted})
			return err
		}, param},
		"infinite without a word": {func() error { _, err := s.Plan(Options{Epsilon: math.Inf(1)}); return err }, param},
		"private columns":         {func() error { _, err := s.Plan(Options{Learner: "logistic"}); return err }, param},
		"no account":              {func() error { _, err := Train(ctx, table, Options{Epsilon: 1}); return err }, param},
		"too much":                {func() error { _, err := train("census", "tuesday", Options{Epsilon: 0.7}); return err }, ErrBudget},
		"another training":        {func() error { _, err := train("census", "monday", Options{Epsilon: 0.3}); return err }, ErrJob},
		"a strange id":            {func() error { _, err := train("census", "a b", Options{Epsilon: 0.3}); return err }, param},
		"an unknown table":        {func() error { _, err := train("none", "monday", Options{Epsilon: 0.3}); return err }, ErrNoDataset},
		"to show it":              {func() error { _, err := ledger.Show(ctx, "none"); return err }, ErrNoDataset},
		"a second declaring":      {func() error { return ledger.Declare(ctx, "census", Price{Epsilon: 2}) }, ErrDatasetExists},
		"a total below 0":         {func() error { return ledger.Declare(ctx, "x", Price{Epsilon: -2}) }, param},
		"a strange name":          {func() error { return ledger.Declare(ctx, "a b", Price{Epsilon: 2}) }, param},
		"no ledger":               {func() error { _, err := OpenLedger(ctx, write("text", strings.Repeat("text", 1000))); return err }, ErrLedger},
		"no folder":               {func() error { _, err := OpenLedger(ctx, dir+"/none/l.db"); return err }, fs.ErrNotExist},
		"no model file":           {func() error { _, err := LoadModel(dir + "/none"); return err }, fs.ErrNotExist},
		"a schema as model":       {func() error { _, err := LoadModel(census + ".yaml"); return err }, ErrModel},
		"bytes as a model":        {func() error { return new(Model).UnmarshalBinary([]byte("{}")) }, ErrModel},
		"a model over a ledger":   {func() error { return m.Save(filepath.Join(dir, "l.db")) }, ErrNotReplaced},
		"other columns":           {func() error { _, err := m.PredictTable(foreign); return err }, ErrColumns},
		"to evaluate them":        {func() error { _, err := m.Evaluate(foreign); return err }, ErrColumns},
		"a strange format":        {func() error { return m.Export(new(bytes.Buffer), "x") }, param},
		"a short row":             {func() error { _, _, err := p.Predict(nil); return err }, param},
		"a row of a map":          {func() error { _, _, err := p.PredictMap(map[string]any{"Age": 5}); return err }, param},
		"a row of a number":       {func() error { _, _, err := p.PredictStruct(5); return err }, param},
	} {
		err := c.run()
		var found bool
		switch want := c.want.(type) {
		case error:
			found = errors.Is(err, want)
		case **ParamError:
			found = errors.As(err, want)
			if found && speaksOfCommands.MatchString((*want).Error()) {
				t.Errorf("%s: %v", what, *want)
			}
			*want = nil
		case **FaultError:
			found = errors.As(err, want)
		}
		if err == nil || !found {
			t.Errorf("%s: %v (%T) is not %T", what, err, err, c.want)
		} else if speaksOfCommands.MatchString(err.Error()) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestErrorsArePublished: every exported function that fails does so by publish, but for those that
// predict a row, whose refusals are made here or name a column alone.
func TestErrorsArePublished(t *testing.T) {
	for _, d := range declarations(t) {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !f.Name.IsExported() || f.Type.Results == nil || f.Name.Name == "Charge" { // of a private type
			continue
		}
		last := f.Type.Results.List[len(f.Type.Results.List)-1].Type
		if name, ok := last.(*ast.Ident); !ok || name.Name != "error" {
			continue
		}
		if slices.Contains([]string{"Predict", "PredictMap", "PredictStruct", "Scores", "MarshalJSON"}, f.Name.Name) {
			continue
		}
		first, ok := f.Body.List[0].(*ast.DeferStmt)
		if ok {
			called, isName := first.Call.Fun.(*ast.Ident)
			ok = isName && called.Name == "publish"
		}
		if !ok {
			t.Errorf("%s does not begin with defer publish(&err)", f.Name)
		}
	}
}

// A table described in Go has what a schema file has.
func TestTableSpecSaysAll(t *testing.T) {
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	spec := TableSpec{
		Name: "visits", Unit: "one visit", Relation: ReplaceOne, Person: &Person{Column: "patient", Rows: 3},
		Columns: []Column{
			IgnoredColumn("patient"),
			IntegerColumn("drinks", Private, 0, 90, 2).WithMissing().WithSpecial(96, 98),
			CategoryColumn("ward", Private, "surgery", "medicine").WithMissing(),
			DateColumn("admitted", Private, day("2015-01-01"), day("2024-12-31"), day("2020-01-01")).WithFormat("DD.MM.YYYY"),
		},
		Label: Label{Name: "returned", Role: Private, Values: []string{"no", "yes"}, Positive: "yes", Absent: "no"},
	}
	s, err := NewSchema(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"person: {column: patient, rows: 3}", "special: [96, 98]", "{name: patient, role: ignored}", "format: DD.MM.YYYY",
		"category: {levels: [surgery, medicine], missing: true}", "lower: \"2015-01-01\", upper: \"2024-12-31\"", "integer: true",
	} {
		if !strings.Contains(s.String(), want) {
			t.Errorf("%q is not in\n%s", want, s)
		}
	}
	type visit struct {
		Patient  int       `discreet:"patient"`
		Drinks   *int      `discreet:"drinks"`
		Ward     string    `discreet:"ward"`
		Admitted time.Time `discreet:"admitted"`
		Returned string    `discreet:"returned"`
	}
	var visits []visit
	for i := range 300 {
		v := visit{Patient: i / 3, Ward: "surgery", Admitted: day("2016-03-01").AddDate(0, 0, i*9), Returned: "no"}
		if i%5 > 0 {
			v.Drinks = &i
		}
		if i > 150 {
			v.Ward, v.Returned = "medicine", "yes"
		}
		visits = append(visits, v)
	}
	table, err := TableOf(s, visits)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Train(t.Context(), table, Options{Epsilon: 100, Learner: "additive", Account: Uncounted})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.Statement().String(), "all rows of each person") {
		t.Errorf("persons are not protected:\n%s", m.Statement())
	}
	p, err := m.Predictor()
	if err != nil {
		t.Fatal(err)
	}
	all, err := m.PredictTable(table)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range visits {
		row := map[string]any{}
		for _, name := range p.Columns() {
			row[name] = map[string]any{"drinks": v.Drinks, "ward": v.Ward, "admitted": v.Admitted}[name]
		}
		class, score, err := p.PredictMap(row)
		again, score2, err2 := p.PredictStruct(&visits[i])
		if err != nil || err2 != nil || score != all.Scores[i] || score2 != score || class != all.Class[i] || again != class {
			t.Fatalf("row %d: %s %g %v, %s %g %v, table %s %g", i, class, score, err, again, score2, err2, all.Class[i], all.Scores[i])
		}
	}
	for _, spoil := range []func(*TableSpec){
		func(d *TableSpec) { d.Person = &Person{Column: "patient"} },
		func(d *TableSpec) { d.Person = &Person{Column: "ward", Rows: 1} },
		func(d *TableSpec) { d.Columns[0] = IgnoredColumn("patient").WithMissing() },
		func(d *TableSpec) { d.Columns[2] = CategoryColumn("ward", Private, "a", "b").WithSpecial(4) },
		func(d *TableSpec) {
			d.Columns[3] = DateColumn("admitted", Private, time.Time{}, day("2020-01-01"), time.Time{})
		},
	} {
		bad := spec
		bad.Columns = slices.Clone(spec.Columns)
		spoil(&bad)
		if _, err := NewSchema(bad); !is[*ParamError](err) {
			t.Errorf("%+v: %v", bad, err)
		}
	}
}

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

// TestNoContext: a program that hands over no context if all else is real has an error or a
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
func TestStepsAreGo(t *testing.T) {
	for kind := dp.NoStep + 1; kind < dp.StepKinds; kind++ {
		words := stepWords(dp.Step{Kind: kind, Name: "n1", Why: "0.5"})
		if words == "" || speaksOfCommands.MatchString(words) || strings.Contains(words, "{") {
			t.Errorf("kind %d has the words %q", kind, words)
		}
	}
	for name, want := range map[string]string{"rows": "give Options.Rows", "positives": `give Options.Params["positives"]`,
		"wait": "give wait"} {
		if got := stepWords(dp.Step{Kind: dp.GiveParam, Name: name}); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestPlanCountsMeasurements(t *testing.T) {
	for n, want := range map[int]string{1: "in total, 1 measurement\n", 2: "in total, 2 measurements\n"} {
		if got := (&Plan{Bill: make([]Release, n)}).String(); !strings.HasSuffix(got, want) {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// A table whose files nobody has checked is refused if that is asked, and told of if not; the record of the
// command lies beside the schema.
func TestRequireCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"t.csv": "x,y\n0.5,yes\n0.25,no\n", "t.yaml": goodSchema} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := LoadSchema("t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	table, err := ReadTable(t.Context(), s, "t.csv")
	if err != nil {
		t.Fatal(err)
	}
	train := func(require bool) (string, error) {
		said := ""
		_, err := Train(t.Context(), table, Options{Epsilon: 1, Account: Uncounted, RequireCheck: require,
			Progress: func(line string) { said += line + "\n" }})
		return said, err
	}
	if _, err := train(true); err == nil || !strings.Contains(err.Error(), "nobody has checked that this schema fits") {
		t.Errorf("unchecked, and %v", err)
	}
	if said, err := train(false); err != nil || !strings.HasPrefix(said, "nobody has checked") {
		t.Errorf("unchecked says %q, %v", said, err)
	}
	tables, err := dataset.NameTables(t.Context(), s.s, "t.csv")
	if err == nil {
		err = dataset.WriteRecord(dataset.RecordBeside("t.yaml"), time.Now(), tables)
	}
	if err != nil {
		t.Fatal(err)
	}
	if said, err := train(true); err != nil || strings.Contains(said, "nobody") {
		t.Errorf("checked says %q, %v", said, err)
	}
}
