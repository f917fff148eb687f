// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// rowUnits is the number of units that a whole row counts for in counts of rows: 1, or engine.WeightOne if rows
// are weighed by persons.
func (g *Guard) rowUnits() int64 {
	if g.table().Schema().Person == nil {
		return 1
	}
	return engine.WeightOne
}

// publicBins reports whether bins cut public columns alone.
func (g *Guard) publicBins(bins []feature.Bins) bool {
	for k := range bins {
		for _, j := range bins[k].Columns() {
			if g.protects.column(j) {
				return false
			}
		}
	}
	return true
}

// publicScore reports whether a score is of public columns alone.
func (g *Guard) publicScore(f *feature.Additive) bool {
	if f == nil {
		return true
	}
	for k := range f.Shapes {
		if !g.publicBins([]feature.Bins{f.Shapes[k].Bins}) {
			return false
		}
	}
	return true
}

// oneCell seals values of which a row adds at most den to one cell of each of so many vectors.
func (g *Guard) oneCell(values []mech.Ratio, vectors int, public bool) *Sum {
	m := OneCellOfEach(g.Schema().Relation, vectors).Times(g.most)
	return &Sum{of: g, values: inside.Seal(values), moves: m, public: public, cells: vectors}
}

// Caps bound what a row of each class weighs, the positive one's first, in units of
// 1/engine.WeightOne. A row that weighs more counts for its cap (1.6).
type Caps [2]uint32

// Weight is what a row of some margin weighs: see statistic.Weight.
func Weight(margin int64) uint64 { return statistic.Weight(margin) }

// WeightOne is the number of units that make the weight 1: see engine.WeightOne.
const WeightOne = engine.WeightOne

// FullCaps cut nothing.
var FullCaps = Caps{engine.WeightOne, engine.WeightOne}

// Cells are sealed weights of rows by column, bin and label.
type Cells struct {
	of        *Guard
	caps      Caps
	sums      inside.Sealed[[]statistic.CellSums]
	asked     any
	public    bool // no protected cell has a part in them
	labelOnly bool // only the label of a row is protected in them
}

// Cells adds up, for each of bins, the weights of the rows in each bin by label: see statistic.Cells.
// Each weight is at most the cap of its class, which is 1 to engine.WeightOne. One pass.
func (g *Guard) Cells(ctx context.Context, f *feature.Additive, bins []feature.Bins, caps Caps) (*Cells, error) {
	for _, c := range caps {
		if c < 1 || c > engine.WeightOne {
			return nil, fmt.Errorf("guard: caps of weights must be 1 to %d", engine.WeightOne)
		}
	}
	sums, err := statistic.Cells{Under: f, Bins: bins, Caps: statistic.Caps(caps)}.Of(ctx, g.table())
	if err != nil {
		return nil, err
	}
	open := g.publicBins(bins) && g.publicScore(f)
	return &Cells{g, caps, inside.Seal(sums), g.asked(), open && !g.protects.label, open}, nil
}

// Caps are those of the weights.
func (c *Cells) Caps() Caps { return c.caps }

// Part is the weights of one of the bins that were asked for, as two values a bin: the positive
// class's and the other's, each in parts of its cap.
func (c *Cells) Part(k int) *Sum {
	sums := &c.sums()[k]
	values := make([]mech.Ratio, 0, 2*len(sums.Positive))
	for b := range sums.Positive {
		values = append(values, mech.Ratio{Num: sums.Positive[b], Den: int64(c.caps[0])},
			mech.Ratio{Num: sums.Negative[b], Den: int64(c.caps[1])})
	}
	return c.of.oneCell(values, 1, c.public).formed(c.asked, CellsPart, k, nil)
}

// Imbalances scores some of the bins by how far their cells are from balance, Σ |positive −
// negative| in weight. A row moves a score by at most its weight each time it appears or leaves; if
// only its label is protected it stays in its bin (3.3).
func (c *Cells) Imbalances(parts []int) *Scores {
	values := make([]mech.Ratio, len(parts))
	for i, k := range parts {
		values[i] = mech.Ratio{Num: sumDistances(c.sums()[k].Positive, c.sums()[k].Negative), Den: engine.WeightOne}
	}
	s := &Scores{of: c.of, values: inside.Seal(values)}
	switch {
	case c.labelOnly && c.of.terms.Scope == dp.LabelOnly:
		s.spread = 2 * float64(c.of.most) * float64(int64(c.caps[0])+int64(c.caps[1])) / engine.WeightOne
	default:
		l1 := OneCell(c.of.Schema().Relation).Times(c.of.most).L1
		s.spread = 2 * l1 * float64(max(c.caps[0], c.caps[1])) / engine.WeightOne
	}
	return s
}

