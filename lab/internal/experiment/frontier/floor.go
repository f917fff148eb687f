// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// The floor: on no kind of table is the default learner worse than what knows nothing of its columns, and
// protecting less is nowhere worse than protecting everything. Cells are those of a panel, on a new table a fit.

const (
	floorCells   = 300
	floorHeld    = 2000 // rows that test
	floorSlack   = 0.003
	floorFits    = 20   // from which on a cell may seem beyond
	floorRerun   = 100  // fits of a cell that does
	firstOfRerun = 1000 // repeats of the fresh fits
)

// floorFactors are the levels of each factor of the plan: rows, columns, law, rows of a person, what is protected,
// δ, and ε.
var (
	floorRows     = []int{100, 300, 652, 2000, 8000, 50_000}
	floorColumns  = []int{5, 12, 32, 60, 120}
	floorLaws     = []string{"no effect", "few", "many", "rare", "overlapping"}
	floorVisits   = []int{0, 15}
	floorScopes   = []Fit{{Scope: "partly"}, {Scope: "label"}, {Scope: "mixed"}, {Scope: "everything"}, {Scope: "everything", Relation: string(dp.AddRemove)}}
	floorEpsilons = []float64{0.01, 0.03, 0.1, 0.3, 1, 3, 10}
)

// lawOfFloor is a law of so many rows that train.
func lawOfFloor(law string, rows, columns, visits int) *sketch {
	sk := &sketch{rows: rows + floorHeld, numbers: columns, every: 2 + 2*(columns/100), visits: visits, base: -1}
	sk.name = fmt.Sprintf("%d rows, %d columns, %s", rows, columns, law)
	if visits > 0 {
		sk.rows /= visits
		sk.name += ", persons"
	}
	switch law {
	case "few":
		sk.effect = func(k int) float64 { return []float64{0.8, -0.6, 0.4, 0}[min(k, 3)] }
	case "many":
		sk.effect = falling(1.2/math.Sqrt(float64(columns)), 1)
	case "rare":
		sk.base, sk.effect = -3.5, falling(0.6, 0.8)
	case "overlapping":
		sk.latents, sk.latent = 3, falling(0.8, 0.7)
	}
	return sk
}

// open draws a table a repeat.
func (sk *sketch) open(rows int) func(context.Context, *frame.World) (split, error) {
	return func(context.Context, *frame.World) (split, error) {
		return func(repeat int) (train, held *dataset.Table, err error) {
			t, err := sk.draw(uint64(repeat + 1))
			if err != nil {
				return nil, nil, err
			}
			all, n := allRows(t), rows
			if sk.visits > 0 {
				n -= n % sk.visits
			}
			return t.Subset(all[:n]), t.Subset(all[n:]), nil
		}, nil
	}
}

// planFloor covers triples of levels by so many cells, and adds to each that is partly private or has the label alone
// private the one on the same rows with everything private, and to each whose rows are declared the one in which they are
// not. Small tables come first.
func planFloor(cells, repeats, first int) (jobs []job) {
	levels := []int{len(floorRows), len(floorColumns), len(floorLaws), len(floorVisits), len(floorScopes), 2, len(floorEpsilons)}
	r := rand.New(rand.NewPCG(1, 48))
	seen := map[[6]int]bool{}
	triples := func(c []int, do func([6]int)) {
		for i := range c {
			for j := range i {
				for k := range j {
					do([6]int{i, c[i], j, c[j], k, c[k]})
				}
			}
		}
	}
	var chosen [][]int
	for range cells {
		var best []int
		most := -1
		for range 40 {
			c, news := make([]int, len(levels)), 0
			for f, n := range levels {
				c[f] = r.IntN(n)
			}
			triples(c, func(t [6]int) {
				if !seen[t] {
					news++
				}
			})
			if n := floorRows[c[0]] * floorColumns[c[1]]; news > most && (n <= 1_000_000 || c[4] > 1) { // public columns take long
				best, most = c, news
			}
		}
		triples(best, func(t [6]int) { seen[t] = true })
		chosen = append(chosen, best)
	}
	slices.SortStableFunc(chosen, func(a, b []int) int {
		return cmp.Or(floorRows[a[0]]*floorColumns[a[1]]-floorRows[b[0]]*floorColumns[b[1]], slices.Compare(a[:4], b[:4]))
	})
	for _, c := range chosen {
		sk := lawOfFloor(floorLaws[c[2]], floorRows[c[0]], floorColumns[c[1]], floorVisits[c[3]])
		if len(jobs) == 0 || jobs[len(jobs)-1].table != sk.name {
			jobs = append(jobs, job{sk.name, sk.open(floorRows[c[0]]), nil})
		}
		f := floorScopes[c[4]]
		f.Table, f.Relation, f.Delta, f.Epsilon = sk.name, cmp.Or(f.Relation, string(dp.ReplaceOne)), c[5] == 1, floorEpsilons[c[6]]
		add := func(f Fit) {
			j := &jobs[len(jobs)-1]
			if !slices.Contains(j.cells, f) {
				j.cells = append(j.cells, f)
			}
		}
		add(f)
		switch {
		case f.Scope == "partly" || f.Scope == "label":
			f.Scope = "everything"
			add(f)
		case f.Relation == string(dp.AddRemove):
			f.Relation = undeclared
			add(f)
		}
	}
	for i := range jobs {
		jobs[i].repeat(first, repeats)
	}
	return jobs
}

