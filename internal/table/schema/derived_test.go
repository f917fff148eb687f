// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

const months = `name: months
unit: one person
relation: replace-one
file: {delimiter: ",", quote: "", header: true, trim: false, missing: []}
columns:
  - {name: a, role: public, number: {lower: -1, upper: 3}}
  - {name: b, role: public, number: {lower: 0, upper: 7, default: 1}}
  - {name: "y", role: public, label: {levels: ["no", "yes"], positive: "yes"}}
  - {name: c, role: private, number: {lower: -2, upper: 5, default: 0}}
  - {name: d, role: ignored, number: {lower: 0, upper: 1}}
  - {name: e, role: public, category: {levels: [u, v], missing: false}}
  - {name: l, role: private, number: {lower: 0, upper: 9, transform: log1p, default: 0}}
  - {name: m, role: public, number: {lower: 0, upper: 9, transform: log1p, default: 0}}
derived:
  - {name: top, largest: [b, a], note: of two}
  - {name: mid, mean: [c, a, b], monotone: increasing, edges: [0, 1]}
  - {name: low, smallest: [m, l], bins: quantiles}
`

func TestDerivedColumnsFollowTheirSources(t *testing.T) {
	s := mustParse(t, months)
	want := []Column{
		{Name: "top", Role: Public, Kind: Number, Note: "of two", Lower: -1, Upper: 7, Derived: Largest, From: []int{1, 0}},
		{Name: "mid", Role: Private, Kind: Number, Lower: -2, Upper: 7, Monotone: Increasing, Edges: []float64{0, 1},
			Derived: Mean, From: []int{2, 0, 1}},
		{Name: "low", Role: Private, Kind: Number, Lower: 0, Upper: 9, Transform: Log1p, Quantiles: true, Derived: Smallest,
			From: []int{6, 5}},
	}
	if got := s.Columns[7:]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if file := s.FileColumns(); len(file) != 7 || file[6].Name != "m" || s.Label.Position != 2 {
		t.Errorf("%d columns in the file, label at %d", len(file), s.Label.Position)
	}
	if got := s.Sources(&s.Columns[8]); !slices.Equal(got, []string{"c", "a", "b"}) {
		t.Errorf("sources %q", got)
	}
	checkRoundTrip(t, s)
	text, err := s.YAML()
	if err != nil || string(text) != months {
		t.Errorf("error %v, got\n%s", err, text)
	}
	if plain := whole(); !reflect.DeepEqual(plain.FileColumns(), plain.Columns) {
		t.Error("a schema without derived columns has others in its file")
	}
}

// Whatever is private among the sources, and whichever the derivation: the column
// is public if all of them are, and nowhere else.
func TestWhatFollowsFromAPrivateColumnIsPrivate(t *testing.T) {
	for _, how := range derivations {
		for roles := range 8 {
			var b strings.Builder
			b.WriteString(months[:strings.Index(months, "  - {name: a,")])
			want := Public
			for k := range 3 {
				role := Public
				if roles>>k&1 == 1 {
					role, want = Private, Private
				}
				fmt.Fprintf(&b, "  - {name: x%d, role: %s, number: {lower: 0, upper: 1, default: 0}}\n", k, role)
			}
			fmt.Fprintf(&b, "  - {name: y, role: public, label: {levels: [u, v], positive: u}}\nderived:\n"+
				"  - {name: z, %s: [x2, x0, x1]}\n", how)
			if got := mustParse(t, b.String()).Columns[3].Role; got != want {
				t.Errorf("%s, private sources %03b: role %s, want %s", how, roles, got, want)
			}
		}
	}
}

