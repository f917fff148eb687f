// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// formsOf are the names of types in the documentation.
var formsOf = map[string]Form{"text": Text, "integer": Integer, "double": Float, "float32": Single, "decimal": Decimal, "Boolean": Truth, "day": Day,
	"instant": Instant}

// typedCell is an example of the documentation as a cell of a type.
func typedCell(t *testing.T, f Form, text string) Cell {
	t.Helper()
	x, err := strconv.ParseFloat(text, 64)
	day, isDay := schema.ParseDate("YYYY-MM-DD", text)
	at, notTime := time.Parse(time.DateTime, text)
	switch {
	case f == Text:
		return TextCell(text)
	case f == Integer && err == nil && x == float64(int64(x)):
		return IntegerCell(int64(x))
	case f == Float && err == nil:
		return NumberCell(x)
	case f == Single && err == nil:
		return SingleCell(float32(x))
	case f == Decimal && err == nil:
		return DecimalCell(text)
	case f == Truth && truthOf(text) >= 0:
		return TruthCell(truthOf(text) == 1)
	case f == Day && isDay:
		return DayCell(day)
	case f == Instant && notTime == nil:
		return InstantCell(at.Unix(), 0)
	}
	t.Fatalf("%q is no example of form %d", text, f)
	return Cell{}
}

// The table of types in docs/schema.md is what is read, and what is refused.
func TestDocumentedTypes(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/schema.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(page), "| the schema declares |")
	if !found {
		t.Fatal("docs/schema.md has no table of what the schema declares by types")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	cells := func(line string) []string {
		list := strings.Split(strings.Trim(line, "| "), "|")
		for i := range list {
			list[i] = strings.TrimSpace(list[i])
		}
		return list
	}
	types := cells(lines[0])
	if len(types) != len(formsOf) || len(lines) < 12 {
		t.Fatalf("the table has %d types and %d lines", len(types), len(lines))
	}
	for _, line := range lines[2:] {
		row := cells(line)
		if len(row) != len(types)+1 {
			t.Fatalf("%q has %d cells", line, len(row))
		}
		facts := strings.Trim(row[0], "`")
		c := documentedCoder(t, facts)
		for i, entry := range row[1:] {
			form, known := formsOf[types[i]]
			if !known {
				t.Fatalf("%q is no type", types[i])
			}
			of := Type{Form: form, Name: types[i]}
			example, want, ok := strings.Cut(strings.TrimPrefix(entry, "`"), "` is ")
			if strings.Contains(entry, ".") {
				of.Scale = 2
			}
			if entry == "refused" {
				of.Scale = 2
				if c.CannotCarry(of) == "" {
					t.Errorf("%s: %s is not refused", facts, types[i])
				}
				checkUnrefused(t, c, form, facts)
				continue
			}
			if !ok {
				t.Fatalf("%s: entry %q", facts, entry)
			}
			if why := c.CannotCarry(of); why != "" {
				t.Errorf("%s: %s is refused: %s", facts, types[i], why)
			}
			v, fate := c.ReadCell(typedCell(t, form, example))
			got := strconv.FormatFloat(v.Number, 'g', -1, 64)
			switch {
			case c.IsDate():
				got = schema.FormatDate("YYYY-MM-DD", int(v.Number)+c.since)
			case !c.Number:
				if got = "other"; fate == Read {
					texts, codes := c.Spellings()
					got = want // if it is one of the level's texts
					if at := slices.Index(texts, want); at < 0 || codes[at] != v.Code {
						got = "another level"
					}
				}
			}
			if got != want || c.Number && fate != Read {
				t.Errorf("%s, %s: %s is %s with fate %d, and documented as %s", facts, types[i], example, got, fate, want)
			}
		}
	}
}

// checkUnrefused checks that a cell of a refused type is taken where each cell has a type of its own.
func checkUnrefused(t *testing.T, c *Coder, f Form, facts string) {
	example := map[Form]string{Integer: "3", Float: "3.5", Single: "3.5", Decimal: "3.50", Truth: "true", Day: "2000-01-02", Instant: "2000-01-02 10:00:00"}[f]
	if _, fate := c.ReadCell(typedCell(t, f, example)); fate != Unreadable && fate != Other {
		t.Errorf("%s: a cell %s has fate %d", facts, example, fate)
	}
}

// documentedCoder is the coder of a column as the documentation declares it, without its bounds.
func documentedCoder(t *testing.T, facts string) *Coder {
	t.Helper()
	if facts == "number" {
		facts = "number: {lower: 0, upper: 99, default: 0}"
	}
	if inside, ok := strings.CutPrefix(facts, "date: {"); ok {
		facts = "date: {lower: 2000-01-01, upper: 2030-01-01, default: 2001-01-01, " + inside
	}
	s, err := schema.Parse([]byte("name: t\nunit: row\nrelation: replace-one\nfile: {delimiter: \",\", quote: \"\", header: true, missing: []}\ncolumns:\n  - {name: c, role: private, " +
		facts + "}\n  - {name: y, role: public, label: {levels: [a, b], positive: a}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(&s.Columns[0], &s.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
