// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/deepcopy"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// readsPublic reports whether all that a statistic reads of a row, but for its label, is public.
func (g *core) readsPublic(s engine.Statistic) bool {
	return !slices.ContainsFunc(engine.ColumnsRead(s, 0), g.protects.column)
}

// ratios converts units into ratios; den units make 1.
func ratios(units []int64, den int64) []mech.Ratio {
	out := make([]mech.Ratio, len(units))
	for i, n := range units {
		out[i] = mech.Ratio{Num: n, Den: den}
	}
	return out
}

// oneCell seals values in which a row adds at most den to one cell of each of the given number of
// vectors.
func (r reading) oneCell(values []mech.Ratio, vectors int, public bool) *Sum {
	s := r.sum(values, OneCellOfEach(r.relation(), vectors).Times(r.most), public)
	s.cells, s.most = vectors, r.most
	return s
}

// Caps bound what a row of each class weighs, and a row that weighs more counts for its cap (1.6): see
// statistic.Caps.
type Caps = statistic.Caps

// FullCaps cut nothing.
var FullCaps = statistic.FullCaps

// Weight is the weight of a row with the given margin: see statistic.Weight.
func Weight(margin int64) uint64 { return statistic.Weight(margin) }

// WeightOne is the number of units of the weight 1: see engine.WeightOne.
const WeightOne = engine.WeightOne

// Cells are sealed weights of rows by column, bin and label.
type Cells struct {
	of        reading
	caps      Caps
	sums      inside.Sealed[[]statistic.CellSums]
	asked     any
	public    bool // they depend on no protected cell
	labelOnly bool // they protect only the label of a row
}

// Cells adds up, for each of bins, the weights of the rows in each bin by label: see statistic.Cells.
// Each weight is at most the cap of its class. One pass.
func (g *Guard) Cells(f *feature.Additive, bins []feature.Bins, caps Caps) (*Cells, error) {
	r, of := g.read(), deepcopy.Of(statistic.Cells{Under: f, Bins: bins, Caps: caps})
	sums, err := of.Of(g.context(), r.table())
	if err != nil {
		return nil, err
	}
	open := g.readsPublic(of)
	return &Cells{r, caps, inside.Seal(sums), g.asked(), open && !g.protects.label, open}, nil
}

// Caps returns the caps of the weights.
func (c *Cells) Caps() Caps { return c.caps }

// Part returns the weights for one of the requested bins, two values per bin: for the positive class
// and for the other, each in units of its cap.
func (c *Cells) Part(k int) *Sum {
	sums := &c.sums()[k]
	values := make([]mech.Ratio, 0, 2*len(sums.Positive))
	for b := range sums.Positive {
		values = append(values, mech.Ratio{Num: sums.Positive[b], Den: int64(c.caps[0])},
			mech.Ratio{Num: sums.Negative[b], Den: int64(c.caps[1])})
	}
	return c.of.oneCell(values, 1, c.public).formed(c.asked, CellsPart, k, nil)
}

// Imbalances scores some of the bins by the imbalance of their cells, Σ |positive − negative| in
// weight. A row changes a score by at most its weight each time it appears or disappears; if only its
// label is protected, it stays in its bin (3.3).
func (c *Cells) Imbalances(parts []int) *Scores {
	distances := make([]int64, len(parts))
	for i, k := range parts {
		distances[i] = sumDistances(c.sums()[k].Positive, c.sums()[k].Negative)
	}
	spread := 2 * OneCell(c.of.relation()).Times(c.of.most).L1 * float64(max(c.caps[0], c.caps[1])) / engine.WeightOne
	if c.labelOnly && c.of.terms.Scope == dp.LabelOnly {
		spread = 2 * float64(c.of.most) * float64(int64(c.caps[0])+int64(c.caps[1])) / engine.WeightOne
	}
	return c.of.scores(ratios(distances, engine.WeightOne), spread)
}

// sumDistances returns Σ |a − b|.
func sumDistances(a, b []int64) (sum int64) {
	for i := range a {
		d := a[i] - b[i]
		sum += max(d, -d)
	}
	return sum
}