func TestDerivedRefusals(t *testing.T) {
	const top = "{name: top, largest: [b, a], note: of two}"
	var lines strings.Builder
	for i := range MaxColumns - 7 {
		fmt.Fprintf(&lines, "\n  - {name: many %d, largest: [a, b]}", i)
	}
	many := "derived:" + lines.String()
	for _, c := range []struct {
		name, old, new string
		want           string
	}{
		{"no list", months[strings.Index(months, "derived:"):], "derived: top",
			`schema line 14: derived must be a list (got "top"); write what follows`},
		{"a word", top, "top",
			`schema line 15: derived column 1 must be a mapping (got "top"); write the keys name, largest`},
		{"blank", months[strings.Index(months, "derived:"):], "derived: ___", `derived must be filled in`},
		{"no name", "name: top, ", "", `schema line 15: derived column 1 name must be given (none given); write name:`},
		{"name in blanks", "name: top", `name: " top"`, `derived column 1 name must not begin or end with white space`},
		{"name of a column", "name: top", "name: c", `derived column "c" name must be unique (got "c")`},
		{"name of an ignored column", "name: top", "name: d", `derived column "d" name must be unique`},
		{"name of the label", "name: top", "name: y", `derived column "y" name must be unique`},
		{"name of a derived column", "name: mid", "name: top", `schema line 16: derived column "top" name must be unique`},
		{"no derivation", "largest: [b, a], ", "",
			`derived column "top" largest, smallest or mean must be given (none given); write largest:, smallest: or mean:`},
		{"two derivations", "largest: [b, a]", "largest: [b, a], mean: [b, a]",
			`derived column "top" mean must not be combined with largest (got both)`},
		{"unknown derivation", "largest: [b, a]", "sum: [b, a]",
			`derived column 1 key must be one of those known here (got another)`},
		{"a role of its own", "note: of two", "role: public",
			`key must be one of those known here (got another); the keys are name, largest`},
		{"bounds of its own", "note: of two", "lower: 0", `key must be one of those known here (got another)`},
		{"a transform of its own", "note: of two", "transform: log1p", `key must be one of those known here (got another)`},
		{"a default of its own", "note: of two", "default: 0", `key must be one of those known here (got another)`},
		{"one source", "[b, a]", "[b]",
			`derived column "top" largest must list at least two columns (got 1); write largest:`},
		{"no source", "[b, a]", "[]", `derived column "top" largest must list at least two columns (got 0)`},
		{"sources no list", "[b, a]", "b", `derived column "top" largest must be a list (got "b")`},
		{"sources blank", "[b, a]", "___", `derived column "top" largest must be filled in`},
		{"a list among the sources", "[b, a]", "[b, [a]]",
			`derived column "top" largest must be one word or text (got a list)`},
		{"source twice", "[b, a]", "[b, a, b]",
			`schema line 15: derived column "top" largest must list each column once (got "b")`},
		{"unknown source", "[b, a]", "[b, x]",
			`derived column "top" largest must list columns of the file other than the label (got "x")`},
		{"the label as a source", "[b, a]", "[b, y]", `largest must list columns of the file other than the label (got "y")`},
		{"a derived source", "mean: [c, a, b]", "mean: [c, a, top]",
			`mean must list columns of the file other than the label (got "top")`},
		{"itself as a source", "[b, a]", "[b, top]", `largest must list columns of the file other than the label (got "top")`},
		{"an ignored source", "[b, a]", "[b, d]", `largest must list columns that are not ignored (got "d")`},
		{"a category as a source", "[b, a]", "[b, e]", `largest must list number columns (got "e")`},
		{"two transforms", "[b, a]", "[b, l]", `largest must list columns of one transform (got "l")`},
		{"edge outside the hull", "edges: [0, 1]", "edges: [0, 7]",
			`derived column "mid" edges must increase strictly and lie between lower and upper`},
		{"edges beside bins", "bins: quantiles", "bins: quantiles, edges: [1]",
			`derived column "low" bins must not be combined with edges`},
		{"unknown direction", "monotone: increasing", "monotone: up",
			`derived column "mid" monotone must be increasing or decreasing (got "up")`},
		{"a monotone source", "upper: 5, default: 0", "upper: 5, default: 0, monotone: decreasing",
			`derived column "mid" monotone must be decreasing, as its source is (got "increasing"); column "c" would not ` +
				`be followed`},
		{"a monotone source of a free one", "upper: 3", "upper: 3, monotone: increasing",
			`derived column "top" monotone must be increasing, as its source is (got "")`},
		{"pair of a monotone one", "file:", "pairs: [[mid, e]]\nfile:", `pairs must not name a monotone column`},
		{"parts by it", "file:", "parts: top\nfile:", `parts must name a category column`},
		{"too many columns", months[strings.Index(months, "derived:"):], many,
			`derived must leave at most 16384 columns in total (got 16385)`},
	} {
		text := strings.Replace(months, c.old, c.new, 1)
		if text == months {
			t.Errorf("%s: nothing replaced", c.name)
			continue
		}
		s, err := Parse([]byte(text))
		if s != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %s", c.name, err, c.want)
			continue
		}
		if _, ok := errors.AsType[*dp.ParamError](err); !ok {
			t.Errorf("%s: %T holds no *dp.ParamError", c.name, err)
		}
	}
	fine := strings.NewReplacer("upper: 5, default: 0", "upper: 5, default: 0, monotone: increasing", "file:",
		"pairs: [[top, e]]\nfile:").Replace(months)
	if _, err := Parse([]byte(fine)); err != nil {
		t.Errorf("a source as monotone as what follows, and a pair: %v", err)
	}
}

