// SPDX-License-Identifier: Apache-2.0

// Package clothes draws tables with columns of every kind, and knows what each cell means, so that one
// table can be written in every form that is read: its tests compare the readings. It does not share
// code with readers.
package clothes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cell is what a cell of a column means.
type Cell struct {
	Text   string   // in the schema's spelling
	Also   []string // other texts of the same meaning
	Digits string   // as a number; "" if it is none
	Truth  string   // false or true; "" if it is neither
	Date   string   // its day, as 2015-01-31; "" if it is none
	Value  float64  // a number, a mark of column.MarkNumber, or a code
	Fate   coding.Fate
	Free   bool // a text that no other type of the column can hold
	None   bool // no cell
}

// Column is a column with all cells that it can have.
type Column struct {
	Name   string
	Facts  string // its declaration in YAML
	Kind   Kind
	Cells  []Cell
	Levels int // the first cells, which a type must be able to hold
}

// Kind is what the schema declares of a column.
type Kind int

const (
	Number Kind = iota
	Date
	Category
	Label
	Person
	Ignored
)

// Table is a table that no form has yet.
type Table struct {
	Columns []Column // of files, in order
	Types   []Type   // of columns
	Rows    [][]Cell
	Values  [][]any // the cells, as Hold returns them
	Whole   bool    // identifiers of persons are whole numbers
	Hidden  bool    // cells of protected columns are any
}

// Labels are the ways to spell the label.
var Labels = []string{"0/1", "false/true", "no/yes"}

// Draw draws a table with a label that is spelt in one of the ways of Labels. Each column has one of the
// offered types that can hold what is declared of it; if own is set, each cell has one that can hold it.
// nulls states which types can be missing; nil for all.
func Draw(src *rand.Rand, rows int, label string, offered []Type, own bool, nulls func(of Type) bool) *Table {
	t := &Table{Columns: append(columns(), labelColumn(label)), Whole: src.IntN(2) == 0}
	if t.Whole {
		person := &t.Columns[slices.IndexFunc(t.Columns, func(c Column) bool { return c.Kind == Person })]
		person.Cells = []Cell{number("123", 0, "123.0", "0123", "+123", "1.23e2"), number("124", 0, "124.00"), none(0, "NA"), free("A-7", 0, coding.Read)}
	}
	src.Shuffle(len(t.Columns), func(i, j int) { t.Columns[i], t.Columns[j] = t.Columns[j], t.Columns[i] })
	for j := range t.Columns {
		for _, i := range src.Perm(len(offered)) {
			if c := &t.Columns[j]; offered[i].Carries(c) && slices.ContainsFunc(c.Cells, func(x Cell) bool {
				v, ok := offered[i].Hold(src, c, &x)
				return ok && v != nil
			}) {
				t.Types = append(t.Types, offered[i])
				break
			}
		}
	}
	for range rows {
		row, values := make([]Cell, len(t.Columns)), make([]any, len(t.Columns))
		for j := range row {
			for ok := false; !ok; {
				c, of := &t.Columns[j], t.Types[j]
				if own {
					of = offered[src.IntN(len(offered))]
				}
				row[j] = c.Cells[src.IntN(len(c.Cells))]
				values[j], ok = of.Hold(src, c, &row[j])
				ok = ok && (values[j] != nil || nulls == nil || nulls(of))
			}
		}
		t.Rows, t.Values = append(t.Rows, row), append(t.Values, values)
	}
	return t
}

// Usual is the declaration of CSV files.
const Usual = `{delimiter: ",", quote: '"', header: true, missing: ["", "NA", "-99"]}`

// Schema is the table's schema, with a declaration of its files.
func (t *Table) Schema(file string) string {
	var b strings.Builder
	identifiers := "text"
	if t.Whole {
		identifiers = "whole"
	}
	fmt.Fprintf(&b, "name: clothes\nunit: one row\nrelation: replace-one\nperson: {column: person, rows: 1, identifiers: %s}\nfile: %s\ncolumns:\n", identifiers, file)
	for i := range t.Columns {
		fmt.Fprintf(&b, "  - {name: %s, %s}\n", t.Columns[i].Name, t.Columns[i].Facts)
	}
	b.WriteString("derived:\n  - {name: weekday, weekday: [admitted]}\n")
	return b.String()
}

