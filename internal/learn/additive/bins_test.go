// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// counted is the release of counts of a fit, and the plan.
func counted(t *testing.T, name string, rows int) (*dataset.Table, *Plan, mechtest.Passage) {
	t.Helper()
	tab, plan := with(settings()[name], rows)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	tape := &mechtest.Recorder{Script: scripted(2)}
	learntest.Fit(t, pl, tab, tape, 1)
	i := slices.IndexFunc(tape.Passages, func(p mechtest.Passage) bool { return p.Label == countsLabel })
	if i < 0 {
		t.Fatal("no counts were released")
	}
	return tab, pl.(*Plan), tape.Passages[i]
}

// The release holds what a count of rows one by one holds: by column, runs of
// cells and cells.
func TestCountsEqualTheNaiveTwin(t *testing.T) {
	for _, name := range []string{"partly private, bins paid", "add-remove, bins paid", "gaussian, bins paid"} {
		tab, pl, p := counted(t, name, 700)
		var want []float64
		for i := range pl.counts.asking {
			a := &pl.counts.asking[i]
			c := &pl.schema.Columns[a.fine.Column]
			n := len(feature.Fine(c, fineCells)) + 1
			runs, cells := make([]float64, fineRuns), make([]float64, n)
			for row := range tab.Rows {
				b := bin(tab, &a.fine, row)
				cells[b]++
				runs[b*fineRuns/n]++
			}
			want = append(append(want, runs...), cells...)
		}
		var got []float64
		for _, v := range p.Values {
			got = append(got, v.Float())
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %d counts differ from the %d of the twin", name, len(got), len(want))
		}
	}
}

