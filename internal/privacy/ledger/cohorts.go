// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// A data set may be declared with cohorts: disjoint parts by the values of one public column, of
// which new ones may appear at any time, such as the month in which a person entered. A job names
// the cohorts that it reads and is charged to each of them; so people who enter later come with a
// budget that nothing was taken from (claim G-LEDGER-5).

// Bounds of what a job may name.
const (
	maxCohortNames = 2000 // bytes of the names of one job's cohorts, with commas; an index of PostgreSQL holds 2,704
	maxCohortName  = 100  // bytes of a cohort's name
)

// cohortComma separates the names of cohorts in an entry's part; no name holds one.
const cohortComma = ","

// isCohort holds for names that cohorts may have.
func isCohort(name string) bool {
	return name != "" && len(name) <= maxCohortName && isPlain(name) && !strings.Contains(name, cohortComma) &&
		strings.TrimSpace(name) == name
}

// checkCohorts refuses names that are not those of a set of cohorts, in ascending order.
func checkCohorts(names []string) error {
	bad := func(want string, got any) error {
		return &dp.ParamError{Op: "ledger", Param: "cohorts", Want: want, Got: got}
	}
	if n := len(strings.Join(names, cohortComma)); n > maxCohortNames {
		return bad(fmt.Sprintf("must have at most %d bytes together, with a comma between two", maxCohortNames), n)
	}
	for i, name := range names {
		switch {
		case !isCohort(name):
			return bad(fmt.Sprintf("must have names of 1 to %d bytes on one line, without a comma and without space at "+
				"either end", maxCohortName), fmt.Sprintf("%.200q", name))
		case i > 0 && names[i-1] >= name:
			return bad("must be sorted and named once each", fmt.Sprintf("%.200q", name))
		}
	}
	return nil
}

// checkCohortRequest refuses a job on cohorts unless the data set was declared with cohorts by the
// same public column, whose cells the job reads as the first job on cohorts did: by is
// the declared column, and definition how that first job read it, "" before there is one. Whether
// the column is public under add-remove is not asked of Terms, which list private columns: it must
// be none of them under either relation.
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

// partsOf are the parts that an entry of a data set with these cohorts or parts is charged to, by
// the entry's part: none for a job on all.
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
	return nil, &dp.ParamError{Op: "ledger", Param: "part", Want: "must be declared", Got: fmt.Sprintf("%.200q", part)}
}

// usesByPart adds up the entries of the parts and cohorts that were charged. It reports whether the
// sums are possible.
func (s sums) usesByPart(d *declared) (uses map[string]Use, sound bool) {
	uses, sound = map[string]Use{}, true
	where := map[string]bool{}
	for key := range s {
		where[key.part] = true
	}
	for _, part := range slices.Sorted(maps.Keys(where)) {
		names, err := d.partsOf(part)
		u, ok := s.useOfPart(part)
		sound = sound && ok && err == nil
		for _, name := range names { // 5.3
			uses[name] = Use{addPrices(uses[name].Spent, u.Spent), addPrices(uses[name].Reserved, u.Reserved)}
		}
	}
	return uses, sound
}

func addPrices(p, q dp.Price) dp.Price {
	return dp.Price{Epsilon: p.Epsilon + q.Epsilon, Delta: p.Delta + q.Delta}
}

// shortOf are the cohorts that have less left than price, of those that are named.
func (b *Balance) shortOf(names []string, price dp.Price) (short []string) {
	for _, name := range names {
		if left, err := b.LeftFor(name); err != nil || price.Epsilon > left.Epsilon || price.Delta > left.Delta {
			short = append(short, name)
		}
	}
	return short
}