// Differ describes the first cell of a reading that does not mean what it should; "" if there is none.
func (t *Table) Differ(got *dataset.Table) string {
	if got.Rows != len(t.Rows) {
		return fmt.Sprintf("%d rows of %d", got.Rows, len(t.Rows))
	}
	persons, of := map[string]uint32{}, map[uint32]string{}
	for r := range t.Rows {
		for j := range t.Columns {
			c, want := &t.Columns[j], &t.Rows[r][j]
			value := 0.0
			switch {
			case c.Kind == Ignored, t.Hidden && c.Protected():
				continue
			case c.Kind == Person:
				if got.Persons == nil {
					continue
				}
				number, known := persons[want.Text]
				text, taken := of[got.Persons[r]]
				if want.None != (got.Persons[r] == dataset.Nobody) || !want.None && (known && number != got.Persons[r] || taken && text != want.Text) {
					return fmt.Sprintf("row %d: another person than %q for %#v, a %s (whole: %t)", r+1, want.Text, t.Values[r][j], t.Types[j], t.Whole)
				}
				persons[want.Text], of[got.Persons[r]] = got.Persons[r], want.Text
				continue
			case c.Kind == Label:
				if got.Labels == nil {
					continue
				}
				value = float64(got.Labels[r])
			default:
				at := &got.Cols[got.Schema.Find(c.Name)]
				if value = float64(at.Codes.At(r)); at.Values != nil {
					value = at.MarkedValue(at.Codes.At(r))
				}
			}
			if value != want.Value {
				return fmt.Sprintf("column %s, a %s of %s, row %d: %g in place of %g for %#v: %+v", c.Name, t.Types[j], c.Facts, r+1, value, want.Value, t.Values[r][j], *want)
			}
		}
	}
	return ""
}

// Protected reports whether the guarantee protects a column's cells, which errors and other cells then do not
// depend on.
func (c *Column) Protected() bool { return !strings.HasPrefix(c.Facts, "role: public") }

// Hide returns a neighbour of many rows: its protected cells are any values of the columns' types, or of any of the
// offered types if own is set.
func (t *Table) Hide(src *rand.Rand, offered []Type, own bool, nulls func(of Type) bool) *Table {
	out := *t
	out.Hidden, out.Values = true, nil
	for _, row := range t.Values {
		row = slices.Clone(row)
		for j := range row {
			if of := t.Types[j]; t.Columns[j].Protected() {
				if own {
					of = offered[src.IntN(len(offered))]
				}
				if row[j] = of.Any(src); src.IntN(4) == 0 && (nulls == nil || nulls(of)) {
					row[j] = nil
				}
			}
		}
		out.Values = append(out.Values, row)
	}
	return &out
}

// Miscount describes the first column whose counts are not what became of its cells; "" if there is none.
func (t *Table) Miscount(count func(name string) coding.Counts) string {
	for j := range t.Columns {
		c := &t.Columns[j]
		if c.Kind == Person || c.Kind == Ignored {
			continue
		}
		var want coding.Counts
		for r := range t.Rows {
			want[t.Rows[r][j].Fate]++
		}
		want[coding.Read] = 0
		if got := count(c.Name); got != want {
			return fmt.Sprintf("column %s, a %s of %s: fates %v in place of %v", c.Name, t.Types[j], c.Facts, got, want)
		}
	}
	return ""
}

func number(digits string, value float64, also ...string) Cell {
	return Cell{Text: digits, Digits: digits, Value: value, Also: also}
}

func (c Cell) with(f coding.Fate) Cell {
	c.Fate = f
	return c
}

// none is a cell that is missing, or has the sign for it.
func none(value float64, also ...string) Cell {
	return Cell{None: true, Value: value, Fate: coding.Missing, Also: also}
}

func free(text string, value float64, f coding.Fate) Cell {
	return Cell{Text: text, Value: value, Fate: f, Free: true}
}