// ClassCells are sealed counts, or weights, of rows by column, class and bin.
type ClassCells struct {
	of     reading
	cells  inside.Sealed[[][][]int64] // by bins, class and bin
	public []bool                     // by column
	asked  any
}

// ClassCells counts, for each of bins, the rows of each class in each bin. It takes one pass.
func (g *Guard) ClassCells(bins []feature.Bins) (*ClassCells, error) {
	r, bins := g.read(), deepcopy.Of(bins)
	cells, err := statistic.ClassCells{Bins: bins}.Of(g.context(), r.table())
	if err != nil {
		return nil, err
	}
	out := &ClassCells{r, inside.Seal(cells), make([]bool, len(bins)), g.asked()}
	for k := range bins {
		out.public[k] = !g.protects.label && g.readsPublic(statistic.ClassCells{Bins: bins[k : k+1]})
	}
	return out, nil
}

// counts seals counts of rows, of which a row is in one cell of each of so many vectors.
func (c *ClassCells) counts(rows []int64, vectors int, public bool) *Sum {
	return c.of.oneCell(ratios(rows, c.of.units), vectors, public)
}

// Part is the counts of one of the bins by class, then bin.
func (c *ClassCells) Part(k int) *Sum {
	return c.counts(slices.Concat(c.cells()[k]...), 1, c.public[k]).formed(c.asked, ClassPart, k, nil)
}

// Classes returns the number, or weight, of rows of each class. It is public if the label is.
func (c *ClassCells) Classes() *Sum {
	rows := make([]int64, len(c.cells()[0]))
	for class, byBin := range c.cells()[0] {
		for _, n := range byBin {
			rows[class] += n
		}
	}
	return c.counts(rows, 1, !c.of.protects.label).formed(c.asked, AllOfClass, 0, nil)
}

// Class returns the number of rows of one class of two. If the total number of rows is public, a
// neighbour changes it by 1.
func (c *ClassCells) Class(class int) *Sum {
	s := c.Classes().formed(c.asked, OneClass, class, nil)
	s.values = inside.Seal(s.values()[class : class+1])
	if c.of.relation() == dp.ReplaceOne && c.of.most == 1 {
		s.moves, s.cells = Moves{1, 1}, 0
	}
	return s
}

// rowsOf is the counts of one of the bins whatever the class, by bin.
func (c *ClassCells) rowsOf(k int) []int64 {
	rows := make([]int64, len(c.cells()[k][0]))
	for _, byBin := range c.cells()[k] {
		for b, n := range byBin {
			rows[b] += n
		}
	}
	return rows
}

// AllClasses returns the counts for one of the bins over all classes twice: by runs of bins, and by
// bin. runOf holds the run of each bin, of so many. Each row is in one cell of both.
func (c *ClassCells) AllClasses(k, runs int, runOf []int) *Sum {
	rows, byRun := c.rowsOf(k), make([]int64, runs)
	runOf = append(make([]int, 0, len(rows)+1), runOf[:len(rows)]...)
	for b, r := range runOf {
		if r >= 0 && r < runs { // else it would be counted as a bin, too
			byRun[r] += rows[b]
		}
	}
	return c.counts(append(byRun, rows...), 2, c.public[k]).formed(c.asked, ClassesOnce, k, append(runOf, runs))
}

// Rows returns the counts for one of the bins over all classes, by bin.
func (c *ClassCells) Rows(k int) *Sum {
	return c.counts(c.rowsOf(k), 1, c.public[k]).formed(c.asked, RowsPart, k, nil)
}

// Join concatenates sums of counts, so that they can be measured together.
func (g *Guard) Join(sums ...*Sum) (*Sum, error) {
	var values []mech.Ratio
	vectors, most, public := 0, 1, true
	var forms []Form
	for _, s := range sums {
		if s.of != g.core || s.cells == 0 {
			return nil, fmt.Errorf("guard: only counts of one guard can be joined")
		}
		values, vectors, public = append(values, s.values()...), vectors+s.cells, public && s.public
		most = max(most, s.most)
		forms = append(forms, s.forms...)
	}
	all := reading{g.core, rows{most: most}}.oneCell(values, vectors, public)
	all.forms = forms
	return all, nil
}
