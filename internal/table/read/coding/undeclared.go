// SPDX-License-Identifier: Apache-2.0

package coding

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/plaintext"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Undeclared counts the cells of a column that were not as the schema declares. The numbers are exact
// and as private as the cells.
type Undeclared struct {
	Column     string `json:"column"`
	Missing    int    `json:"missing,omitempty"` // 0 if the schema declares missing cells as a value
	Other      int    `json:"other,omitempty"`
	Clamped    int    `json:"clamped,omitempty"`
	Unreadable int    `json:"unreadable,omitempty"`
}

// Cells is the number of all these cells.
func (u Undeclared) Cells() int { return u.Missing + u.Other + u.Clamped + u.Unreadable }

var fateNames = [Fates]string{Missing: "missing", Other: "other", Clamped: "clamped", Unreadable: "unreadable"}

// Numbers lists all numbers that are not 0, each with the column and what the cells are, as in age.unreadable.
func Numbers(all []Undeclared) iter.Seq2[string, int] {
	return func(yield func(key string, n int) bool) {
		for _, u := range all {
			for fate, n := range (Counts{Missing: u.Missing, Other: u.Other, Clamped: u.Clamped, Unreadable: u.Unreadable}) {
				if n > 0 && !yield(u.Column+"."+fateNames[fate], n) {
					return
				}
			}
		}
	}
}

// AddCounts adds the counts of further rows to sum, which may be shorter.
func AddCounts(sum, more []Counts) []Counts {
	for len(sum) < len(more) {
		sum = append(sum, Counts{})
	}
	for j := range more {
		for fate, n := range more[j] {
			sum[j][fate] += n
		}
	}
	return sum
}

// FindUndeclared returns the columns that have undeclared cells; nil if cells were not counted. counts
// has the columns of s and then, if it was read, the label.
func FindUndeclared(s *schema.Schema, counts []Counts) []Undeclared {
	if counts == nil {
		return nil
	}
	found := []Undeclared{} // [] in JSON
	for j, n := range counts {
		u := Undeclared{Column: s.Label.Name, Missing: n[Missing], Other: n[Other], Clamped: n[Clamped], Unreadable: n[Unreadable]}
		if j < len(s.Columns) {
			if u.Column = s.Columns[j].Name; s.Columns[j].Missing {
				u.Missing = 0
			}
		}
		if u.Cells() > 0 {
			found = append(found, u)
		}
	}
	return found
}

// shownColumns is the number of columns that a text describes one by one.
const shownColumns = 20

// DescribeUndeclared returns a line for each column that has undeclared cells among the given number
// of rows, and one before them.
func DescribeUndeclared(s *schema.Schema, all []Undeclared, rows int) (lines []string) {
	if len(all) == 0 {
		return nil
	}
	lines = append(lines, "some cells are not as the model's schema declares (NOT PRIVATE: exact counts of these rows):")
	for _, u := range all[:min(len(all), shownColumns)] {
		lines = append(lines, fmt.Sprintf("column %q: %s", u.Column, u.describe(s, rows)))
	}
	if more := len(all) - shownColumns; more > 0 {
		lines = append(lines, fmt.Sprintf("%d further columns have such cells", more))
	}
	return lines
}

// describe says what the cells are, and how they are read.
func (u Undeclared) describe(s *schema.Schema, rows int) string {
	text := ""
	for k, r := range u.remarks(s) {
		if k == 0 {
			text = fmt.Sprintf("%d of %s %s", r.cells, plaintext.Count(rows, "cell"), r.text)
		} else {
			text += fmt.Sprintf(", %d %s", r.cells, r.text)
		}
	}
	if u.Cells() >= rows {
		text += "; no cell is as declared"
	}
	return text
}

// Remark says of one cell what it is and how it is read, as in "missing (read as other)".
func (u Undeclared) Remark(s *schema.Schema) string { return u.remarks(s)[0].text }

// remark says something about so many cells.
type remark struct {
	cells int
	text  string
}

func (u Undeclared) remarks(s *schema.Schema) (all []remark) {
	add := func(n int, what, readAs string) {
		if n > 0 {
			all = append(all, remark{n, what + " (read as " + readAs + ")"})
		}
	}
	j := s.Find(u.Column)
	if j < 0 {
		class := "" // an undeclared cell of a label without a default is refused
		if s.Label.Default >= 0 {
			class = s.Label.Levels[s.Label.Default].Value
		}
		add(u.Unreadable, "undeclared", class)
		add(u.Missing, "missing", class)
		return all
	}
	c := &s.Columns[j]
	if c.Kind == schema.Category {
		add(u.Other, "undeclared", "other")
		add(u.Missing, "missing", "other")
		return all
	}
	show := func(x float64) string {
		if c.Date != "" {
			return schema.FormatDate(c.Date, int(x)+c.Since)
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	what, standIn := "unreadable as a number", "missing"
	if c.Date != "" {
		what = "unreadable as a date " + c.Date
	}
	if !c.Missing && c.Default != nil {
		standIn = "the default " + show(c.Clamp(*c.Default))
	}
	add(u.Unreadable, what, standIn)
	add(u.Clamped, "outside "+show(c.Lower)+" to "+show(c.Upper), "the nearer bound")
	add(u.Missing, "missing", standIn)
	return all
}
