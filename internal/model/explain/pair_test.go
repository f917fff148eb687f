// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
)

// paired is summed with a pair of a category and a number, and one of numbers.
func paired(t *testing.T) *model.Model {
	m := summed(t)
	m.Classifier.(*model.Additive).Pairs = []model.PairShape{
		{Columns: [2]string{"ward", "age <b>"}, Edges: [2][]float64{nil, {40}},
			LogOdds: []float64{0.5, -0.5, 0, 1, -2, 0.25, 0.1, -0.1}, Noise: []float64{0.1, 0.6, 0, 0.1, 0.1, 0.3, 0.05, 0.2}},
		{Columns: [2]string{"age <b>", "bill"}, Edges: [2][]float64{{40}, {10, 100, 1000}},
			LogOdds: []float64{0.5, 0, 0, 0, 0, 0, 0, -0.5}, Noise: make([]float64, 8)},
	}
	return m
}

func TestPairsAreExplained(t *testing.T) {
	e, err := Of(paired(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Pairs) != 2 || e.Pairs[0].Name() != "ward × age <b>" || e.Pairs[1].Name() != "age <b> × bill" {
		t.Fatalf("pairs in another order: %+v", e.Pairs)
	}
	p := e.Pairs[0]
	const mean = -0.75 / 8 // half of the distance is above it: by 0.5, 0, 1, 0.25 and 0.1
	if want := 2 * (0.5 + 0 + 1 + 0.25 + 0.1 - 5*mean) / 8; math.Abs(p.Importance-want) > 1e-12 || !p.Protected {
		t.Errorf("importance %g, protected %v; want %g, true", p.Importance, p.Protected, want)
	}
	if c := p.Cells[1][1]; c.LogOdds != 1 || c.Deviation != 0.1 {
		t.Errorf("the second ward, old: %+v", c)
	}
	if b := p.Bins[1][1]; *b.From != 40 || *b.To != 100 || p.Bins[0][3].Level != "(other)" {
		t.Errorf("bins: %+v", p.Bins)
	}
	if b := e.Pairs[1].Bins[0][0]; *b.From != 0 || *b.To != 40 {
		t.Errorf("bins of age: %+v", b)
	}
}

// By hand: four wards down, two ages across, colours in parts of the largest
// step, 2; three cells no further from zero than their deviation.
func TestHeatMapByHand(t *testing.T) {
	e, err := Of(paired(t))
	if err != nil {
		t.Fatal(err)
	}
	d := drawPair(&e.Pairs[0], strongestStep(e.Pairs))
	if d.Down != "ward" || d.Across != "age <b>" || len(d.Rows) != 4 || len(d.Rows[0].Tiles) != 2 {
		t.Fatalf("%s down, %s across, %d rows", d.Down, d.Across, len(d.Rows))
	}
	for _, c := range []struct {
		row, col int
		up       bool
		strength float64
		doubtful bool
	}{{0, 0, true, 0.25, false}, {0, 1, false, 0.25, true}, {1, 0, false, 0, false}, {1, 1, true, 0.5, false},
		{2, 0, false, 1, false}, {2, 1, true, 0.125, true}, {3, 1, false, 0.05, true}} {
		if got := d.Rows[c.row].Tiles[c.col]; got.Up != c.up || math.Abs(got.Strength-c.strength) > 1e-12 ||
			got.Doubtful != c.doubtful {
			t.Errorf("row %d, column %d: %+v, want %+v", c.row, c.col, got, c)
		}
	}
	if got := d.Rows[2].Tiles[0].Text; got != "a ward with a name that is too long to draw, 0 … 40: −2.000 ± 0.100" {
		t.Errorf("a cell says %q", got)
	}
	for _, x := range d.X {
		if x.At < d.Left-1e-9 || x.At > d.Right+1e-9 {
			t.Errorf("an edge stands at %g, outside", x.At)
		}
	}
	if d.X[0].Text != "0" || d.X[2].Text != "100" {
		t.Errorf("edges %+v", d.X)
	}
	// The column of more bins goes down: a page is narrow.
	if d := drawPair(&e.Pairs[1], 1); d.Down != "bill" || d.Across != "age <b>" || d.Rows[3].Tiles[1].Strength != 0.5 ||
		d.Rows[0].Tiles[0].Up != true {
		t.Errorf("%s down, %s across", d.Down, d.Across)
	}
}

func TestPageListsPairs(t *testing.T) {
	text := written(t, paired(t))
	for _, want := range []string{
		`<a href="#pair-1">ward × age &lt;b&gt;</a>`, `id="pair-2"`, "each pair of columns below",
		"Importance of each column and pair",
		"<title>intensive, 40 … 100: &#43;1.000 ± 0.100</title>", "<th scope=\"row\">general &amp; other</th>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page must hold %q", want)
		}
	}
	if got := strings.Count(text, `class="doubt"`); got != 3 {
		t.Errorf("%d cells are struck through, want 3", got)
	}
	if strings.Contains(written(t, summed(t)), "pair") {
		t.Error("a model without pairs speaks of them")
	}
}

// Pairs are parts of a score and of its interval.
func TestPairsContribute(t *testing.T) {
	m := paired(t)
	cols := []column.Column{
		{Codes: column.Narrow([]uint32{0, 1, 2}, 3), Values: []float64{0, 18, 100}},
		{Codes: column.Narrow([]uint32{1, 0, 0}, 2), Values: []float64{5, 10.5}},
		{Codes: column.Narrow([]uint32{2, 0, 3}, 4)},
	}
	parts, err := Contributions(m, cols)
	if err != nil || len(parts) != 5 || parts[3].Column != "ward × age <b>" {
		t.Fatal(len(parts), err)
	}
	scores, err := m.Scores(cols, 3)
	if err != nil {
		t.Fatal(err)
	}
	iv, err := NewIntervals(m, cols)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{-2, 0.5, -0.1} { // ward 2 young, ward 0 young, other old
		if got := parts[3].At(i, 0); math.Abs(got-want) > 1e-6 {
			t.Errorf("row %d: ward and age add %g, want %g", i, got, want)
		}
		z := m.Classifier.(*model.Additive).Intercept
		for k := range parts {
			z += parts[k].At(i, 0)
		}
		if math.Abs(z-logit(scores[i])) > 1e-6 {
			t.Errorf("row %d: parts add up to %g, the score's logit is %g", i, z, logit(scores[i]))
		}
		if low, high := iv.At(i); !(low < scores[i] && scores[i] < high) {
			t.Errorf("row %d: %g is not within %g and %g", i, scores[i], low, high)
		}
	}
}

// Of a model without privacy no column, and no pair of private ones, is called public or protected.
func TestPairsWithoutPrivacy(t *testing.T) {
	m := paired(t)
	m.Privacy = model.Privacy{Scope: dp.Nothing, Relation: dp.ReplaceOne, Unit: "one hospital admission", NotPrivate: true}
	e, err := Of(m)
	if err != nil {
		t.Fatal(err)
	}
	for i := range e.Pairs {
		if source := e.describeSource(e.Pairs[i].Protected, ""); source != "not protected" {
			t.Errorf("pair %s: %s", e.Pairs[i].Name(), source)
		}
	}
	for _, line := range strings.Split(written(t, m), "\n") {
		if strings.Contains(line, "pair-") && (strings.Contains(line, "public") || strings.Contains(line, "protected")) {
			t.Errorf("a pair without privacy: %s", line)
		}
	}
}
