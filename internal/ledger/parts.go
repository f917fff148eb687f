// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Parts are disjoint parts of a data set. A row is in at most one part, the same one in neighbouring
// tables. Trainings on different parts therefore do not add up: the spending of the data set is the
// largest spending of any one part (claim G-LEDGER-4).
type Parts struct {
	By    string   `json:"by"`    // the column that determines the part of a row
	Names []string `json:"names"` // its levels, one per part
	// Definition is a hash of how cells are mapped to levels: all jobs must read parts in the same
	// way.
	Definition string `json:"definition"`
}

// maxParts bounds the number of parts in a balance.
const maxParts = 10_000

func (p *Parts) checkParts() error {
	bad := dp.RefuseFor("ledger")
	switch {
	case p == nil:
		return nil
	case !isPlain(p.By) || p.By == "" || p.Definition == "":
		return bad("parts", "must name their column and its definition", fmt.Sprintf("%.200q", p.By))
	case len(p.Names) < 2 || len(p.Names) > maxParts:
		return bad("parts", fmt.Sprintf("must number 2 to %d", maxParts), len(p.Names))
	}
	seen := map[string]bool{}
	for _, name := range p.Names {
		if name == "" || !isPlain(name) || seen[name] {
			return bad("parts", "must have names of their own, each one line of at most 1000 characters", fmt.Sprintf("%.200q", name))
		}
		seen[name] = true
	}
	return nil
}

// checkRequest refuses a job on a part unless the data set was declared with that part, read in the
// same way (4.1), and neighbours of the job keep rows in their parts (4.2). One row more or less is in
// one part. Under replace-one, the job must not protect the column: otherwise a neighbour's row may be
// in another part, and the number of rows of a part would be private.
func (p *Parts) checkRequest(req *Request) error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "ledger", Param: param, Want: want, Got: got,
			Hint: fmt.Sprintf("leave the part out to charge all of data set %q", req.Dataset)}
	}
	switch {
	case req.Part == "":
		return nil
	case p == nil:
		return refuse("part", "must not be given: the data set was declared without parts", fmt.Sprintf("%.200q", req.Part))
	case !slices.Contains(p.Names, req.Part):
		return refuse("part", fmt.Sprintf("must be one of the %d declared", len(p.Names)), fmt.Sprintf("%.200q", req.Part))
	case req.PartsBy != p.By || req.Definition != p.Definition:
		return refuse("parts", fmt.Sprintf("must be by column %q with the levels and aliases as declared", p.By),
			fmt.Sprintf("%.200q", req.PartsBy))
	case req.Terms.Relation == dp.ReplaceOne && slices.Contains(req.Terms.Protected, p.By):
		return refuse("private columns", fmt.Sprintf("must not include %q: a row would change its part between neighbours",
			p.By), req.Terms.Protected)
	}
	return nil
}

// Use is the spending in one place: a part, or the jobs that read all of the data set.
type Use struct {
	Spent, Reserved dp.Price
}

func (u Use) spentPrice() dp.Price   { return u.Spent }
func (u Use) chargedPrice() dp.Price { return addPrices(u.Spent, u.Reserved) }

// account counts what is charged against a limit, by part or cohort, and under "" by jobs on all of
// the data set.
type account struct {
	*declared
	limit dp.Price
	uses  map[string]Use
}

func newAccount(d *declared, limit dp.Price) *account { return &account{d, limit, map[string]Use{}} }

// total adds up one price of each use: that of jobs on all of the data set, and the largest of any part
// or cohort, separately for ε and δ (4.3).
func (a *account) total(of func(Use) dp.Price) dp.Price {
	var most dp.Price
	for name, u := range a.uses {
		if name != "" {
			most = largerPrice(most, of(u))
		}
	}
	return addPrices(of(a.uses[""]), most)
}

// charged returns the amount charged.
func (a *account) charged() dp.Price { return a.total(Use.chargedPrice) }

// addUse adds to the use of each part or cohort that an entry names. Prices may be negative. It reports
// whether the limit allows the new sums, and refuses a part that an entry cannot name.
func (a *account) addUse(part string, u Use) bool {
	names, err := a.partsOf(part)
	if part == "" {
		names = []string{""}
	}
	for _, name := range names { // 5.3
		was := a.uses[name]
		a.uses[name] = Use{addPrices(was.Spent, u.Spent), addPrices(was.Reserved, u.Reserved)}
	}
	sum := a.charged() // of all parts: a limit may have been lowered since they were charged
	return err == nil && sum.Epsilon >= 0 && sum.Epsilon <= a.limit.Epsilon && sum.Delta >= 0 && sum.Delta <= a.limit.Delta
}
