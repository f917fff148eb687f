// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"bytes"
	"encoding/xml"
	"flag"
	"io"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

var update = flag.Bool("update", false, "rewrite the expected page in testdata")

const fixture = `
name: patients
unit: one hospital admission
relation: replace-one
file: {delimiter: ",", quote: '"', header: true, trim: false, missing: [""]}
columns:
  - {name: "age <b>", role: private, number: {lower: 0, upper: 100, default: 50}}
  - {name: bill, role: private, number: {lower: 0, upper: 1000000, transform: log1p, default: 10}}
  - {name: ward, role: public, category: {levels: ["general & other", "intensive", ` +
	`"a ward with a name that is too long to draw"]}}
  - {name: died, role: public, label: {levels: ["no", "yes"], positive: "yes"}}
`

func summed(t *testing.T) *model.Model {
	t.Helper()
	s, err := schema.Parse([]byte(fixture))
	if err != nil {
		t.Fatal(err)
	}
	return &model.Model{Learner: "additive", Schema: s,
		Privacy: model.Privacy{
			Scope: dp.PrivateFeatures, Relation: dp.ReplaceOne, Unit: "one hospital admission", Epsilon: 500_000_000,
			Bill:      []dp.Event{{Mechanism: "laplace", Epsilon: 500_000_000}},
			Statement: "The chance of this exact model changes by at most a factor e^0.5", Claim: "additive: G-ADDITIVE-1",
		},
		Classifier: &model.Additive{Intercept: -0.75, Shapes: []model.Shape{
			{Column: "age <b>", Edges: []float64{18, 65}, LogOdds: []float64{-1, 0.25, 1.0 / 3}, Noise: []float64{0.3, 0.1, 4}},
			{Column: "bill", Edges: []float64{10, 11, 1e5}, LogOdds: []float64{0, 0.125, -2, 0},
				Noise: []float64{0.1, 0.2, 0.3, 0.4}},
			{Column: "ward", LogOdds: []float64{0.1, 0.2, -0.3, 0}, Noise: make([]float64, 4)},
		}}}
}

func linear(t *testing.T) *model.Model {
	m := summed(t)
	m.Learner, m.Classifier = "erm", nil
	m.Spaces = []model.SpaceSpec{{Encoding: feature.OneHot, Columns: []string{"age <b>", "bill", "ward"}}}
	m.Classifier = &model.Logistic{Coef: []float64{1, -1, 0.5, 0, 0.25, -0.125}, Bias: 0.5}
	return m
}

func voted(t *testing.T) *model.Model {
	m := linear(t)
	m.Learner, m.Classifier = "brc", nil
	m.Classifier = &model.Votes{Members: []model.Member{{Vote: 1, Threshold: feature.Threshold{Coef: make([]float64, 6)}}}}
	return m
}

func written(t *testing.T, m *model.Model) string {
	t.Helper()
	e, err := Of(m)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := e.WriteHTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGoldenPage(t *testing.T) {
	const path = "testdata/page.html"
	got := written(t, summed(t))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("the page changed; look at it, then run go test ./explain -update")
	}
}

// Pages are well-formed and ask no one for anything; names are text.
func TestPagesAskNobody(t *testing.T) {
	for _, m := range []*model.Model{summed(t), paired(t), linear(t), leveled(t)} {
		text := written(t, m)
		for _, bad := range []string{"http:", "https:", "//", "url(", "@import", "<script", "<link", "<img", "<b>age",
			"age <b>", "NaN", "Inf", "ZgotmplZ"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: the page must not hold %q", m.Learner, bad)
			}
		}
		text = regexp.MustCompile(`<meta [^>]*>`).ReplaceAllString(text, "") // HTML does not close it
		d := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "<!DOCTYPE html>")))
		for {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", m.Learner, err)
			}
		}
	}
}

