// SPDX-License-Identifier: Apache-2.0

package export

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const kit = "../../check/testkit/model/"

func loadKit(t testing.TB, name string) *model.Model {
	t.Helper()
	m, err := model.Load(kit + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// cases are a model of every kind: those whose files are kept, and sums of tables.
func cases(t testing.TB) map[string]*model.Model {
	out := map[string]*model.Model{}
	for _, name := range []string{"v1-votes", "v1-logistic", "v3-softmax", "v3-one-vs-rest", "v3-ballots", "v3-log-odds",
		"v3-norm", "v3-norm-levels", "v5-derived"} {
		out[name] = loadKit(t, name)
	}
	rare := *out["v1-logistic"]
	line := *rare.Classifier.(*model.Logistic)
	line.Threshold = 0.25
	rare.Classifier = &line
	out["threshold"] = &rare
	marked, middle := *out["v1-votes"], 40.0
	s := *marked.Schema
	s.Columns = slices.Clone(s.Columns)
	age := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Name == "age" })
	s.Columns[age].Special, s.Columns[age].Missing, s.Columns[age].Default = []float64{96, 98}, true, &middle
	d := &s.Dialect // of texts; inputs of numbers are numbers, of which one means a missing cell
	d.Decimal, d.Thousands, d.TrailingMinus, d.Encoding = ',', '.', true, "windows-1252"
	d.Missing = append(slices.Clone(d.Missing), "1.234,5-")
	marked.Schema = &s
	out["marked "] = &marked
	out["prefixed "] = withPrefixes(out["v1-votes"])
	for _, base := range []string{"v1-votes", "v3-softmax", "marked ", "prefixed "} {
		for name, c := range sumsOver(t, out[base]) {
			if base == "marked " || base == "prefixed " {
				name = base + name
			}
			m := *out[base]
			m.Learner, m.Spaces, m.Classifier = "additive", nil, c
			out[name] = &m
		}
	}
	return out
}

// datedCases are sums over a column of dates and its parts, with bounds that leap years and centuries divide.
func datedCases(t testing.TB) map[string]*model.Model {
	out := map[string]*model.Model{}
	for name, first := range map[string]int{"before 1970": -30000, "after": 9000, "long ago": -700000} {
		base, s := *loadKit(t, "v1-votes"), *loadKit(t, "v1-votes").Schema
		middle, at := 50.0, s.Find("age")
		s.Columns = slices.Clone(s.Columns)
		c := &s.Columns[at]
		c.Date, c.Since, c.Lower, c.Upper, c.Default = "DD.MM.YYYY", first, -100, 60000, &middle
		if name == "after" {
			c.Special, c.Missing = []float64{70000}, true
			s.Dialect.Missing = append(slices.Clone(s.Dialect.Missing), schema.FormatDate("YYYY-MM-DD", first+400))
		}
		for part, bounds := range map[schema.Derivation][2]float64{schema.Year: {
			schema.DatePart(schema.Year, first, -100), schema.DatePart(schema.Year, first, 60000)}, schema.Month: {1, 12}, schema.Weekday: {1, 7}} {
			s.Columns = append(s.Columns, schema.Column{Name: fmt.Sprint("part ", part), Role: c.Role, Kind: schema.Number,
				Derived: part, From: []int{at}, Lower: bounds[0], Upper: bounds[1], Integer: true})
		}
		base.Schema, base.Spaces, base.Learner = &s, nil, "additive"
		for kind, classifier := range sumsOver(t, &base) {
			m := base
			m.Classifier = classifier
			out["dates "+name+", "+kind] = &m
		}
	}
	return out
}

// withPrefixes is the model with prefixes for the first two levels of each category: one begins
// another, and one has signs that mean something in patterns and in queries.
func withPrefixes(m *model.Model) *model.Model {
	out, s := *m, *m.Schema
	s.Columns = slices.Clone(s.Columns)
	for j := range s.Columns {
		if c := &s.Columns[j]; c.Kind == schema.Category {
			c.Levels = slices.Clone(c.Levels)
			c.Levels[0].Prefixes = []string{"25", "a.b('"}
			c.Levels[1].Prefixes = []string{"250", "é%"}
		}
	}
	out.Schema = &s
	return &out
}

