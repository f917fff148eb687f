// SPDX-License-Identifier: Apache-2.0

package noninterference

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// choices is the input of a search: each byte is one decision, so that a fuzzer that
// changes a byte changes one decision. After its end every decision is the first.
type choices []byte

func (c *choices) next(n int) int {
	if len(*c) == 0 {
		return 0
	}
	b := int((*c)[0])
	*c = (*c)[1:]
	return b % n
}

// setting is everything public about a case.
type setting struct {
	classes      int
	relation     dp.Relation
	privateLabel bool
	onlyPrivate  bool // no public column
	quantiles    bool // bins of a number that are to be found
	derived      bool
	pairs        bool
	persons      int // what a person's rows count for; 0 if each row is a unit of its own
	wide         int // derived columns beyond the first
}

func readSetting(c *choices) (s setting) {
	s.classes = []int{2, 3, 2, 3, 2, 3, 5, 12}[c.next(8)]
	s.relation = []dp.Relation{dp.ReplaceOne, dp.AddRemove}[c.next(2)]
	bits := c.next(128)
	if bits >= 96 { // of a quarter of the cases
		s.persons = 1 + bits&16>>3
	}
	s.privateLabel, s.onlyPrivate, s.quantiles, s.derived, s.pairs = bits&1 > 0, bits&2 > 0, bits&4 > 0, bits&8 > 0,
		bits&16 > 0
	if s.derived && c.next(8) == 7 {
		s.wide = 33
	}
	return s
}

// labels are the values of the label, as many as there are classes.
var labels = []string{"no", "yes", "maybe", "d", "e", "f", "g", "h", "i", "j", "k", "l"}

// yaml is the schema in words.
func (s setting) yaml() string {
	role := map[bool]string{false: "public", true: "private"}
	var b strings.Builder
	fmt.Fprintf(&b, `name: searched
unit: one row
relation: %s
file: {delimiter: ",", quote: "", header: true, missing: ["?"]}
columns:
  - {name: place, role: %[2]s, category: {levels: [a, b, c], missing: true}}
  - {name: age, role: %[2]s, number: {lower: 0, upper: 100, default: 40}}
  - {name: pay, role: private, number: {lower: 0, upper: 10, default: 2%s}}
  - {name: kind, role: private, category: {levels: [x, "y", z], missing: true}}
  - {name: gain, role: private, number: {lower: 0, upper: 100000, transform: log1p, default: 0,
      missing: true, special: [1000]}}
  - {name: pid, role: ignored}
`, s.relation, role[s.onlyPrivate], map[bool]string{true: ", bins: quantiles"}[s.quantiles])
	fmt.Fprintf(&b, "  - {name: class, role: %s, label: {levels: [\"%s\"], default: \"no\"", role[s.privateLabel],
		strings.Join(labels[:s.classes], `", "`))
	if s.classes == 2 {
		b.WriteString(`, positive: "yes"`)
	}
	b.WriteString("}}\n")
	if s.derived {
		b.WriteString("derived:\n  - {name: older, largest: [age, pay]}\n")
		for i := range s.wide {
			fmt.Fprintf(&b, "  - {name: older%d, largest: [age, pay]}\n", i)
		}
	}
	if s.pairs {
		b.WriteString("pairs:\n  - [kind, pay]\n")
	}
	if s.persons > 0 {
		fmt.Fprintf(&b, "person: {column: pid, rows: %d}\n", s.persons)
	}
	return b.String()
}

// cells are what may stand in each column. Numbers have their bounds,
// what lies beyond, what lies beside them and what cannot be read.
var cells = [...][]string{
	{"a", "b", "c", "?", "", "zz"},
	{"0", "100", "50", "50.5", "-1", "101", "1e300", "?", "", "old", "99.999999999999"},
	{"0", "10", "5", "2", "2.5", "-7", "1e9", "-1e300", "?", "", "much", "0.0000001", "9.99999999"},
	{"x", "y", "z", "?", "", "zz"},
	{"0", "100000", "1", "1000", "99999.5", "-3", "1e308", "?", "", "none"},
}

// cellsOf are what may stand in a column, or as the label after them.
func cellsOf(j, classes int) []string {
	if j < len(cells) {
		return cells[j]
	}
	return append(labels[:classes:classes], "?", "", "perhaps")
}

// pattern is what the rows have in common.
type pattern int

const (
	mixed     pattern = iota // any cells, readable or not
	readable                 // any that can be read
	equal                    // one row, again and again
	separable                // every column says the label
	oneClass                 // any cells, one label
	ties                     // equal rows of both labels
	crowded                  // all rows in one cell of each private column
	middling                 // no number near its bounds
	patterns
)

var sizes = []int{1, 2, 3, 8, 24, 60}

// row is the cells of a row, the label after the columns, and last who it is of.
type row [whose + 1]string

const whose = len(cells) + 1

// table is the rows of a table. Without persons each row is of somebody else.
type table []row