// sumDistances is Σ |a − b|.
func sumDistances(a, b []int64) (sum int64) {
	for i := range a {
		d := a[i] - b[i]
		sum += max(d, -d)
	}
	return sum
}

// ClassCells are sealed counts of rows by column, class and bin, or what the rows weigh.
type ClassCells struct {
	of     *Guard
	cells  inside.Sealed[[]statistic.ClassCounts]
	public []bool // by column
	asked  any
}

// ClassCells counts, for each of bins, the rows of each class in each bin. One pass.
func (g *Guard) ClassCells(ctx context.Context, bins []feature.Bins) (*ClassCells, error) {
	cells, err := statistic.ClassCells{Bins: bins}.Of(ctx, g.table())
	if err != nil {
		return nil, err
	}
	out := &ClassCells{g, inside.Seal(cells), make([]bool, len(bins)), g.asked()}
	for k := range bins {
		out.public[k] = !g.protects.label && g.publicBins(bins[k:k+1])
	}
	return out, nil
}

// Part is the counts of one of the bins by class, then bin.
func (c *ClassCells) Part(k int) *Sum {
	var values []mech.Ratio
	for _, byBin := range c.cells()[k].Rows {
		for _, rows := range byBin {
			values = append(values, mech.Ratio{Num: rows, Den: c.of.rowUnits()})
		}
	}
	return c.of.oneCell(values, 1, c.public[k]).formed(c.asked, ClassPart, k, nil)
}

// Classes is the number of rows of each class, or what they weigh. It is public if the label is.
func (c *ClassCells) Classes() *Sum {
	values := make([]mech.Ratio, len(c.cells()[0].Rows))
	for class, byBin := range c.cells()[0].Rows {
		values[class].Den = c.of.rowUnits()
		for _, rows := range byBin {
			values[class].Num += rows
		}
	}
	return c.of.oneCell(values, 1, !c.of.protects.label).formed(c.asked, AllOfClass, 0, nil)
}

// Class is the number of rows of one class of two. If the number of all rows is public, a
// neighbour moves it by 1.
func (c *ClassCells) Class(class int) *Sum {
	s := c.Classes().formed(c.asked, OneClass, class, nil)
	s.values = inside.Seal(s.values()[class : class+1])
	if c.of.Schema().Relation == dp.ReplaceOne && c.of.most == 1 {
		s.moves, s.cells = Moves{1, 1}, 0
	}
	return s
}

// rowsOf is the counts of one of the bins whatever the class, by bin.
func (c *ClassCells) rowsOf(k int) []mech.Ratio {
	values := make([]mech.Ratio, len(c.cells()[k].Rows[0]))
	for b := range values {
		values[b].Den = c.of.rowUnits()
		for class := range c.cells()[k].Rows {
			values[b].Num += c.cells()[k].Rows[class][b]
		}
	}
	return values
}

// AllClasses is the counts of one of the bins whatever the class, by bin, once more by runs of bins
// and then as they are: run says which of so many runs a bin is in. Each is one cell of a row.
func (c *ClassCells) AllClasses(k, runs int, run func(bin int) int) *Sum {
	rows, values := c.rowsOf(k), make([]mech.Ratio, runs)
	for r := range values {
		values[r].Den = c.of.rowUnits()
	}
	runOf := make([]int, len(rows))
	for b := range rows {
		runOf[b] = run(b)
		if r := runOf[b]; r < runs { // else it would be counted as a bin, too
			values[r].Num += rows[b].Num
		}
	}
	return c.of.oneCell(append(values, rows...), 2, c.public[k]).formed(c.asked, ClassesOnce, k, append(runOf, runs))
}

// Rows is the counts of one of the bins whatever the class, by bin.
func (c *ClassCells) Rows(k int) *Sum {
	return c.of.oneCell(c.rowsOf(k), 1, c.public[k]).formed(c.asked, RowsPart, k, nil)
}

// Join puts sums of counts side by side, to be measured together.
func (g *Guard) Join(sums ...*Sum) (*Sum, error) {
	var values []mech.Ratio
	vectors, public := 0, true
	var forms []Form
	for _, s := range sums {
		if s.of != g || s.cells == 0 {
			return nil, fmt.Errorf("guard: only counts of one guard can be joined")
		}
		values, vectors, public = append(values, s.values()...), vectors+s.cells, public && s.public
		forms = append(forms, s.forms...)
	}
	all := g.oneCell(values, vectors, public)
	all.forms = forms
	return all, nil
}
