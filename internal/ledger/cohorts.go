// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A data set may be declared with cohorts: disjoint parts by the values of one public column, of
// which new ones may appear at any time, such as the month in which a person entered. A job names
// the cohorts that it reads and is charged to each of them; so people who enter later come with a
// budget that nothing was taken from (claim G-LEDGER-5).

// Limits on the names in a job.
const (
	maxCohortNames = 2000 // bytes of the names of one job's cohorts, with commas; an index of PostgreSQL holds 2,704
	maxCohortName  = 100  // bytes of a cohort's name
)

// cohortComma separates the names of cohorts in an entry's part; no name may contain it.
const cohortComma = ","

// isCohort reports whether a cohort may have this name.
func isCohort(name string) bool {
	return name != "" && len(name) <= maxCohortName && isPlain(name) && !strings.Contains(name, cohortComma) &&
		strings.TrimSpace(name) == name
}

// checkCohorts refuses a list that is not a set of cohort names in ascending order.
func checkCohorts(names []string) error {
	bad := dp.RefuseFor("ledger")
	if n := len(strings.Join(names, cohortComma)); n > maxCohortNames {
		return bad("cohorts", fmt.Sprintf("must have at most %d bytes together, with a comma between two", maxCohortNames), n)
	}
	for i, name := range names {
		switch {
		case !isCohort(name):
			return bad("cohorts", fmt.Sprintf("must have names of 1 to %d bytes on one line, without a comma and without space at "+
				"either end", maxCohortName), fmt.Sprintf("%.200q", name))
		case i > 0 && names[i-1] >= name:
			return bad("cohorts", "must be sorted and named once each", fmt.Sprintf("%.200q", name))
		}
	}
	return nil
}

// checkCohortRequest refuses a job on cohorts unless the data set was declared with cohorts by the
// same public column, and the job reads the column's cells as the first job on cohorts did. by is the
// declared column. definition is how the first job read it, or "" if there was none. The column must
// not be private under either relation; Terms, which list only protected columns, do not show that.
func checkCohortRequest(req *Request, by, definition string) error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "ledger", Param: param, Want: want, Got: got,
			Hint: fmt.Sprintf("leave the cohorts out to charge all of data set %q", req.Dataset)}
	}
	if len(req.Cohorts) == 0 {
		return nil
	}
	if err := checkCohorts(req.Cohorts); err != nil {
		return err
	}
	switch {
	case by == "":
		return refuse("cohorts", "must not be given: the data set was declared without cohorts", req.Cohorts)
	case req.Part != "":
		return refuse("part", "must not be given: a job reads a part or cohorts", fmt.Sprintf("%.200q", req.Part))
	case req.PartsBy != by || req.Definition == "":
		return refuse("cohorts", fmt.Sprintf("must be by column %q, as declared", by), fmt.Sprintf("%.200q", req.PartsBy))
	case slices.Contains(req.Terms.Protected, by): // 5.2
		return refuse("private columns", fmt.Sprintf("must not include %q: which cohort a person is in must be public", by),
			req.Terms.Protected)
	case definition != "" && definition != req.Definition: // 5.1
		return refuse("cohorts", fmt.Sprintf("must read column %q as the first training on cohorts did", by),
			"another reading")
	}
	return nil
}

// partsOf returns the parts or cohorts to which an entry is charged, given the entry's part: none for
// a job on all of the data set.
func (d *declared) partsOf(part string) ([]string, error) {
	switch {
	case part == "":
		return nil, nil
	case d.Parts != nil && slices.Contains(d.Parts.Names, part):
		return []string{part}, nil
	case d.CohortBy != "":
		names := strings.Split(part, cohortComma)
		return names, checkCohorts(names)
	}
	return nil, dp.Refuse("ledger", "part", "must be declared", fmt.Sprintf("%.200q", part))
}

// shortOf returns the named cohorts that have less left than price.
func (b *Balance) shortOf(names []string, price dp.Price) (short []string) {
	for _, name := range names {
		if left, err := b.LeftFor(name); err != nil || price.Epsilon > left.Epsilon || price.Delta > left.Delta {
			short = append(short, name)
		}
	}
	return short
}