func TestPartKeepsTheSourcesOfWhatIsUsed(t *testing.T) {
	s := mustParse(t, months)
	ignored := func(j int) Column { return Column{Name: s.Columns[j].Name, Role: Ignored} }
	for _, c := range []struct {
		use  []int
		want []Column
	}{
		{[]int{8}, []Column{s.Columns[0], s.Columns[1], s.Columns[2], ignored(3), ignored(4), ignored(5), ignored(6),
			s.Columns[8]}},
		{[]int{7, 4}, []Column{s.Columns[0], s.Columns[1], ignored(2), ignored(3), s.Columns[4], ignored(5), ignored(6),
			s.Columns[7]}},
		{[]int{0, 2}, []Column{s.Columns[0], ignored(1), s.Columns[2], ignored(3), ignored(4), ignored(5), ignored(6)}},
	} {
		part := s.Part(c.use)
		if !reflect.DeepEqual(part.Columns, c.want) {
			t.Errorf("of %v: got %+v\nwant %+v", c.use, part.Columns, c.want)
		}
		checkRoundTrip(t, part)
	}
	if part := s.Part([]int{9}); part.Columns[7].Quantiles {
		t.Error("a part keeps what was asked of bins")
	}
	if !reflect.DeepEqual(s, mustParse(t, months)) {
		t.Error("Part changed the schema it was taken from")
	}
}

func TestWritingDerivedColumnsThatPointNowhere(t *testing.T) {
	for name, spoil := range map[string]func(*Schema){
		"source outside":     func(s *Schema) { s.Columns[7].From = []int{0, 12} },
		"source below":       func(s *Schema) { s.Columns[7].From = []int{0, -1} },
		"derived source":     func(s *Schema) { s.Columns[8].From = []int{0, 7} },
		"one source":         func(s *Schema) { s.Columns[7].From = []int{0} },
		"unknown derivation": func(s *Schema) { s.Columns[7].Derived = "sum" },
		"a file's column":    func(s *Schema) { s.Columns[8] = s.Columns[0] },
		"label":              func(s *Schema) { s.Label.Position = 8 },
	} {
		s := mustParse(t, months)
		spoil(s)
		if text, err := s.YAML(); err == nil {
			t.Errorf("%s: YAML wrote %s", name, text)
		}
	}
}

// What follows from whole numbers is whole, but for a mean; no column that follows says so itself.
func TestDerivedColumnsOfWholeNumbers(t *testing.T) {
	s := mustParse(t, strings.NewReplacer("upper: 3}", "upper: 3, integer: true}", "upper: 7,",
		"upper: 7, integer: true,", "upper: 5,", "upper: 5, integer: true,").Replace(months))
	if top, mid := s.Columns[7], s.Columns[8]; !top.Integer || mid.Integer {
		t.Errorf("the largest is whole: %t, the mean is: %t", top.Integer, mid.Integer)
	}
	checkRoundTrip(t, s)
}
