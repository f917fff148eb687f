// SPDX-License-Identifier: Apache-2.0

package model

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// followed is a model of three derived columns, two of whose sources have no
// shape of their own.
func followed() *Model {
	m := summed()
	rest := 60.0
	s := m.Schema
	s.Columns = append(s.Columns[:3], schema.Column{Name: "pulse", Role: schema.Public, Kind: schema.Number, Lower: 20,
		Upper: 250, Default: &rest})
	s.Label.Position = 4
	both := schema.Column{Role: schema.Private, Kind: schema.Number, Lower: 0, Upper: 250, From: []int{3, 0}}
	for _, d := range []schema.Column{
		{Name: "worst", Derived: schema.Largest, Note: "of two", Edges: []float64{50}},
		{Name: "best", Derived: schema.Smallest},
		{Name: "usual", Derived: schema.Mean, Monotone: schema.Increasing},
	} {
		c := both
		c.Name, c.Derived, c.Note, c.Monotone, c.Edges = d.Name, d.Derived, d.Note, d.Monotone, d.Edges
		s.Columns = append(s.Columns, c)
		m.Classifier.(*Additive).Shapes = append(m.Classifier.(*Additive).Shapes,
			Shape{Column: c.Name, Edges: []float64{50, 100}, LogOdds: []float64{-1, 0, 0.5}, Noise: make([]float64, 3)})
	}
	m.Classifier.(*Additive).Shapes = m.Classifier.(*Additive).Shapes[1:] // none of age
	return m
}

func TestDerivedColumnsGoThroughAFile(t *testing.T) {
	agreesWithNaiveTwin(t, followed())
	file := mustMarshal(t, followed())
	back, err := Unmarshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(mustMarshal(t, back), file) {
		t.Error("the file changed on its way")
	}
	agreesWithNaiveTwin(t, back)
}

// dated has a column of dates and each of its parts.
func dated() *Model {
	m := summed()
	day := 40.0
	s := m.Schema
	s.Dialect.Encoding, s.Dialect.Thousands, s.Dialect.TrailingMinus = "windows-1252", ' ', true
	s.Columns = append(s.Columns[:3], schema.Column{Name: "admitted", Role: schema.Private, Kind: schema.Number,
		Date: "DD.MM.YYYY", Since: 18_000, Zone: "Europe/Berlin", Days: true, Lower: -100, Upper: 1000, Default: &day,
		Missing: true, Special: []float64{5000}, Edges: []float64{50}})
	s.Label.Position = 4
	for part, bounds := range map[schema.Derivation][2]float64{schema.Year: {2019, 2022}, schema.Month: {1, 12},
		schema.Weekday: {1, 7}} {
		s.Columns = append(s.Columns, schema.Column{Name: string(part), Role: schema.Private, Kind: schema.Number,
			Integer: true, Derived: part, Lower: bounds[0], Upper: bounds[1], From: []int{3}})
		m.Classifier.(*Additive).Shapes = append(m.Classifier.(*Additive).Shapes, Shape{Column: string(part),
			Edges: []float64{bounds[0] + 0.5}, LogOdds: []float64{-1, 0.5}, Noise: make([]float64, 2)})
	}
	return m
}

func TestDatesGoThroughAFile(t *testing.T) {
	m := dated()
	back, err := Unmarshal(mustMarshal(t, m))
	if err != nil {
		t.Fatal(err)
	}
	if c, want := back.Schema.Columns[3], m.Schema.Columns[3]; !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
	for _, spoil := range []func(c *schema.Column){func(c *schema.Column) { c.Zone = "" }, func(c *schema.Column) { c.Days = false }} {
		other := m.Schema.Clone()
		spoil(&other.Columns[3])
		if _, err := m.Bind(other); err == nil || !strings.Contains(err.Error(), "dates") {
			t.Errorf("error %v", err)
		}
	}
}

// A source is in a model's schema for what is derived from it, and for nothing
// else.
func TestSourcesThatNothingNeedsAreRefused(t *testing.T) {
	for say, edit := range map[string]func(m *Model){
		`column "usual" must be used`: func(m *Model) {
			m.Classifier.(*Additive).Shapes = m.Classifier.(*Additive).Shapes[:4]
		},
		`column "age" must be used`: func(m *Model) {
			m.Classifier.(*Additive).Shapes = m.Classifier.(*Additive).Shapes[:2]
			m.Schema.Columns = m.Schema.FileColumns()
		},
		`bins and groups must not be given for column "worst"`: func(m *Model) {
			m.Schema.Columns[4].Edges, m.Schema.Columns[4].Quantiles = nil, true
		},
	} {
		m := followed()
		edit(m)
		if _, err := Marshal(m); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%s: %v", say, err)
		}
	}
}

func TestBindWantsTheSameDerivation(t *testing.T) {
	if _, err := followed().Bind(followed().Schema); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(s *schema.Schema)
		say  string
	}{
		{"other derivation", func(s *schema.Schema) { s.Columns[4].Derived = schema.Mean },
			`"worst" must have the derivation`},
		{"a file's column", func(s *schema.Schema) { s.Columns[4].Derived, s.Columns[4].From = schema.InFile, nil },
			`"worst" must have the derivation`},
		{"other sources", func(s *schema.Schema) { s.Columns[6].From = []int{3, 1} }, `"usual" must have the sources`},
		{"other order of sums", func(s *schema.Schema) { s.Columns[6].From = []int{0, 3} }, `"usual" must have the sources`},
		{"fewer sources", func(s *schema.Schema) { s.Columns[6].From = []int{3} }, `"usual" must have the sources`},
		{"other source", func(s *schema.Schema) { s.Columns[3].Lower = 0 }, `"pulse" must have the bounds`},
		{"source gone", func(s *schema.Schema) { s.Columns[3].Role = schema.Ignored },
			`"pulse" must be in the schema of the data`},
		{"gone", func(s *schema.Schema) { s.Columns = slices.Delete(s.Columns, 5, 6) },
			`"best" must be in the schema of the data`},
	} {
		s := followed().Schema
		c.edit(s)
		if _, err := followed().Bind(s); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.say)
		}
	}
}
