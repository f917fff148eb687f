// SPDX-License-Identifier: Apache-2.0

package train

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// SortCohorts returns the named cohorts without repetitions, in ascending order.
func SortCohorts(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// CheckCohorts refuses cohorts that column by of the schema does not have. The column must be public
// and in the file: either a category whose levels are the cohorts, without aliases, or a date whose
// months are the cohorts. The schema must declare that each person is in one cohort only.
func CheckCohorts(op string, names []string, by string, s *schema.Schema) error {
	refuse := func(param, want string, got any, hint string) error {
		return &RequestError{&dp.ParamError{Op: op, Param: param, Want: want, Got: got, Hint: hint}}
	}
	if len(names) == 0 {
		return nil
	}
	const param = "cohorts"
	j := s.Find(by)
	if j < 0 {
		return refuse(param, fmt.Sprintf("must be by column %q, as the ledger has it, and the schema must declare it", by),
			strconv.Quote(s.Name), "")
	}
	c := &s.Columns[j]
	switch {
	case c.Role != schema.Public || c.Derived != schema.InFile:
		return refuse(param, fmt.Sprintf("must be by a public column of the file, and %q is %s", by, c.Role), nil,
			"a person's cohort must not change between neighbouring tables")
	case s.Person != nil && !s.Person.OnePart:
		return refuse("one_part", "must be true if persons are in cohorts: a person with rows in two would be charged for one",
			false, "declare person: {one_part: true} if no person can have rows in two cohorts")
	case c.Kind == schema.Category:
		other := func(l schema.Level) bool { return len(l.Aliases)+len(l.Prefixes) > 0 }
		if c.Buckets > 0 || slices.ContainsFunc(c.Levels, other) {
			return refuse(param, fmt.Sprintf("must be by a column whose levels have no aliases, prefixes or buckets (%q)", by), nil,
				"a cell's own text is its cohort, so that a later schema cannot put a row into another one")
		}
	case c.Date == "":
		return refuse(param, fmt.Sprintf("must be by a category or a date, and column %q is a number", by), nil, "")
	}
	for _, name := range names {
		if !hasCohort(c, name) {
			want := fmt.Sprintf("must be levels of column %q", by)
			if c.Kind != schema.Category {
				want = fmt.Sprintf("must be months of column %q, such as %s", by, c.Month(c.Lower))
			}
			return refuse(param, want, strconv.Quote(name), "")
		}
	}
	return nil
}

// hasCohort reports whether the column that defines cohorts has one of that name.
func hasCohort(c *schema.Column, name string) bool {
	if c.Kind == schema.Category {
		return schema.CodeOf(c.Levels, name) >= 0
	}
	days, ok := schema.ParseDate("YYYY-MM-DD", name+"-01")
	return ok && schema.FormatDate("YYYY-MM", days) == name && c.Month(c.Lower) <= name && name <= c.Month(c.Upper)
}

// defineCohorts hashes everything that determines the cohort of a cell in the column. Levels are not
// part of it: each level is the cell's own text, so that new levels do not move any row to another
// cohort.
func defineCohorts(s *schema.Schema, by string) (string, error) {
	c := &s.Columns[s.Find(by)]
	return hashJSON(struct {
		Missing      bool
		Trim         bool
		Tokens       []string
		Place        int
		Date         string
		Since        int
		Lower, Upper float64
		Default      *float64
		Special      []float64
		Zone         string `json:",omitempty"`
		Days         bool   `json:",omitempty"`
		Quote        string `json:",omitempty"`
		Spelling     string `json:",omitempty"`
	}{c.Missing, s.Dialect.Trim, s.Dialect.Missing, placeOf(s, by), c.Date, c.Since, c.Lower, c.Upper, c.Default, c.Special,
		c.Zone, c.Days, otherQuote(&s.Dialect), s.Dialect.Spelling()})
}

// describeCohorts adds the cohorts that the training read to a model's statement.
func describeCohorts(p *model.Privacy, column string, names []string) {
	describeColumn(p, column)
	p.Unprotected = append(p.Unprotected, fmt.Sprintf("which rows the training read: the rows of the cohorts %s of the public "+
		"column %q", quoteNames(names), column))
}

func quoteNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = strconv.Quote(name)
	}
	return strings.Join(quoted, ", ")
}