func (t table) text() string {
	var b strings.Builder
	b.WriteString("place,age,pay,kind,gain,class,pid\n")
	for _, r := range t {
		b.WriteString(strings.Join(r[:], ",") + "\n")
	}
	return b.String()
}

// of returns the rows that the person has, and the others.
func (t table) of(person string) (own, others table) {
	for _, r := range t {
		if r[whose] == person {
			own = append(own, r)
		} else {
			others = append(others, r)
		}
	}
	return own, others
}

// crowd is how many rows persons have.
type crowd int

const (
	pairs   crowd = iota // two each, the last maybe one
	singles              // one each
	several              // one to nine each
	one                  // one person has all rows but the first
	crowds
)

// assign says whose the rows are.
func (t table) assign(of crowd, src *rand.Rand) {
	person, left := 0, 1
	for i := range t {
		if left == 0 {
			person, left = person+1, map[crowd]int{pairs: 2, singles: 1, several: 1 + src.IntN(9), one: len(t)}[of]
		}
		t[i][whose] = strconv.Itoa(person)
		left--
	}
}

// readTable makes a table of so many rows, or of a number that c chooses.
func readTable(c *choices, s setting, rows int) table {
	p := pattern(c.next(int(patterns)))
	if size := sizes[c.next(len(sizes))]; rows == 0 {
		rows = size
	}
	src := rand.New(rand.NewPCG(uint64(c.next(256)), 0))
	readableOf := [whose]int{3, 4, 5, 3, 5, s.classes}
	draw := func(all bool) (r row) {
		for j, n := range readableOf {
			of := cellsOf(j, s.classes)
			if all && src.IntN(2) == 0 {
				n = len(of)
			}
			r[j] = of[src.IntN(n)]
		}
		return r
	}
	t := make(table, rows)
	first := draw(p == mixed)
	for i := range t {
		switch t[i] = draw(p == mixed); p {
		case equal:
			t[i] = first
		case separable:
			class := i % min(s.classes, 3)
			t[i] = row{cells[0][class], []string{"0", "100", "50"}[class], []string{"0", "10", "5"}[class],
				cells[3][class], []string{"0", "100000", "300"}[class], labels[class]}
		case oneClass:
			t[i][5] = first[5]
		case ties:
			t[i] = first
			t[i][5] = labels[i%s.classes]
		case crowded:
			copy(t[i][2:5], first[2:5])
		case middling:
			t[i][1], t[i][2], t[i][4] = []string{"50", "49"}[i%2], []string{"5", "4", "6"}[i%3], []string{"1000", "800"}[i%2]
		}
	}
	of := singles
	if s.persons > 0 {
		of = crowd(c.next(int(crowds)))
	}
	t.assign(of, src)
	return t
}

// rewrite changes protected cells of a row.
func (r *row) rewrite(c *choices, s *schema.Schema, scope dp.Scope) {
	for j := range whose {
		of := cellsOf(j, s.Classes())
		choice := c.next(2 * len(of))
		if protects(s, scope, j) && choice < len(of) {
			r[j] = of[choice]
		}
	}
}

// more are the numbers of rows that a person may have more than before.
var more = []int{0, 0, 1, 2, 5, 70}

// neighbour changes the protected cells of one row, or of all rows of one person, who may get more if
// grows is set, or under add-remove takes the rows away. It returns how many units differ at most: one
// that is replaced is, under add-remove, one that goes and one that comes.
func neighbour(c *choices, t table, s *schema.Schema, scope dp.Scope, grows bool) (out table, units float64) {
	person := t[(c.next(256)*256+c.next(256))%len(t)][whose]
	units = 1
	if s.Relation == dp.AddRemove {
		if c.next(3) > 0 {
			_, others := t.of(person)
			return others, units
		}
		units = 2
	}
	out = slices.Clone(t)
	for i := range out {
		if out[i][whose] == person {
			out[i].rewrite(c, s, scope)
		}
	}
	if grows && s.Person != nil && scope == dp.WholeRow {
		own, _ := out.of(person)
		out = append(out, slices.Repeat(own[:1], more[c.next(len(more))])...)
	}
	return out, units
}

// stranger is any table in which all that is public is the same: each row's protected cells are others,
// and their number if it is protected.
func stranger(c *choices, t table, set setting, s *schema.Schema, scope dp.Scope) table {
	if s.Relation == dp.AddRemove {
		return readTable(c, set, []int{1, 60, 400, 2_000}[c.next(4)])
	}
	out := slices.Clone(t)
	for i := range out {
		out[i].rewrite(c, s, scope)
	}
	return out
}

// protects reports whether column j, or the label after them, is protected: by the scope, or because the schema
// declares it private, whatever a plan says of its scope.
func protects(s *schema.Schema, scope dp.Scope, j int) bool {
	declared := s.Label.Role
	if j < len(cells) {
		declared = s.Columns[j].Role
	}
	return declared == schema.Private || scope == dp.WholeRow || j == len(cells) && scope != dp.PrivateFeatures
}
