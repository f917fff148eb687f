// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/train/forecast"
)

// call calls the engine as the page does.
func call(t *testing.T, name string, args any, file []byte) (map[string]any, error) {
	t.Helper()
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	var f *File
	if file != nil {
		f = &File{bytes.NewReader(file), int64(len(file))}
	}
	result, err := (&Engine{Program: "discreet test"}).Call(t.Context(), name, text, f, func(any) {})
	if err != nil {
		return nil, err
	}
	if text, err = json.Marshal(result); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out, nil
}

func mustCall(t *testing.T, name string, args any, file []byte) map[string]any {
	t.Helper()
	out, err := call(t, name, args, file)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return out
}

type args = map[string]any

// invented is a table of census and its schema.
func invented(t *testing.T, rows int) (yaml string, table []byte) {
	t.Helper()
	text, err := census.Schema().YAML()
	if err != nil {
		t.Fatal(err)
	}
	b := censustest.CSV(1, rows)
	return string(text), b
}

func TestFromNamesToAModel(t *testing.T) {
	yaml, table := invented(t, 2000)
	header := mustCall(t, "header", args{"name": "people.csv", "size": len(table)}, table[:200])
	drafted := mustCall(t, "draft", args{"names": header["names"], "label": census.Schema().Label.Name}, nil)["yaml"].(string)
	inspected := mustCall(t, "inspect", args{"yaml": drafted}, nil)
	if n := len(inspected["columns"].([]any)); n != len(header["names"].([]any)) || len(inspected["missing"].([]any)) < n {
		t.Errorf("a draft has %d columns: %v", n, inspected["missing"])
	}
	if whole := mustCall(t, "inspect", args{"yaml": yaml}, nil); len(whole["missing"].([]any))+len(whole["problems"].([]any)) > 0 {
		t.Errorf("a whole schema lacks %v %v", whole["missing"], whole["problems"])
	}
	choice := args{"yaml": yaml, "learner": "additive", "epsilon": "1", "delta": "0", "rows": 2000}
	plan := mustCall(t, "plan", choice, nil)
	if plan["epsilon"] != "1" || len(plan["bill"].([]any)) == 0 || len(plan["noise"].([]any)) == 0 {
		t.Errorf("plan: %v", plan)
	}
	odds := plan["odds"].(args)["odds"].([]any)[0].(args)
	if want := math.E / (1 + math.E); math.Abs(odds["to"].(float64)-want) > 1e-12 {
		t.Errorf("a half becomes %v, not %v", odds["to"], want)
	}
	choice["name"] = "people.csv"
	trained := mustCall(t, "train", choice, table)
	text := trained["model"].(string)
	m, err := model.Unmarshal([]byte(text))
	if err != nil || m.Privacy.Counted || m.Privacy.Seeded || m.Privacy.Epsilon != 1e9 {
		t.Fatalf("model: %v %+v", err, m)
	}
	choice["job"] = "monday"
	if m, err := model.Unmarshal([]byte(mustCall(t, "train", choice, table)["model"].(string))); err != nil || !m.Privacy.Counted {
		t.Errorf("a model that was charged must say so: %v", err)
	}
	explained := mustCall(t, "explain", args{"model": text}, nil)
	if len(explained["features"].([]any)) == 0 || !strings.Contains(explained["banner"].(string), "NOT COUNTED") {
		t.Errorf("explained: %v", explained["banner"])
	}
	scored := mustCall(t, "score", args{"model": text, "row": args{}}, nil)
	sum := explained["intercept"].(float64)
	for _, c := range scored["contributions"].([]any) {
		sum += c.(args)["points"].(float64)
	}
	if remarks := scored["remarks"].(args); remarks["age"] != "missing (read as the default 45)" {
		t.Errorf("of a row without cells: %v", remarks)
	}
	row := args{}
	for _, in := range explained["inputs"].([]any) {
		row[in.(args)["name"].(string)] = in.(args)["start"]
	}
	if row["age"] != "45" || row["sex"] != "female" || explained["label"] != "high_income" || explained["positive"] != "yes" {
		t.Errorf("an invented row begins with %v, for %v = %v", row, explained["label"], explained["positive"])
	}
	if remarks := mustCall(t, "score", args{"model": text, "row": row}, nil)["remarks"].(args); len(remarks) != 0 {
		t.Errorf("an invented row begins with cells that are not as declared: %v", remarks)
	}
	row["age"] = "forty"
	remarks := mustCall(t, "score", args{"model": text, "row": row}, nil)["remarks"].(args)
	if len(remarks) != 1 || remarks["age"] != "unreadable as a number (read as the default 45)" {
		t.Errorf("remarks %v", remarks)
	}
	if p := scored["probability"].(float64); math.Abs(math.Log(p/(1-p))-sum) > 1e-3 {
		t.Errorf("a score of %g is not the sum %g of its parts", p, sum)
	}
	exact := mustCall(t, "evaluate", args{"model": text, "name": "held.csv", "costs": "1:5"}, table)
	odd := bytes.Replace(table, []byte("\n"), []byte("\nforty"), 1)
	if cells := mustCall(t, "evaluate", args{"model": text, "name": "odd.csv"}, odd)["cells"].([]any); len(cells) != 2 ||
		!strings.HasPrefix(cells[1].(string), `column "age": 1 of`) {
		t.Errorf("cells %v", cells)
	}
	if exact["private"] != false || len(exact["roc"].([]any)) < 2 || math.Abs(exact["threshold"].(float64)-1.0/6) > 1e-9 {
		t.Errorf("exact: %v", exact)
	}
	private := mustCall(t, "evaluate", args{"model": text, "yaml": yaml, "name": "held.csv", "epsilon": "1", "delta": "0"}, table)
	if private["private"] != true || len(private["auc_interval"].([]any)) != 2 {
		t.Errorf("private: %v", private)
	}
	again := mustCall(t, "released", args{"released": private["released"]}, nil)
	if fmt.Sprint(again) != fmt.Sprint(private) {
		t.Errorf("what was released says something else: %v", again)
	}
	for what, r := range map[string]args{"exact": exact, "private": private} {
		if group := r["calibration"].([]any)[0].(args); group["score"] == nil || group["share"] == nil {
			t.Errorf("%s: a group of scores is %v", what, group)
		}
	}
	both := mustCall(t, "compare", args{"models": []string{text, text}, "name": "held.csv"}, table)
	if a, b := both["a"].(args)["auc"], both["b"].(args)["auc"]; a != b || a != exact["auc"] {
		t.Errorf("one model differs from itself: %v %v", a, b)
	}
	if card := mustCall(t, "card", args{"model": text, "about": args{"curator": "A & B"}}, nil)["html"].(string); !strings.Contains(card, "A &amp; B") {
		t.Error("the card does not say who is responsible")
	}
	if sql := mustCall(t, "export", args{"model": text, "format": "sql"}, nil); sql["Name"] != "model.sql" || sql["Bytes"] == "" {
		t.Error("an export is empty")
	}
}