// sumsOver are sums of tables over all columns of a model's schema.
func sumsOver(t testing.TB, m *model.Model) map[string]model.Classifier {
	r := rand.New(rand.NewPCG(7, 8))
	edges := func(c *schema.Column) (edges []float64, bins int) {
		if c.Kind == schema.Category {
			return nil, c.Codes()
		}
		if c.IsDatePart() { // each value has a bin
			for x := c.Lower + 0.5; x < c.Upper; x++ {
				edges = append(edges, x)
			}
			return edges, len(edges) + 1
		}
		return []float64{c.Lower + (c.Upper-c.Lower)/4, (c.Lower + c.Upper) / 2}, 3 + c.Marks()
	}
	draw := func(n int) (x, noise []float64) {
		for range n {
			x = append(x, r.NormFloat64())
		}
		return x, make([]float64, n)
	}
	classes := m.Schema.Classes()
	additive, multi := &model.Additive{Intercept: 0.3}, &model.MulticlassAdditive{Intercepts: make([]float64, classes)}
	grids := &model.Grids{Intercepts: make([]float64, max(1, classes-2+1))}
	if classes == 2 {
		grids.Intercepts = []float64{-0.4}
	} else {
		grids.Intercepts, _ = draw(classes)
	}
	cells, grid := 1, model.Grid{}
	for j := range m.Schema.Columns {
		c := &m.Schema.Columns[j]
		if c.Role == schema.Ignored {
			continue
		}
		cut, bins := edges(c)
		sh := model.Shape{Column: c.Name, Edges: cut}
		sh.LogOdds, sh.Noise = draw(bins)
		additive.Shapes = append(additive.Shapes, sh)
		by := model.ClassShape{Column: c.Name, Edges: cut}
		for range classes {
			x, noise := draw(bins)
			by.LogShares, by.Noise = append(by.LogShares, x), append(by.Noise, noise)
		}
		multi.Shapes = append(multi.Shapes, by)
		at := model.GridAxis{Column: c.Name, Edges: cut[:min(2, len(cut))]}
		if c.Kind == schema.Category {
			for code := range c.Codes() {
				at.Parts = append(at.Parts, code%2)
			}
			bins = 2
		} else if c.IsDatePart() {
			bins = 3
		}
		grid.Axes, cells = append(grid.Axes, at), cells*bins
	}
	for range grids.Intercepts {
		x, _ := draw(cells)
		grid.Steps = append(grid.Steps, x)
	}
	grids.Grids = []model.Grid{grid}
	if classes > 2 {
		return map[string]model.Classifier{"multiclass": multi, "grids of classes": grids}
	}
	a, b := &additive.Shapes[0], &additive.Shapes[2]
	pair := model.PairShape{Columns: [2]string{b.Column, a.Column}, Edges: [2][]float64{b.Edges, a.Edges}}
	pair.LogOdds, pair.Noise = draw(len(b.LogOdds) * (len(a.Edges) + 1)) // marks have no bins in a pair
	additive.Pairs = []model.PairShape{pair}
	return map[string]model.Classifier{"additive": additive, "grids": grids}
}

// sample is rows of cells in the order of coder's names: ordinary ones, bounds and
// beyond, edges, missing and undeclared ones.
func sample(m *model.Model, rows int) (out [][]any) {
	r := rand.New(rand.NewPCG(3, 4))
	for range rows {
		var row []any
		for _, j := range m.Schema.Features() {
			c := &m.Schema.Columns[j]
			switch {
			case c.Derived != schema.InFile:
				continue
			case c.Date != "":
				x := float64(c.Since) + c.Lower + (c.Upper-c.Lower)*r.Float64()
				if r.IntN(3) == 0 {
					rare := append([]float64{c.Lower, c.Upper, math.NaN(), math.Inf(1), c.Upper + 1, c.Lower - 1, 400}, c.Special...)
					for _, day := range []string{"1900-02-28", "1900-03-01", "2000-02-29", "2100-02-28"} {
						days, _ := schema.ParseDate("YYYY-MM-DD", day)
						rare = append(rare, float64(days-c.Since))
					}
					x = float64(c.Since) + rare[r.IntN(len(rare))] + 0.75
				}
				row = append(row, x)
			case c.Kind == schema.Category:
				texts := []string{MissingText, "somebody", ""}
				for _, l := range c.Levels {
					texts = append(append(texts, l.Value, l.Value), l.Aliases...)
					for _, p := range l.Prefixes {
						texts = append(texts, p, p+"x\ny", "x"+p, p[:len(p)-1])
					}
				}
				row = append(row, append(texts, m.Schema.Dialect.Missing...)[r.IntN(len(texts))])
			case len(c.Special) > 0 && r.IntN(4) == 0:
				row = append(row, c.Special[r.IntN(len(c.Special))])
			case r.IntN(8) == 0:
				row = append(row, []float64{c.Lower, c.Upper, math.NaN(), math.Inf(1), c.Upper + 1, c.Lower - 1,
					(c.Lower + c.Upper) / 2, -1234.5}[r.IntN(8)])
			default:
				row = append(row, c.Lower+(c.Upper-c.Lower)*r.Float64())
			}
		}
		out = append(out, row)
	}
	return out
}