func TestImportanceAndOrder(t *testing.T) {
	e, err := Of(summed(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []Shape{
		{Origin: Origin{Column: "bill", Protected: true}, Importance: (2*0.46875 + 0.59375 + 1.53125) / 4},
		{Origin: Origin{Column: "age <b>", Protected: true}, Importance: (31.0/36 + 14.0/36 + 17.0/36) / 3},
		{Origin: Origin{Column: "ward"}, Importance: 0.15},
	}
	for i, w := range want {
		got := e.Shapes[i]
		if got.Column != w.Column || math.Abs(got.Importance-w.Importance) > 1e-12 || got.Protected != w.Protected {
			t.Errorf("place %d: got %s %g %v, want %s %g %v", i, got.Column, got.Importance, got.Protected, w.Column,
				w.Importance, w.Protected)
		}
	}
	age := e.Shapes[1].Bins
	if *age[0].From != 0 || *age[0].To != 18 || *age[2].From != 65 || *age[2].To != 100 || age[2].Deviation != 4 {
		t.Errorf("bins of age: %+v", age)
	}
	if ward := e.Shapes[2].Bins; ward[0].Level != "general & other" || ward[3].Level != "(other)" {
		t.Errorf("levels of ward: %+v", ward)
	}
}

// A step stands where the axis says: closed form on a small scale.
func TestStepsStandWhereTheAxisSays(t *testing.T) {
	e, err := Of(summed(t))
	if err != nil {
		t.Fatal(err)
	}
	s := scaleOf(e.Shapes)
	if s.low > -2 || s.high < 1.0/3 {
		t.Fatalf("scale %+v must hold every step", s)
	}
	d := drawShape(&e.Shapes[1], &e.columns[1], s) // age
	if d.EqualWidths {
		t.Error("bins of 18, 47 and 35 years are all wide enough")
	}
	y := func(z float64) float64 { return d.Bottom - (z-s.low)/(s.high-s.low)*(d.Bottom-d.Top) }
	x := func(v float64) float64 { return d.Left + v/100*(d.Right-d.Left) }
	want := "M" + strings.Join([]string{
		pointText(x(0), y(-1)), pointText(x(18), y(-1)), pointText(x(18), y(0.25)), pointText(x(65), y(0.25)),
		pointText(x(65), y(1.0/3)), pointText(x(100), y(1.0/3)),
	}, "L")
	if d.Line != want {
		t.Errorf("got %s, want %s", d.Line, want)
	}
	if d := drawShape(&e.Shapes[0], &e.columns[0], s); !d.EqualWidths || d.Log1p { // bill: 10 to 11 is a sliver
		t.Error("a bin too narrow to see must make all equally wide")
	}
}

// What columns add and the intercept make the logit of the score.
func TestContributionsAddUp(t *testing.T) {
	m := summed(t)
	cols := []column.Column{
		{Codes: column.Narrow([]uint32{0, 1, 2, 3, 0}, 4), Values: []float64{0, 18, 64.9, 100}},
		{Codes: column.Narrow([]uint32{0, 1, 2, 0, 1}, 3), Values: []float64{10.5, 3, 1e6}},
		{Codes: column.Narrow([]uint32{0, 1, 2, 3, 3}, 4)},
	}
	scores, err := m.Scores(cols, 5)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := Contributions(m, cols)
	if err != nil || len(parts) != 3 {
		t.Fatal(len(parts), err)
	}
	for i, p := range scores {
		z := m.Classifier.(*model.Additive).Intercept
		for k := range parts {
			z += parts[k].At(i, 0)
		}
		if want := math.Log(p / (1 - p)); math.Abs(z-want) > 1e-6 {
			t.Errorf("row %d: parts add up to %g, the score's logit is %g", i, z, want)
		}
	}
	if got := parts[0].At(1, 0); got != 0.25 { // 18 lies in the second bin
		t.Errorf("age 18 adds %g, want 0.25", got)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Of(voted(t)); err == nil ||
		!strings.Contains(err.Error(), "model must be additive, grids, logistic or linear") ||
		!strings.Contains(err.Error(), "a vote of classifiers by brc") {
		t.Errorf("a vote: %v", err)
	}
	if _, err := Contributions(linear(t), nil); err == nil || !strings.Contains(err.Error(), "model must be additive (") {
		t.Errorf("parts of a logistic model: %v", err)
	}
	short := linear(t)
	short.Classifier.(*model.Logistic).Norm = 1.5
	if _, err := Of(short); err == nil || !strings.Contains(err.Error(), "must not shorten rows") {
		t.Errorf("a model that shortens rows: %v", err)
	}
	m := summed(t)
	m.Classifier.(*model.Additive).Shapes[0].LogOdds = nil
	if _, err := Of(m); err == nil || !strings.Contains(err.Error(), "one per bin") {
		t.Errorf("an inconsistent model: %v", err)
	}
}

func TestLogisticPage(t *testing.T) {
	text := written(t, linear(t))
	for _, want := range []string{"ward=intensive", "−1.000", "does not say how far noise moved a coefficient"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page must hold %q", want)
		}
	}
}

// leveled is a linear model of three levels.
func leveled(t *testing.T) *model.Model {
	m := linear(t)
	m.Classifier = nil
	m.Schema.Label.Levels = append(m.Schema.Label.Levels, schema.Level{Value: "sent <home>"})
	m.Schema.Label.Positive = -1
	m.Classifier = &model.Linear{Link: model.OneVersusRest, Bias: []float64{0.5, -0.25, 0},
		Coef: [][]float64{{1, -1, 0.5, 0, 0.25, -0.125}, {0, 0, 0, 2, 0, 0}, {3, 0, 0, 0, 0, -3}}}
	return m
}

func TestPageOfLevels(t *testing.T) {
	m := leveled(t)
	text := written(t, m)
	for _, want := range []string{
		"against all others are its intercept", "<th scope=\"col\" class=\"n\">sent &lt;home&gt;</th>",
		"<th scope=\"row\">(intercept)</th><td class=\"n\">&#43;0.500</td><td class=\"n\">−0.250</td><td " +
			"class=\"n\">0.000</td>",
		"<th scope=\"row\">ward=intensive</th><td class=\"n\">0.000</td><td class=\"n\">&#43;2.000</td><td " +
			"class=\"n\">0.000</td>",
		"over the sum of these of all classes",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page must hold %q", want)
		}
	}
	if strings.Contains(text, "Where every row starts") {
		t.Error("three levels have no single start")
	}
	m.Classifier.(*model.Linear).Link = model.Softmax
	if text := written(t, m); !strings.Contains(text, "in proportion to e to the power of its intercept") {
		t.Error("the page of a softmax must say what its numbers are")
	}
	if _, err := Contributions(m, nil); err == nil || !strings.Contains(err.Error(), "a linear model per class by erm") {
		t.Errorf("parts of a linear model: %v", err)
	}
}

// Every column flat at zero is drawn too.
func TestFlatModel(t *testing.T) {
	m := summed(t)
	for k := range m.Classifier.(*model.Additive).Shapes {
		clear(m.Classifier.(*model.Additive).Shapes[k].LogOdds)
		clear(m.Classifier.(*model.Additive).Shapes[k].Noise)
	}
	if text := written(t, m); strings.Contains(text, "NaN") || strings.Contains(text, `class="band"`) {
		t.Error("a flat model must be drawn without bands")
	}
}

// By hand: the squares of the deviations add up, and half the interval is 1.96
// of the root in log-odds.
func TestIntervalsByHand(t *testing.T) {
	m := summed(t)
	cols := []column.Column{
		{Codes: column.Narrow([]uint32{0, 1, 2}, 3), Values: []float64{0, 18, 100}},
		{Codes: column.Narrow([]uint32{1, 0, 0}, 2), Values: []float64{5, 10.5}},
		{Codes: column.Narrow([]uint32{2, 0, 3}, 4)},
	}
	iv, err := NewIntervals(m, cols)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ z, sd float64 }{
		{-0.75 - 1 + 0.125 - 0.3, math.Hypot(0.3, 0.2)},
		{-0.75 + 0.25 + 0 + 0.1, math.Hypot(0.1, 0.1)},
		{-0.75 + 1.0/3 + 0 + 0, math.Hypot(4, 0.1)},
	} {
		low, high := iv.At(i)
		z, half := (logit(low)+logit(high))/2, (logit(high)-logit(low))/2
		if math.Abs(z-want.z) > 1e-6 || math.Abs(half-1.959964*want.sd) > 1e-6 {
			t.Errorf("row %d: %g ± %g, want %g ± %g", i, z, half, want.z, 1.959964*want.sd)
		}
	}
	if _, err := NewIntervals(voted(t), cols); err == nil {
		t.Error("a vote has no intervals")
	}
}