// repeat gives a job of one repeat so many.
func (j *job) repeat(first, repeats int) {
	cells := j.cells
	j.cells = nil
	for k := range repeats {
		for _, f := range cells {
			f.Repeat = first + k
			j.cells = append(j.cells, f)
		}
	}
}

// Floor measures the plan, then once more what seems beyond, on fresh tables.
func (q *Quick) Floor(ctx context.Context) ([]Fit, error) {
	fits, err := q.run(ctx, planFloor(floorCells, q.Repeats, 0))
	if err != nil {
		return nil, err
	}
	again := map[Fit]bool{}
	for _, m := range margins(fits) {
		if m.isBeyond() && m.fits >= floorFits && m.fits < floorRerun {
			again[m.cell] = true
			if m.than == "everything" {
				m.cell.Scope = m.than
				again[m.cell] = true
			}
		}
	}
	jobs := planFloor(floorCells, 1, 0)
	for i := range jobs {
		jobs[i].cells = slices.DeleteFunc(jobs[i].cells, func(f Fit) bool { return !again[f] })
		jobs[i].repeat(firstOfRerun, floorRerun)
	}
	return q.run(ctx, jobs)
}

// margin is how far a cell's mean log loss is above that of what it must not be worse than.
type margin struct {
	cell         Fit
	than         string // constant, public or everything
	fits         int
	mean, stdErr float64
}

func (m *margin) isBeyond() bool { return !(m.mean <= m.bound()) }

func (m *margin) bound() float64 { return floorSlack + 3*m.stdErr }

// margins are those of all cells, the worst first; the fresh fits alone count where there are some.
func margins(fits []Fit) (out []margin) {
	everything, fresh := map[Fit]float64{}, map[Fit]bool{}
	for i := range fits {
		c := fits[i].cell()
		if c.Scope == "everything" {
			everything[c] = fits[i].LogLoss
		}
		c.Repeat = 0
		fresh[c] = fresh[c] || fits[i].Repeat >= firstOfRerun
	}
	type key struct {
		cell Fit
		than string
	}
	values := map[key][]float64{}
	var order []key
	for i := range fits {
		f := &fits[i]
		c := f.cell()
		c.Repeat = 0
		if fresh[c] && f.Repeat < firstOfRerun {
			continue
		}
		add := func(than string, loss float64) {
			k := key{c, than}
			if values[k] == nil {
				order = append(order, k)
			}
			values[k] = append(values[k], f.LogLoss-loss)
		}
		add("constant", f.Constant)
		if f.Public > 0 {
			add("public", f.Public)
		}
		if f.Scope == "partly" || f.Scope == "label" {
			e := f.cell()
			e.Scope = "everything"
			if loss, ok := everything[e]; ok {
				add(e.Scope, loss)
			}
		}
	}
	for _, k := range order {
		m := margin{cell: k.cell, than: k.than, fits: len(values[k])}
		m.mean, m.stdErr = meanOfTables(map[string][]float64{"": values[k]}, "none")
		out = append(out, m)
	}
	slices.SortStableFunc(out, func(a, b margin) int { return cmp.Compare(b.mean-b.bound(), a.mean-a.bound()) })
	return out
}

// PrintMargins prints the cells that are beyond, or the ten nearest to it.
func PrintMargins(out io.Writer, fits []Fit) {
	all := margins(fits)
	for _, than := range []string{"constant", "public", "everything"} {
		cells, beyond := 0, 0
		for i := range all {
			if m := &all[i]; m.than == than {
				cells++
				if m.isBeyond() {
					beyond++
				}
			}
		}
		fmt.Fprintf(out, "log loss less that of %s: %d of %d cells beyond %g and three standard errors\n", than, beyond, cells, floorSlack)
		n := 0
		for i := range all {
			if m := &all[i]; m.than == than && (m.isBeyond() || n < 10) {
				n++
				fmt.Fprintf(out, "  %-42s %s %-24s %+.4f ± %.4f in %d\n", m.cell.Table, map[bool]string{true: "!", false: " "}[m.isBeyond()],
					m.cell.name(), m.mean, m.stdErr, m.fits)
			}
		}
	}
}