func TestForecastRisesWithThePrice(t *testing.T) {
	yaml, _ := invented(t, 1)
	var told []forecast.Point
	text, err := json.Marshal(args{"yaml": yaml, "delta": "0", "rows": 3000, "positives": 0.3, "epsilons": []any{0.01, "3"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := new(Engine).Call(t.Context(), "forecast", text, nil, func(p any) { told = append(told, p.(forecast.Point)) }); err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || !(told[0].AUC < 0.81 && told[1].AUC > 0.82 && told[1].AUC < 0.88 && told[1].Low < told[1].AUC) {
		t.Errorf("forecast: %v", told)
	}
}

// No cell of a file is in what the page is shown before a charge, or in any error.
func TestNoCellIsShown(t *testing.T) {
	yaml, table := invented(t, 50)
	lines := strings.Split(strings.TrimSpace(string(table)), "\n")
	for i := range lines[1:] {
		lines[1+i] = strings.Repeat("CANARY"+fmt.Sprint(i)+",", strings.Count(lines[0], ",")) + "CANARY"
	}
	planted := []byte(strings.Join(lines, "\n"))
	show := func(what string, out any, err error) {
		t.Helper()
		if text := fmt.Sprint(out, err); strings.Contains(text, "CANARY") {
			t.Errorf("%s shows a cell: %.200s", what, text)
		}
	}
	header, err := call(t, "header", args{"name": "t.csv"}, planted)
	show("header", header, err)
	headless, err := call(t, "header", args{"name": "t.csv"}, []byte(strings.Join(lines[1:], "\n")))
	show("header of a table without one", headless, err)
	if err == nil {
		t.Error("rows are taken for a header")
	}
	for _, name := range []string{"t.csv", "t.csv.gz", "t.parquet", "t.xlsx", "sqlite:t?table=x"} {
		for _, data := range [][]byte{planted, []byte("CANARY"), []byte("CANARY\n\"CANARY"), append([]byte("PAR1"), "CANARYPAR1"...)} {
			out, err := call(t, "header", args{"name": name}, data)
			if name != "t.csv" {
				show("header of "+name, out, err)
			}
			out, err = call(t, "train", args{"yaml": yaml, "learner": "additive", "epsilon": "1", "delta": "0", "name": name}, data)
			if err != nil {
				show("train on "+name, out, err)
			}
		}
	}
	for name, text := range map[string]string{"inspect": string(planted), "plan": string(planted), "forecast": string(planted), "explain": string(planted)} {
		out, err := call(t, name, args{"yaml": text, "model": text, "epsilon": "1", "epsilons": []string{"1"}, "positives": 0.5}, nil)
		show(name+" of a table", out, err)
	}
	for _, broken := range []string{`{"row":{"a":"CANARY"},"model":1}`, `CANARY`, `{"yaml":["CANARY"]}`} {
		for _, name := range []string{"score", "train", "evaluate"} {
			_, err := new(Engine).Call(t.Context(), name, []byte(broken), &File{bytes.NewReader(planted), int64(len(planted))}, func(any) {})
			show(name, nil, err)
			if err == nil {
				t.Errorf("%s takes %s", name, broken)
			}
		}
	}
}

// A Parquet file's names are at its end, of which alone the page reads some.
func TestHeaderOfTheEndOfAFile(t *testing.T) {
	yaml, table := invented(t, 3000)
	_ = yaml
	dir := t.TempDir()
	in := filepath.Join(dir, "t.csv")
	if err := os.WriteFile(in, table, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := dataset.CopyRows(t.Context(), census.Schema(), dataset.Options{}, &out, dataset.Parquet, nil, nil, in); err != nil {
		t.Fatal(err)
	}
	whole := mustCall(t, "header", args{"name": "t.parquet"}, out.Bytes())
	end := out.Bytes()[out.Len()*2/3:]
	part := mustCall(t, "header", args{"name": "t.parquet", "size": out.Len()}, end)
	if fmt.Sprint(whole) != fmt.Sprint(part) || len(part["types"].(args)) == 0 {
		t.Errorf("of the whole file %v, of its end %v", whole, part)
	}
	trained := mustCall(t, "train", args{"yaml": yaml, "learner": "additive", "epsilon": "1", "delta": "0", "name": "t.parquet"}, out.Bytes())
	if len(trained["statement"].([]any)) == 0 {
		t.Error("a training on Parquet has no statement")
	}
}

func TestUnknownCallsAreRefused(t *testing.T) {
	for _, name := range []string{"", "read", "Train", "train"} {
		_, err := call(t, name, args{}, nil)
		if err == nil {
			t.Errorf("%q is answered", name)
			continue
		}
		if p := Describe(err); p.Parameter == "" || !strings.Contains(err.Error(), p.Message[1:]) {
			t.Errorf("%q: %+v", name, p)
		}
	}
}

// What the page says of a mistake has neither the operation in front, nor a flag, nor a command, and calls a
// choice as the page does.
func TestMistakesAreToldInThePagesWords(t *testing.T) {
	yaml, table := invented(t, 50)
	headless := table[bytes.IndexByte(table, '\n')+1:]
	limited := strings.Replace(yaml, "relation: replace-one", "relation: replace-one\nmax_epsilon: 0.5", 1)
	for name, c := range map[string]struct {
		call  string
		args  args
		file  []byte
		words string
	}{
		"no price":       {"plan", args{"yaml": yaml, "epsilon": "", "rows": 50}, nil, "ε is required"},
		"a price of 0":   {"plan", args{"yaml": yaml, "epsilon": "0", "rows": 50}, nil, "ε must be finite"},
		"an unknown one": {"plan", args{"yaml": yaml, "epsilon": "1", "learner": "forest"}, nil, "earner must be"},
		"no share":       {"forecast", args{"yaml": yaml, "epsilons": []string{"1"}, "rows": 50}, nil, "The share of positive rows must be"},
		"no names":       {"header", args{"name": "people.csv"}, headless, "tick “The first line is a row, not names”"},
		"too few":        {"draft", args{"names": []string{"age"}}, nil, "The columns must number 2 to"},
		"no number":      {"draft", args{"headless": true, "count": 1}, nil, "The columns must number 2 to"},
		"a short row":    {"train", args{"yaml": yaml, "epsilon": "1", "name": "t.csv"}, append(bytes.Clone(table), "1,2\n"...), "t.csv"},
		"too dear":       {"train", args{"yaml": limited, "epsilon": "1", "name": "t.csv"}, table, "exceeds the largest ε 0.5"},
		"no file":        {"train", args{"yaml": yaml, "epsilon": "1"}, nil, "Bytes must be given"},
		"no model":       {"explain", args{"model": "{}"}, nil, "odel"},
	} {
		_, err := call(t, c.call, c.args, c.file)
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		said := Describe(err).Message
		if !strings.Contains(said, c.words) || strings.Contains(said, "--") || strings.Contains(said, "discreet schema") || strings.Contains(said, "epsilon") ||
			strings.Contains(said, "init:") || strings.HasPrefix(said, "T.csv") {
			t.Errorf("%s: the page says %q", name, said)
		}
	}
	plan := mustCall(t, "plan", args{"yaml": limited, "epsilon": "1", "rows": 50}, nil)
	if said, _ := plan["refused"].(string); !strings.Contains(said, "0.5") || strings.Contains(said, "epsilon") {
		t.Errorf("a price that no training may have: %q", said)
	}
	if plan := mustCall(t, "plan", args{"yaml": limited, "epsilon": "0.5", "rows": 50}, nil); plan["refused"] != nil {
		t.Errorf("a price that is allowed: %v", plan["refused"])
	}
}

// Of a table whose first line is a row nothing is read: its columns are named, or counted, by the reader.
func TestTableWithoutNames(t *testing.T) {
	yaml, table := invented(t, 300)
	rows := table[bytes.IndexByte(table, '\n')+1:]
	counted := mustCall(t, "draft", args{"headless": true, "count": 15}, nil)["yaml"].(string)
	if seen := mustCall(t, "inspect", args{"yaml": counted}, nil); len(seen["columns"].([]any)) != 15 || seen["header"] != false {
		t.Errorf("a draft of 15 columns: %v", seen)
	}
	named := mustCall(t, "draft", args{"headless": true, "names": []string{"age", "ill"}}, nil)["yaml"].(string)
	if !strings.Contains(named, "header: false") || !strings.Contains(named, "name: ill") {
		t.Errorf("a draft of two names: %s", named)
	}
	edited := mustCall(t, "edit", args{"yaml": yaml, "changes": []args{{"column": "", "set": args{"header": false}}}}, nil)["yaml"].(string)
	if good := mustCall(t, "check", args{"yaml": edited, "name": "people.csv"}, rows); good["rows"] != 300.0 || good["faults"] != nil {
		t.Errorf("rows without names: %v", good)
	}
}

// The page states odds in a card's words, rounded up, and calls epsilon by the scale of all texts.
func TestOddsAreTheCards(t *testing.T) {
	yaml, _ := invented(t, 10)
	for eps, want := range map[string][]string{
		"1":  {"50 % becomes at most 73.2", "called strong", "strong up to epsilon = 1"},
		"5":  {"50 % becomes at most 99.4", "called moderate", "Ponomareva"},
		"11": {"50 % can become a near certainty", "called weak"},
	} {
		out := mustCall(t, "plan", args{"yaml": yaml, "epsilon": eps, "rows": 10000}, nil)
		odds, err := json.Marshal(out["odds"])
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(strings.ReplaceAll(string(odds), "\u00a0", " "), w) {
				t.Errorf("epsilon %s lacks %q: %s", eps, w, odds)
			}
		}
	}
}

// The step before the plan counts what a training would repair, and lists structural faults.
func TestCheckBeforeThePlan(t *testing.T) {
	yaml, table := invented(t, 300)
	good := mustCall(t, "check", args{"yaml": yaml, "name": "people.csv"}, table)
	if good["rows"].(float64) != 300 || len(good["misfits"].([]any)) != 0 || good["faults"] != nil {
		t.Errorf("a good table: %v", good)
	}
	wrong := strings.NewReplacer(`levels: ["no", "yes"]`, "levels: [dead, alive]", `positive: "yes"`, "positive: alive",
		`default: "no"`, "default: dead").Replace(yaml)
	if bad := mustCall(t, "check", args{"yaml": wrong, "name": "people.csv"}, table); fmt.Sprint(bad["misfits"]) != "[high_income]" {
		t.Errorf("labels of other values: %v\n%s", bad["misfits"], wrong)
	}
	if bad := mustCall(t, "check", args{"yaml": yaml, "name": "people.csv"}, append(table, "1,2\n"...)); len(bad["faults"].([]any)) != 1 {
		t.Errorf("a ragged row: %v", bad["faults"])
	}
}