// Where a model states what noise alone does, intervals are of that: shapes that state it, the
// intercept, and the stretch of what those shapes add up to. Others count as exact.
func TestIntervalsOfNoiseAloneByHand(t *testing.T) {
	m := summed(t)
	a := m.Classifier.(*model.Additive)
	a.Moved = &model.Moved{Intercept: 0.2, Slope: 0.5, Middle: -0.25}
	a.Shapes[0].Moved, a.Shapes[2].Moved = []float64{0.1, 0.2, 0.3}, []float64{0.4, 0, 0, 0.05}
	iv, err := NewIntervals(m, []column.Column{
		{Codes: column.Narrow([]uint32{0, 2}, 3), Values: []float64{0, 18, 100}},
		{Codes: column.Narrow([]uint32{1, 0}, 2), Values: []float64{5, 10.5}},
		{Codes: column.Narrow([]uint32{0, 3}, 4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ z, variance float64 }{
		{-0.75 - 1 + 0.125 + 0.1, 0.04 + 0.01 + 0.16 + 0.25*0.65*0.65},
		{-0.75 + 1.0/3 + 0 + 0, 0.04 + 0.09 + 0.0025 + 0.25*(1.0/3+0.25)*(1.0/3+0.25)},
	} {
		low, high := iv.At(i)
		z, half := (logit(low)+logit(high))/2, (logit(high)-logit(low))/2
		if sd := math.Sqrt(want.variance); math.Abs(z-want.z) > 1e-5 || math.Abs(half-1.959964*sd) > 1e-5 {
			t.Errorf("row %d: %g ± %g, want %g ± %g", i, z, half, want.z, 1.959964*sd)
		}
	}
}

func logit(p float64) float64 { return math.Log(p / (1 - p)) }
