// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// onCohorts is a request for cohorts.
func onCohorts(id string, cohorts ...string) Request {
	req := request(id)
	req.Cohorts, req.PartsBy, req.Definition = cohorts, "entry", "x"
	return req
}

// By hand: each cohort bears what the jobs that named it cost, and all bear what jobs on all cost;
// one that no job has named yet has all that those left.
func TestCohortsAreChargedApart(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		ctx := context.Background()
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 10, CohortBy: "entry"}))
		must(t, charge(ctx, mustJob(t, l, request("all")), 1))
		must(t, charge(ctx, mustJob(t, l, onCohorts("j", "2027-01", "2027-02")), 4))
		must(t, charge(ctx, mustJob(t, l, onCohorts("k", "2027-02", "2027-03")), 5))
		b := balanceOf(t, l)
		if b.Spent != 10 || b.Left != 0 || b.ForNew.Epsilon != 9 || len(b.ByPart) != 3 {
			t.Fatalf("balance %+v", b)
		}
		for i, want := range []PartBalance{
			{"2027-01", Use{Spent: dp.Price{Epsilon: 4}}, dp.Price{Epsilon: 5}},
			{"2027-02", Use{Spent: dp.Price{Epsilon: 9}}, dp.Price{}},
			{"2027-03", Use{Spent: dp.Price{Epsilon: 5}}, dp.Price{Epsilon: 4}},
		} {
			if b.ByPart[i] != want || b.ByPart[i].Retired() != (i == 1) {
				t.Errorf("cohort %+v, want %+v", b.ByPart[i], want)
			}
		}
		var exceeded *Exceeded
		err := charge(ctx, mustJob(t, l, onCohorts("l", "2027-01", "2027-02", "2027-03", "2027-04")), 1)
		if !errors.As(err, &exceeded) || !slices.Equal(exceeded.Cohorts, []string{"2027-02"}) ||
			!strings.Contains(err.Error(), "cohort 2027-02: spent") {
			t.Errorf("beyond what is left of a cohort: %v", err)
		}
		must(t, charge(ctx, mustJob(t, l, onCohorts("m", "2027-03", "2027-04")), 4)) // the old ones retire
		must(t, charge(ctx, mustJob(t, l, onCohorts("n", "2027-05")), 9))            // and new ones come
		if err := charge(ctx, mustJob(t, l, request("all2")), 1); !errors.As(err, &exceeded) {
			t.Errorf("all of the data set after its cohorts: %v", err)
		}
		verify(t, l)
	})
}

// Cohorts are by the column that was declared, which must be public, and read alike by all jobs.
func TestCohortsAreRefusedWhereTheyAreNotProven(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		l := create(t, fresh(t))
		ctx := context.Background()
		must(t, l.Declare(ctx, Dataset{Name: "d", Epsilon: 10, CohortBy: "entry"}))
		must(t, l.Declare(ctx, Dataset{Name: "new", Epsilon: 10, CohortBy: "entry"}))
		must(t, l.Declare(ctx, Dataset{Name: "whole", Epsilon: 10}))
		must(t, l.Declare(ctx, Dataset{Name: "parts", Epsilon: 10, Parts: towns}))
		early := mustJob(t, l, onCohorts("early", "b")) // before any job has said how cohorts are read
		other := onCohorts("other", "c")
		other.Definition = "z"
		late := mustJob(t, l, other)
		price, bought := bill(1)
		must(t, late.reservePrice(ctx, price, bought))
		must(t, charge(ctx, early, 1))
		var p *dp.ParamError
		if err := late.beginReading(ctx); !errors.As(err, &p) {
			t.Errorf("a job that reads cohorts in another way began: %v", err)
		}
		must(t, l.refundJob(ctx, late.name(), late.request))
		for name, change := range map[string]func(*Request){
			"no cohorts declared": func(r *Request) { r.Dataset = "whole" },
			"none, and no column": func(r *Request) { r.Dataset, r.PartsBy = "whole", "" },
			"parts declared":      func(r *Request) { r.Dataset = "parts" },
			"another column":      func(r *Request) { r.PartsBy = "street" },
			"another definition":  func(r *Request) { r.Definition = "y" },
			"no definition":       func(r *Request) { r.Definition = "" },
			"protected column":    func(r *Request) { r.Terms.Protected = []string{"a", "b", "entry"} },
			"protected column, add-remove": func(r *Request) {
				r.Terms.Relation, r.Terms.Protected = dp.AddRemove, []string{"a", "b", "entry"}
			},
			"with a part":  func(r *Request) { r.Part = "a" },
			"not sorted":   func(r *Request) { r.Cohorts = []string{"b", "a"} },
			"named twice":  func(r *Request) { r.Cohorts = []string{"a", "a"} },
			"nameless":     func(r *Request) { r.Cohorts = []string{""} },
			"a comma":      func(r *Request) { r.Cohorts = []string{"a,b"} },
			"a line break": func(r *Request) { r.Cohorts = []string{"a\nb"} },
			"a space":      func(r *Request) { r.Cohorts = []string{"a "} },
			"far too long": func(r *Request) { r.Cohorts = []string{strings.Repeat("a", maxCohortName+1)} },
			"far too many": func(r *Request) { r.Cohorts = append(manyCohorts(maxCohortNames), "z") },
		} {
			// On a data set without jobs nothing else, such as the terms of the first, refuses them.
			for _, dataset := range []string{"d", "new"} {
				req := onCohorts("x", "a")
				req.Dataset = dataset
				if _, err := l.Job(ctx, req); err != nil {
					t.Fatalf("nothing is changed: %v", err)
				}
				change(&req)
				if _, err := l.Job(ctx, req); !errors.As(err, &p) && (dataset != "new" || name != "another definition") {
					t.Errorf("%s of %s: %v", name, dataset, err)
				}
			}
		}
		both := onCohorts("x", "a")
		both.Part = "a" // the data set's parts refuse it earlier
		if err := checkCohortRequest(&both, "entry", ""); !errors.As(err, &p) {
			t.Errorf("a part with cohorts: %v", err)
		}
		for name, d := range map[string]Dataset{
			"parts and cohorts": {Parts: towns, CohortBy: "entry"},
			"two lines":         {CohortBy: "en\ntry"},
		} {
			d.Name, d.Epsilon = "e", 10
			if err := l.Declare(ctx, d); !errors.As(err, &p) {
				t.Errorf("%s: %v", name, err)
			}
		}
		must(t, charge(ctx, mustJob(t, l, onCohorts("most", manyCohorts(maxCohortNames)...)), 1))
		verify(t, l)
	})
}

// manyCohorts are names of cohorts that have so many bytes together.
func manyCohorts(bytes int) (names []string) {
	for n := 0; n+5 <= bytes; n += 5 {
		names = append(names, fmt.Sprintf("%04d", len(names)))
	}
	return names[:len(names):len(names)]
}

// A ledger that holds cohorts is refused by programs that would add them up wrongly, and one that
// holds none is not.
func TestOlderProgramsRefuseCohorts(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) place) {
		p := fresh(t)
		l := declare(t, p)
		if got := formatOf(t, l); got != format {
			t.Errorf("a ledger without cohorts has format %d", got)
		}
		must(t, l.Declare(t.Context(), Dataset{Name: "e", Epsilon: 10, CohortBy: "entry"}))
		if got := formatOf(t, l); got != formatCohorts {
			t.Errorf("a ledger with cohorts has format %d", got)
		}
		p.execute(t, `UPDATE discreet_head SET format = 6`)
		if _, err := Open(t.Context(), p.address); err == nil {
			t.Error("a later format was opened")
		}
	})
}
