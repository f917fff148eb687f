// SPDX-License-Identifier: Apache-2.0

package export

import (
	"encoding/xml"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// element is one of a PMML document.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Of      []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// child is the first element of a name.
func (e *element) child(name string) *element {
	for i := range e.Of {
		if e.Of[i].XMLName.Local == name {
			return &e.Of[i]
		}
	}
	return nil
}

// Our PMML, evaluated by a reading of the standard's words, says what the model says. Another
// evaluator is asked by make peers PEERS=export.
func TestPMMLAgrees(t *testing.T) {
	for name, m := range cases(t) {
		file, err := PMML(m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		doc := new(element)
		if err := xml.Unmarshal(file, doc); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		coder, err := coding.NewRowCoder(m.Schema)
		if err != nil {
			t.Fatal(err)
		}
		for r, row := range sample(m, 100) {
			if slices.Contains(row, any("")) { // PMML need not tell it from a missing text
				continue
			}
			values := map[string]any{}
			for i, column := range coder.Names() {
				if x, number := row[i].(float64); row[i] != MissingText && !(number && math.IsNaN(x)) {
					values[column] = row[i]
				}
			}
			want, ok := scoreRow(t, m, row)
			label := ""
			if ok {
				label = m.Schema.Label.Levels[m.Label(want)].Value
			}
			checkPMML(t, fmt.Sprintf("%s: row %d", name, r), doc, values, want, label)
		}
	}
}

func checkPMML(t *testing.T, what string, doc *element, values map[string]any, want []float64, wanted string) {
	t.Helper()
	for _, f := range doc.child("TransformationDictionary").Of {
		name := f.attr("name")
		if _, twice := values[name]; twice {
			t.Fatalf("%s: %s is defined twice", what, name)
		}
		if v := evaluate(t, &f.Of[0], values); v != nil {
			values[name] = v
		}
	}
	scores, label := scorePMML(t, doc.child("RegressionModel"), values)
	if len(scores) != len(want) || label != wanted {
		t.Fatalf("%s has scores %v and label %q, want %v and %q", what, scores, label, want, wanted)
	}
	for k := range want {
		if !(math.Abs(scores[k]-want[k]) <= 1e-12) {
			t.Errorf("%s has the score %.17g, want %.17g", what, scores[k], want[k])
		}
	}
}

// scorePMML are the scores and the label of a regression model; none if a term is missing.
func scorePMML(t *testing.T, model *element, values map[string]any) (scores []float64, label string) {
	var sums []float64
	probability := map[string]float64{}
	var classes []string
	for _, table := range model.Of {
		if table.XMLName.Local != "RegressionTable" {
			continue
		}
		sum := parse(t, table.attr("intercept"))
		for _, p := range table.Of {
			x, ok := values[p.attr("name")].(float64)
			if !ok {
				return nil, ""
			}
			sum += parse(t, p.attr("coefficient")) * x
		}
		sums, classes = append(sums, sum), append(classes, table.attr("targetCategory"))
	}
	total := 0.0
	for _, z := range sums {
		total += math.Exp(z)
	}
	for k, z := range sums {
		switch model.attr("normalizationMethod") {
		case "softmax":
			probability[classes[k]] = math.Exp(z) / total
		case "logit":
			if probability[classes[k]] = 1 / (1 + math.Exp(-z)); k == 1 {
				probability[classes[1]] = 1 - probability[classes[0]]
			}
		default:
			probability[classes[k]] = z
		}
	}
	for _, o := range model.child("Output").Of {
		if o.attr("feature") == "probability" {
			scores = append(scores, probability[o.attr("value")])
			values[o.attr("name")] = probability[o.attr("value")]
			continue
		}
		label, _ = evaluate(t, &o.Of[0], values).(string)
	}
	return scores, label
}

func parse(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// evaluate is an expression's value: a number, a text, a truth value, or nil if it is missing.
func evaluate(t *testing.T, e *element, values map[string]any) any {
	switch e.XMLName.Local {
	case "FieldRef":
		return values[e.attr("field")]
	case "Constant":
		switch {
		case e.attr("missing") == "true":
			return nil
		case e.attr("dataType") == "string":
			return e.Text
		}
		return parse(t, e.Text)
	case "MapValues":
		return lookUp(t, e, values)
	case "Discretize":
		x, ok := values[e.attr("field")].(float64)
		for _, bin := range e.Of {
			i := &bin.Of[0]
			above := i.attr("leftMargin") == "" || x > parse(t, i.attr("leftMargin")) ||
				i.attr("closure") == "closedOpen" && x == parse(t, i.attr("leftMargin"))
			if ok && above && (i.attr("rightMargin") == "" || x < parse(t, i.attr("rightMargin"))) {
				return parse(t, bin.attr("binValue"))
			}
		}
		return nil
	}
	return call(t, e, values)
}

func lookUp(t *testing.T, e *element, values map[string]any) any {
	v, ok := values[e.child("FieldColumnPair").attr("field")]
	other := e.attr("mapMissingTo")
	if ok {
		text := fmt.Sprint(v)
		if other = e.attr("defaultValue"); e.child("InlineTable") != nil {
			for _, row := range e.child("InlineTable").Of {
				if row.child("from").Text == text {
					return parse(t, row.child("to").Text)
				}
			}
		}
	}
	if other == "" {
		return nil
	}
	return parse(t, other)
}

func call(t *testing.T, e *element, values map[string]any) any {
	function := e.attr("function")
	if function == "if" {
		then := 2
		if yes, _ := evaluate(t, &e.Of[0], values).(bool); yes {
			then = 1
		}
		return evaluate(t, &e.Of[then], values)
	}
	if function == "matches" {
		text, _ := evaluate(t, &e.Of[0], values).(string)
		return regexp.MustCompile(e.Of[1].Text).MatchString(text)
	}
	var of []float64
	for i := range e.Of {
		v := evaluate(t, &e.Of[i], values)
		if function == "isMissing" {
			return v == nil
		}
		if v == nil {
			return nil
		}
		of = append(of, v.(float64))
	}
	x, y := of[0], of[len(of)-1]
	switch function {
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	case "min", "max":
		for _, y := range of {
			if function == "min" {
				x = math.Min(x, y)
			} else {
				x = math.Max(x, y)
			}
		}
		return x
	case "equal":
		return x == y
	case "greaterThan":
		return x > y
	case "greaterOrEqual":
		return x >= y
	case "lessThan":
		return x < y
	case "sqrt":
		return math.Sqrt(x)
	case "abs":
		return math.Abs(x)
	case "exp":
		return math.Exp(x)
	case "ln1p":
		return math.Log1p(x)
	case "rint":
		return math.RoundToEven(x)
	}
	t.Fatalf("the function %q is not known to the test", function)
	return nil
}

// Text from a schema stays text.
func TestPMMLEscapes(t *testing.T) {
	m := loadKit(t, "v1-votes")
	s := *m.Schema
	s.Label.Name = `<a> & "b"`
	changed := *m
	changed.Schema = &s
	file, err := PMML(&changed)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(file), `name="&lt;a&gt; &amp; &#34;b&#34;"`) {
		t.Error("the label's name is not escaped")
	}
}