func level(code int, text string, also ...string) Cell {
	return Cell{Text: text, Value: float64(code), Also: also}
}

func (c Cell) digits(digits string) Cell {
	c.Digits = digits
	return c
}

func (c Cell) truth(truth string) Cell {
	c.Truth, c.Digits = truth, map[string]string{"false": "0", "true": "1"}[truth]
	return c
}

func columns() []Column {
	mark := func(k uint8) float64 { return column.MarkNumber(k) }
	list := []Column{
		{Name: "amount", Facts: "role: private, number: {lower: -50, upper: 1000, default: 3}", Cells: []Cell{
			number("2.5", 2.5, "2.50", "+2.5", "25e-1", "2.5E0"), number("0", 0, "0.0", "-0", "0e5"), number("-12.25", -12.25),
			number("100000", 1000, "1e+05", "1E5", "100000.0").with(coding.Clamped), number("-50", -50), number("999.75", 999.75), number("-51", -50).with(coding.Clamped),
			number("-99", 3, "-99.0").with(coding.Missing), none(3, "NA"),
			free("forty", 3, coding.Unreadable), free("nan", 3, coding.Unreadable), free("Infinity", 3, coding.Unreadable), free("0x1p3", 3, coding.Unreadable)}},
		{Name: "price", Facts: "role: private, number: {lower: 0, upper: 20000, default: 0}", Cells: []Cell{
			number("12.10", 12.1, "12.1"), number("0.07", 0.07, ".07"), number("1234.56", 1234.56, "1234.560"), number("19999.99", 19999.99), none(0)}},
		{Name: "visits", Facts: "role: public, number: {lower: 0, upper: 60, integer: true}", Cells: []Cell{
			number("0", 0), number("7", 7, "7.0"), number("60", 60), number("61", 60).with(coding.Clamped)}},
		{Name: "score", Facts: "role: private, number: {lower: 0, upper: 10, missing: true, special: [96, 99.9], default: 5}", Cells: []Cell{
			number("3.5", 3.5), number("96", mark(1), "96.0"), number("99.9", mark(2), "99.90"), number("98", 10).with(coding.Clamped), none(mark(3)),
			free("?", mark(3), coding.Unreadable)}},
		{Name: "owns", Facts: "role: private, number: {lower: 0, upper: 1, integer: true, default: 0}", Cells: []Cell{
			number("0", 0, "False", "0.0").truth("false"), number("1", 1, "TRUE", "1.0").truth("true"), none(0)}},
		{Name: "city", Facts: "role: private, category: {levels: [Zürich, \"Sa\u0303o Paulo\", Rome, {value: Oslo, aliases: [Kristiania]}], missing: true}",
			Levels: 4, Cells: []Cell{level(0, "Zürich", "Zu\u0308rich"), level(1, "São Paulo", "Sa\u0303o Paulo"), level(2, "Rome"), level(3, "Oslo", "Kristiania"),
				none(5, "NA"), level(4, "Zurich", "rome", "ROME").with(coding.Other), level(4, "-99", "-99").with(coding.Missing).set(5)}},
		{Name: "ward", Facts: "role: public, category: {levels: [\"01\", \"02\", \"10\", \"12\"]}", Levels: 4, Cells: []Cell{
			level(0, "01"), level(1, "02"), level(2, "10", "10.0"), level(3, "12"), level(4, "1", "2", "11").with(coding.Other), none(4)}},
		{Name: "grade", Facts: "role: private, category: {levels: [\"1\", \"2\", \"3\", \"100000\"], missing: true}", Levels: 4, Cells: []Cell{
			number("1", 0, "1.0", "+1", "1e0"), number("2", 1, "2.00"), number("3", 2), number("100000", 3, "1e+05", "1E5", "100000.0"), number("7", 4, "7.0").with(coding.Other),
			number("-99", 5, "-99.0").with(coding.Missing), none(5), free("01", 4, coding.Other), free("first", 4, coding.Other)}},
		{Name: "smoker", Facts: "role: private, category: {levels: [\"0\", \"1\"]}", Levels: 2, Cells: []Cell{
			level(0, "0", "0.0", "False", "-0", "FALSE").truth("false"), level(1, "1", "1.0", "True", "true").truth("true"), none(2), free("yes", 2, coding.Other)}},
		{Name: "alive", Facts: "role: private, category: {levels: yes_no, missing: true}", Levels: 2, Cells: []Cell{
			level(0, "no", "No", "false", "FALSE").truth("false"), level(1, "yes", "YES", "True").truth("true"), none(3), free("perhaps", 2, coding.Other)}},
		{Name: "flag", Facts: "role: public, category: {levels: [\"false\", \"true\"]}", Levels: 2, Cells: []Cell{
			level(0, "false", "False", "0", "0.0").truth("false"), level(1, "true", "TRUE", "1").truth("true"), none(2), free("WAHR", 2, coding.Other)}},
		{Name: "code", Facts: "role: private, category: {levels: [\"7\"], buckets: 5}", Levels: 1, Cells: []Cell{
			level(0, "7", "7.0").digits("7"), bucketed("250", "250.0", "+250"), bucketed("8123"), bucketed("17000", "1.7e4"), none(6), free("A10", 1+bucket("A10"), coding.Read),
			free("Zu\u0308rich", 1+bucket("Zürich"), coding.Read)}},
		{Name: "icd", Facts: "role: private, category: {levels: [{value: diabetes, prefixes: [\"250\"]}, {value: eye, prefixes: [\"2501\"]}, \"401.9\"]}", Levels: 3, Cells: []Cell{
			level(0, "250.13", "250", "250.9").digits("250.13"), level(1, "2501").digits("2501"), level(2, "401.9").digits("401.9"), level(3, "402.5").digits("402.5").with(coding.Other), none(3),
			free("2500x", 0, coding.Read), free("V25", 3, coding.Other)}},
		{Name: "drg", Facts: "role: private, category: {levels: [\"250.10\", \"251.00\"]}", Levels: 2, Cells: []Cell{
			level(0, "250.10").digits("250.10"), level(1, "251.00").digits("251.00"), none(2), level(2, "250.11").digits("250.11").with(coding.Other)}},
		{Name: "wave", Facts: "role: private, category: {levels: [\"2015-01-31\", \"2016-02-29\"]}", Levels: 2, Cells: []Cell{
			level(0, "2015-01-31").day("2015-01-31"), level(1, "2016-02-29").day("2016-02-29"), level(2, "2017-01-01").day("2017-01-01").with(coding.Other), none(2)}},
		{Name: "ids", Facts: "role: public, category: {levels: [\"9007199254740993\", \"12345678901234567890\"]}", Levels: 2, Cells: []Cell{
			level(0, "9007199254740993").digits("9007199254740993"), level(1, "12345678901234567890").digits("12345678901234567890"), none(2),
			level(2, "9007199254740992").digits("9007199254740992").with(coding.Other)}},
		dates("admitted", "private", "YYYY-MM-DD", ", missing: true, special: [9999-12-31]", "2020-02-14", "2016-02-29", "9999-12-31 special", "1899-12-31 clamped"),
		dates("seen", "private", "YYYYMMDD", "", "2020-02-14", "2016-02-29", "2031-01-01 clamped"),
		dates("born", "public", "DDMMYYYY", "", "2020-02-01", "2019-12-31"),
		dates("left", "private", "DD.MM.YYYY", ", zone: Europe/Berlin", "2020-02-14", "2020-07-01", "2020-12-31"),
		dates("short", "private", "D.M.YYYY", "", "2020-02-01", "2016-11-30"),
		dates("counted", "private", "MM/DD/YYYY", ", days: true", "2020-02-14", "2016-02-29"),
		{Name: "person", Facts: "role: ignored", Kind: Person, Cells: []Cell{
			number("123", 0), number("124", 0), number("5", 0), none(0), free("0123", 0, coding.Read), free("A-7", 0, coding.Read)}},
		{Name: "note", Facts: "role: ignored", Kind: Ignored, Cells: []Cell{number("1", 0), number("7", 0), free("a, \"b\"\n;\t|c", 0, coding.Read), none(0)}},
	}
	for i := range list {
		if c := &list[i]; strings.Contains(c.Facts, "category:") {
			c.Kind = Category
		}
	}
	return list
}