// scoreRow is what the model says of a row; ok is false if a cell cannot be held.
func scoreRow(t *testing.T, m *model.Model, row []any) (scores []float64, ok bool) {
	t.Helper()
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		t.Fatal(err)
	}
	p, err := m.RowPredictor()
	if err != nil {
		t.Fatal(err)
	}
	cells := make([]column.Cell, len(m.Schema.Columns))
	for i, v := range row {
		c := coding.Cell{}
		switch v := v.(type) {
		case float64:
			switch {
			case m.Schema.Columns[m.Schema.Find(coder.Names()[i])].Date == "":
				c = coding.NumberCell(v)
			case !math.IsNaN(v) && !math.IsInf(v, 0):
				c = coding.DayCell(int(math.Floor(v)))
			}
		case string:
			if v != MissingText {
				c = coding.TextCell(v)
			}
		}
		if _, err := coder.Code(i, c, cells); err != nil {
			return nil, false
		}
	}
	coder.Derive(cells)
	scores = make([]float64, m.Width())
	if err := p.Scores(cells, scores); err != nil {
		t.Fatal(err)
	}
	return scores, true
}

// The graph scores rows as the model does, whatever the kind of model and the cells.
func TestONNXAgrees(t *testing.T) {
	all := cases(t)
	maps.Copy(all, datedCases(t))
	for name, m := range all {
		file, err := ONNX(m)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rows := sample(m, 300)
		values := map[string]*tensor{}
		coder, err := coding.NewRowCoder(m.Schema)
		if err != nil {
			t.Fatal(err)
		}
		for i, column := range coder.Names() {
			in := &tensor{shape: []int{len(rows), 1}}
			for _, row := range rows {
				switch v := row[i].(type) {
				case float64:
					in.x = append(in.x, v)
				case string:
					in.s = append(in.s, v)
				}
			}
			values[column] = in
		}
		values = evaluateGraph(t, file, values)
		for r, row := range rows {
			want, ok := scoreRow(t, m, row)
			got := values["score"].x[r*m.Width():][:m.Width()]
			label := values["label"].s[r]
			if !ok {
				if label != "" || !math.IsNaN(got[0]) {
					t.Errorf("%s: row %d, which cannot be read, has the label %q and the score %g", name, r, label, got[0])
				}
				continue
			}
			if wanted := m.Schema.Label.Levels[m.Label(want)].Value; label != wanted {
				t.Errorf("%s: row %d has the label %q, want %q", name, r, label, wanted)
			}
			for k := range want {
				if !(math.Abs(got[k]-want[k]) <= 1e-12) {
					t.Errorf("%s: row %d has the score %.17g, want %.17g", name, r, got[k], want[k])
				}
			}
		}
		checkContributions(t, name, m, values, len(rows))
	}
}

// checkContributions wants what columns add and the intercept to make the score.
func checkContributions(t *testing.T, name string, m *model.Model, values map[string]*tensor, rows int) {
	a, ok := m.Classifier.(*model.Additive)
	if !ok {
		return
	}
	for r := range rows {
		z := roundToScore(a.Intercept)
		for _, sh := range a.Shapes {
			z += values[sh.Column+"_log_odds"].x[r]
		}
		for _, sh := range a.Pairs {
			z += values[schema.PairName(sh.Columns[0], sh.Columns[1])+"_log_odds"].x[r]
		}
		if score := values["score"].x[r]; !math.IsNaN(score) && math.Abs(score-1/(1+math.Exp(-z))) > 1e-12 {
			t.Errorf("%s: the columns of row %d add up to %g, and the score is %g", name, r, z, score)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	m := loadKit(t, "v1-votes")
	var bad *dp.ParamError
	for _, dated := range datedCases(t) {
		for _, format := range []string{"pmml", "sql"} {
			if err := Write(new(bytes.Buffer), dated, format); err == nil || !strings.Contains(err.Error(), `"age": dates have a form in onnx only`) {
				t.Errorf("dates as %s: %v", format, err)
			}
		}
	}
	if err := Write(new(bytes.Buffer), m, "pickle"); err == nil || !strings.Contains(err.Error(), "format") {
		t.Errorf("an unknown format: %v", err)
	} else if fmt.Sprintf("%T", err) != fmt.Sprintf("%T", bad) {
		t.Errorf("an unknown format: %T", err)
	}
}
