// SPDX-License-Identifier: Apache-2.0

package train

import (
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// readings are other values of every field of a column and of a file's dialect, and whether they may move a cell to
// another level of a category, or to another month of a date. A field that is not here fails the test.
var readings = map[string]struct {
	change      func(*schema.Column, *schema.Dialect)
	level, date bool
}{
	// What is refused in a column of cohorts or parts, or moves no cell.
	"Name": {}, "Role": {}, "Kind": {}, "Note": {}, "Integer": {}, "Transform": {}, "Monotone": {}, "Edges": {},
	"Quantiles": {}, "Derived": {}, "From": {}, "Groups": {},
	// Which records are rows, and where a cell ends: the same text of a cell is the same level.
	"Delimiter": {}, "Comment": {}, "SkipRecords": {}, "SkipUntil": {},

	"Lower":   {func(c *schema.Column, _ *schema.Dialect) { c.Lower++ }, false, true},
	"Upper":   {func(c *schema.Column, _ *schema.Dialect) { c.Upper++ }, false, true},
	"Default": {func(c *schema.Column, _ *schema.Dialect) { x := 40.0; c.Default = &x }, false, true},
	"Date":    {func(c *schema.Column, _ *schema.Dialect) { c.Date = "YYYY-DD-MM" }, false, true},
	"Since":   {func(c *schema.Column, _ *schema.Dialect) { c.Since++ }, false, true},
	"Special": {func(c *schema.Column, _ *schema.Dialect) { c.Special = []float64{7} }, false, true},
	"Zone":    {func(c *schema.Column, _ *schema.Dialect) { c.Zone = "Europe/Berlin" }, false, true},
	"Days":    {func(c *schema.Column, _ *schema.Dialect) { c.Days = true }, false, true},
	"Missing": {func(c *schema.Column, _ *schema.Dialect) { c.Missing = !c.Missing }, true, true},
	"Levels":  {func(c *schema.Column, _ *schema.Dialect) { c.Levels = append(c.Levels, schema.Level{Value: "c"}) }, true, false},
	"Buckets": {func(c *schema.Column, _ *schema.Dialect) { c.Buckets = 2 }, true, false},

	"Quote":         {func(_ *schema.Column, d *schema.Dialect) { d.Quote = 0 }, true, true},
	"Header":        {func(_ *schema.Column, d *schema.Dialect) { d.Header = false }, true, true},
	"Encoding":      {func(_ *schema.Column, d *schema.Dialect) { d.Encoding = "utf-16" }, true, true},
	"Decimal":       {func(_ *schema.Column, d *schema.Dialect) { d.Decimal = ',' }, true, true},
	"Thousands":     {func(_ *schema.Column, d *schema.Dialect) { d.Thousands = ',' }, true, true},
	"TrailingMinus": {func(_ *schema.Column, d *schema.Dialect) { d.TrailingMinus = true }, true, true},
	"Trim":          {func(_ *schema.Column, d *schema.Dialect) { d.Trim = true }, true, true},
	"Missings":      {func(_ *schema.Column, d *schema.Dialect) { d.Missing = []string{"?"} }, true, true},
}

// A file that is read in another way may have its rows in other parts or cohorts: whatever may move a cell is in the
// definition that a ledger compares.
func TestDefinitionsHoldWhateverMovesACell(t *testing.T) {
	make := func(change func(*schema.Column, *schema.Dialect)) *schema.Schema {
		day := 3.0
		s := &schema.Schema{Relation: dp.ReplaceOne, Parts: "town", Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true},
			Columns: []schema.Column{{Name: "town", Role: schema.Public, Kind: schema.Category, Levels: []schema.Level{{Value: "a"}, {Value: "b"}}},
				{Name: "day", Role: schema.Public, Kind: schema.Number, Date: "YYYY-MM-DD", Upper: 900, Default: &day}}}
		if change != nil {
			for j := range s.Columns {
				s.Columns[j].Levels = slices.Clone(s.Columns[j].Levels)
				change(&s.Columns[j], &s.Dialect)
			}
		}
		return s
	}
	of := func(s *schema.Schema) (part, level, date string) {
		p, err := PartsOf(s)
		if err != nil {
			t.Fatal(err)
		}
		if level, err = defineCohorts(s, "town"); err != nil {
			t.Fatal(err)
		}
		if date, err = defineCohorts(s, "day"); err != nil {
			t.Fatal(err)
		}
		return p.Definition, level, date
	}
	part, level, date := of(make(nil))
	for _, fields := range []reflect.Type{reflect.TypeFor[schema.Column](), reflect.TypeFor[schema.Dialect]()} {
		for f := range fields.Fields() {
			name := f.Name
			if name == "Missing" && f.Type.Kind() == reflect.Slice {
				name = "Missings"
			}
			r, known := readings[name]
			if !known {
				t.Errorf("the field %s is not tried", name)
			}
			if r.change == nil {
				continue
			}
			p, l, d := of(make(r.change))
			if (p == part) == r.level {
				t.Errorf("another %s: the definition of parts is the same: %v", name, p == part)
			}
			// Levels are the names of cohorts, and buckets are refused.
			if cohorts := r.level && name != "Levels" && name != "Buckets"; cohorts && l == level {
				t.Errorf("another %s: the definition of cohorts by levels is the same", name)
			}
			if r.date && d == date {
				t.Errorf("another %s: the definition of cohorts by dates is the same", name)
			}
		}
	}
}

// Each limit of a schema is one of its own.
func TestPricesBeyondTheSchemasLimits(t *testing.T) {
	for _, c := range []struct {
		price    Price
		epsilon  dp.Epsilon
		delta    dp.Delta
		exceeded bool
	}{
		{Price{Epsilon: dp.Nano, Delta: 9}, 0, 0, false},
		{Price{Epsilon: dp.Nano}, dp.Nano, 0, false}, {Price{Epsilon: dp.Nano + 1}, dp.Nano, 0, true},
		{Price{Epsilon: dp.Nano, Delta: 1}, dp.Nano, 0, true}, {Price{Epsilon: dp.Nano, Delta: 9}, dp.Nano, 9, false},
		{Price{Epsilon: dp.Nano, Delta: 10}, dp.Nano, 9, true}, {Price{Epsilon: dp.Nano, Delta: 10}, 0, 9, true},
		{Price{NotPrivate: true}, dp.Nano, 0, true}, {Price{NotPrivate: true}, 0, 0, false},
	} {
		if got := c.price.Excess(&schema.Schema{Name: "s", MaxEpsilon: c.epsilon, MaxDelta: c.delta}); (got != "") != c.exceeded {
			t.Errorf("%+v at most %s and %s: %q", c.price, c.epsilon, c.delta, got)
		}
	}
}