func labelColumn(spelt string) Column {
	no, yes, _ := strings.Cut(spelt, "/")
	c := Column{Name: "label", Kind: Label, Levels: 2,
		Facts: fmt.Sprintf("role: private, label: {levels: [%q, %q], positive: %[2]q, default: %[1]q}", no, yes),
		Cells: []Cell{level(0, no), level(1, yes), none(0), free("unknown", 0, coding.Unreadable)}}
	switch spelt {
	case "0/1":
		c.Cells[0], c.Cells[1] = level(0, no, "0.0", "False").truth("false"), level(1, yes, "1.0", "TRUE").truth("true")
	case "false/true":
		c.Cells[0], c.Cells[1] = level(0, no, "0", "False").truth("false"), level(1, yes, "1.0", "True").truth("true")
	}
	return c
}

func (c Cell) set(value float64) Cell {
	c.Value, c.Free = value, true
	return c
}

func (c Cell) day(iso string) Cell {
	c.Date = iso
	return c
}

// dates is a column of dates from 2000-01-01 to 2030-12-31, of days as 2020-02-14 with what becomes of them.
func dates(name, role, format, facts string, days ...string) Column {
	c := Column{Name: name, Kind: Date, Facts: fmt.Sprintf("role: %s, date: {format: %s, lower: 2000-01-01, upper: 2030-12-31, default: 2010-01-01%s}",
		role, format, facts)}
	first, last := dayOf("2000-01-01"), dayOf("2030-12-31")
	for _, text := range days {
		iso, fate, _ := strings.Cut(text, " ")
		cell := Cell{Text: spell(format, iso), Date: iso, Value: float64(dayOf(iso) - first)}
		switch fate {
		case "special":
			cell.Value = column.MarkNumber(1)
		case "clamped":
			cell.Value, cell.Fate = max(0, min(cell.Value, float64(last-first))), coding.Clamped
		}
		if cell.Also = []string{cell.Text + " 10:30:00", cell.Text + "T23:59:59"}; strings.Contains(facts, "days") {
			cell.Digits = fmt.Sprint(dayOf(iso))
			cell.Also = append(cell.Also, cell.Digits, cell.Digits+".0")
		} else if strings.Trim(format, "YMD") == "" {
			cell.Digits = strings.TrimLeft(cell.Text, "0")
			cell.Also = append(cell.Also, cell.Digits, cell.Digits+".0")
		}
		c.Cells = append(c.Cells, cell)
	}
	stand := float64(dayOf("2010-01-01") - first)
	if strings.Contains(facts, "missing") {
		stand = column.MarkNumber(2)
	}
	return Column{c.Name, c.Facts, c.Kind, append(c.Cells, none(stand, "NA"), free("soon", stand, coding.Unreadable), free("2020-02-30", stand, coding.Unreadable)), 0}
}

func dayOf(iso string) int {
	days, _ := schema.ParseDate("YYYY-MM-DD", iso)
	return days
}

// spell writes a day in a format.
func spell(format, iso string) string {
	year, month, day := iso[:4], iso[5:7], iso[8:]
	format = strings.NewReplacer("YYYY", year, "MM", month, "DD", day).Replace(format)
	return strings.NewReplacer("D", strings.TrimPrefix(day, "0"), "M", strings.TrimPrefix(month, "0")).Replace(format)
}

func bucketed(digits string, also ...string) Cell {
	return level(1+int(bucket(digits)), digits, also...).digits(digits)
}

// bucket is FNV-1a of 64 bits, modulo the number of buckets.
func bucket(text string) float64 {
	h := uint64(0xcbf29ce484222325)
	for _, b := range []byte(text) {
		h ^= uint64(b)
		h *= 0x100000001b3
	}
	return float64(h % 5)
}