// Bins are those of the columns that are learned from, each once.
func TestEachColumnIsCutOnce(t *testing.T) {
	for _, name := range []string{"partly private", "everything private"} {
		tab, plan := with(settings()[name], 50)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, b := range pl.(*Plan).private {
			got = append(got, b.Column)
		}
		var want []int
		for _, j := range tab.Schema.Features() {
			if name != "partly private" || tab.Schema.Columns[j].Role == schema.Private {
				want = append(want, j)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: columns %v are cut, not %v", name, got, want)
		}
	}
}

// Who asks, by name: never a column of few whole numbers, never a declared group,
// and public columns only if the label is private.
func TestWhoIsCounted(t *testing.T) {
	for name, want := range map[string]string{
		"partly private, bins paid": "weekly_hours years_in_job capital_income",
		"private label, bins paid":  "age weekly_hours years_in_job",
		"everything, bins paid":     "age weekly_hours years_in_job",
	} {
		_, pl, p := counted(t, name, 50)
		var names []string
		for i := range pl.counts.asking {
			names = append(names, pl.schema.Columns[pl.counts.asking[i].fine.Column].Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%s: counts %s, want %s", name, got, want)
		}
		if want := float64(2 * 2 * len(names)); p.Bound != want { // two rows, each in a cell and a run of each column
			t.Errorf("%s: sized for a move of %g, want %g", name, p.Bound, want)
		}
	}
}

// A row that leaves one cell, run and level of every column for others moves the
// counts by all that the release is sized for, in both norms.
func TestCountsReachTheirBound(t *testing.T) {
	for _, name := range []string{"private label, bins paid", "add-remove, bins paid", "gaussian, bins paid"} {
		tab, plan := with(settings()[name], 40)
		other := tab.Subset(append([]int{1}, rowsFrom(1, tab.Rows)...)) // row 0 becomes row 1
		if tab.Schema.Relation == dp.AddRemove {
			other = learntest.WithoutRow(tab, 0)
		} else {
			for j := range tab.Cols { // which has the last code of every column
				last := uint32(len(tab.Cols[j].Values) - 1)
				if tab.Cols[j].Values == nil {
					last = uint32(tab.Schema.Columns[j].Codes() - 1)
				}
				setCode(&tab.Cols[j], 0, 0)
				setCode(&other.Cols[j], 0, last)
			}
		}
		var tapes [2]mechtest.Recorder
		for i, side := range []*dataset.Table{tab, other} {
			pl, err := plan()
			if err != nil {
				t.Fatal(err)
			}
			tapes[i].Script = scripted(1)
			learntest.Fit(t, pl, side, &tapes[i], 1)
		}
		p, q := tapes[0].Passages[1], tapes[1].Passages[1]
		if p.Label != countsLabel {
			t.Fatalf("%s: the second release is %q", name, p.Label)
		}
		if r := p.Moved(q) / p.Bound; r > rounding || r < 1-1e-9 {
			t.Errorf("%s: counts moved %.6f times their declared bound", name, r)
		}
	}
}

func setCode(c *column.Column, row int, code uint32) {
	switch {
	case c.Codes.U8 != nil:
		c.Codes.U8[row] = uint8(code)
	case c.Codes.U16 != nil:
		c.Codes.U16[row] = uint16(code)
	default:
		c.Codes.U32[row] = code
	}
}

func rowsFrom(first, rows int) (out []int) {
	for i := first; i < rows; i++ {
		out = append(out, i)
	}
	return out
}

// Where the counts are exact, bins hold about equally many rows. Declared groups
// are kept.
func TestBinsOfExactCounts(t *testing.T) {
	tab, plan := with(settings()["eps inf, bins counted"], 3000)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	checked := 0
	for _, sh := range m.Classifier.(*model.Additive).Shapes {
		j := slices.IndexFunc(tab.Schema.Columns, func(c schema.Column) bool { return c.Name == sh.Column })
		c := &tab.Schema.Columns[j]
		for g, group := range c.Groups {
			for _, code := range group.Levels {
				if sh.LogOdds[code] != sh.LogOdds[group.Levels[0]] {
					t.Errorf("%s: levels of group %d differ", sh.Column, g)
				}
			}
		}
		if !c.Quantiles || len(sh.Edges) < 16 { // the household sizes and capital incomes of most are the same
			continue
		}
		rows := make([]int, len(sh.LogOdds))
		bins := feature.NewBins(tab.Schema, j, sh.Edges)
		for i := range tab.Rows {
			rows[bin(tab, &bins, i)]++
		}
		for b, n := range rows {
			whole := b > 0 && b < len(sh.Edges) && sh.Edges[b]-sh.Edges[b-1] == 1 // a single number, which cannot be cut
			if share := float64(n) / float64(tab.Rows); !whole && b > 0 && share > 0.1 {
				t.Errorf("%s: bin %d holds %.2f of the rows", sh.Column, b, share)
			}
		}
		checked++
	}
	if checked < 2 {
		t.Errorf("%d columns were checked", checked)
	}
}

// A pair is cut at edges that were found for its columns.
func TestPairsAreCutWhereCountsSay(t *testing.T) {
	tab, plan := with(setting{paired(asked(func(p *Params, _ *schema.Schema) {
		p.Epsilon, p.NotPrivate = 0, true
	})), 400}, 3000)
	pl, err := plan()
	if err != nil {
		t.Fatal(err)
	}
	before, err := tab.Schema.YAML()
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1).Classifier.(*model.Additive)
	if after, err := tab.Schema.YAML(); err != nil || !bytes.Equal(before, after) {
		t.Error("the fit has changed the schema, which says what later trainings may know")
	}
	column := slices.IndexFunc(m.Shapes, func(sh model.Shape) bool { return sh.Column == "weekly_hours" })
	pair := slices.IndexFunc(m.Pairs, func(sh model.PairShape) bool { return sh.Columns[0] == "weekly_hours" })
	if column < 0 || pair < 0 {
		t.Fatal("the column or its pair has no shape")
	}
	edges := m.Pairs[pair].Edges[0]
	for _, e := range edges {
		if !slices.Contains(m.Shapes[column].Edges, e) {
			t.Errorf("the pair is cut at %g, the column at %v", e, m.Shapes[column].Edges)
		}
	}
	if len(edges) != minBins-1 {
		t.Errorf("the pair has the edges %v", edges)
	}
}

// Counts that would cost more than they tell are not made, and the schema's bins
// remain.
func TestCountsAreLeftOutWhereTheyTellTooLittle(t *testing.T) {
	c := settings()["private label, bins paid"]
	for rows, want := range map[int]bool{100: false, 400: false, 1000: true, 100_000: true} { // at 400 one round picks
		c.reckons = rows
		_, plan := with(c, 10)
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		billed := slices.ContainsFunc(pl.Terms().Bill, func(e dp.Event) bool { return e.Release == countsLabel })
		if got := len(pl.(*Plan).counts.asking) > 0; got != want || billed != want {
			t.Errorf("%d rows: counts %v, billed %v, want %v", rows, got, billed, want)
		}
	}
}

func TestTooManyCountsAreRefused(t *testing.T) {
	s := wideSchema(t, 256)
	var refused *dp.ParamError
	if _, err := (Params{Epsilon: dp.Nano}).Plan(s, 1000); !errors.As(err, &refused) || refused.Param != "schema" {
		t.Errorf("error %v", err)
	}
}

// Four bins from 0 to 40, by hand: flat before the first middle and after the
// last, a line between, the middle as it was.
func TestSlopeByHand(t *testing.T) {
	s := &schema.Schema{Columns: []schema.Column{{Name: "x", Kind: schema.Number, Lower: 0, Upper: 40}}}
	bins := feature.NewBins(s, 0, []float64{10, 20, 30})
	edges, got := drawSlopes(s, &bins, 1, []float64{0, 5, 5, -5}, []float64{1, 1, 2, 2})
	var at []float64
	for x := 2.0; x < 40; x += 2 {
		at = append(at, x)
	}
	if !slices.EqualFunc(edges, at, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Fatalf("edges %v, want %v", edges, at)
	}
	for i, want := range [][]float64{
		{0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5, 5, 5, 3, 1, -1, -3, -5, -5, -5},
		{1, 1, 1, 1, 1, 1, 1, 1, 1.2, 1.4, 1.6, 1.8, 2, 2, 2, 2, 2, 2, 2, 2},
	} {
		if !slices.EqualFunc(got[i], want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
			t.Errorf("values %v, want %v", got[i], want)
		}
	}
}

// What was cut by something else than bounds keeps its steps.
func TestWhatKeepsItsSteps(t *testing.T) {
	number := schema.Column{Kind: schema.Number, Lower: 0, Upper: 40}
	declared, counted, few := number, number, number
	declared.Edges, counted.Quantiles, few.Upper = []float64{10, 20}, true, 7
	few.Integer = true
	s := &schema.Schema{Columns: []schema.Column{number, declared, counted, few,
		{Kind: schema.Category, Levels: make([]schema.Level, 3)}}}
	for j, want := range []bool{true, false, false, false, false} {
		bins := feature.NewBins(s, j, feature.Cuts(&s.Columns[j], 8))
		if got := hasSlopes(s, &bins); got != want {
			t.Errorf("column %d: slopes %t, want %t", j, got, want)
		}
	}
	pair := feature.Cross(feature.NewBins(s, 0, []float64{10}), feature.NewBins(s, 3, []float64{2}))
	if hasSlopes(s, &pair) {
		t.Error("a pair would get slopes")
	}
}

// Where no cell is missing, a model does not depend on the defaults of its numbers: what stands in for a missing
// cell says nothing about the others.
func TestBinsDoNotDependOnTheDefault(t *testing.T) {
	fit := func(part float64) []byte {
		text := "name: t\nunit: one row\nrelation: replace-one\nfile: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
		bounds := [][2]float64{{0, 20}, {0, 60}, {1, 40}, {0, 400}, {5, 100}, {0, 120}}
		for k, b := range bounds {
			text += fmt.Sprintf("  - {name: c%d, role: private, number: {lower: %g, upper: %g, default: %g, integer: true}}\n", k, b[0], b[1],
				b[0]+math.Floor(part*(b[1]-b[0])))
		}
		s, err := schema.Parse([]byte(text + "  - {name: y, role: private, label: {levels: [n, p], positive: p, default: n}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		const rows = 1000
		tab, src := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows)}, replay.Seeded(1, "counts")
		for _, b := range bounds {
			values, codes := []float64{}, make([]uint32, rows)
			for x := b[0]; x <= b[1]; x++ {
				values = append(values, x)
			}
			for i := range codes {
				codes[i] = uint32(float64(len(values)) * math.Pow(uniform(src), 4))
				if codes[i] > 2 {
					tab.Labels[i] = 1
				}
			}
			tab.Cols = append(tab.Cols, column.Column{Values: values, Codes: column.Narrow(codes, len(values))})
		}
		pl, err := Params{Epsilon: 2 * dp.Nano}.Plan(s, rows)
		if err != nil {
			t.Fatal(err)
		}
		m := learntest.Fit(t, pl, tab, &mechtest.Recorder{}, 1)
		out, err := json.Marshal(m.Classifier)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if low, middle := fit(0), fit(0.5); !bytes.Equal(low, middle) {
		t.Error("the defaults of numbers without missing cells change the model")
	}
}
