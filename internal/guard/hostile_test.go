// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/privacy/accounting"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// hostile is a learner that asks anything, at any share, and writes down all that it gets. What it
// does next depends on all of that, so that a difference between neighbours spreads.
type hostile struct {
	g     *guard.Guard
	s     *schema.Schema
	src   rng.Source
	bill  []dp.Event
	seen  strings.Builder
	next  int // line of the bill
	group int // rows of a unit
	rows  *mistakes.Rows
	*log
}

// log is what a learner and those inside it did.
type log struct {
	did      map[string]bool // methods that answered
	passages []passage       // as the tape has them
}

// passage is who made what left, and how many rows of the guard that released it are one unit.
type passage struct {
	of   string
	rows int
}

// answered notes that a method gave an answer.
func (h *hostile) answered(method string) { h.did[method] = true }

// left notes that what a method made has left.
func (h *hostile) left(method string) {
	h.next++
	h.passages = append(h.passages, passage{method, h.group})
}

func (h *hostile) draw(n int) int { return int(rng.Below(h.src, uint64(n))) }

// number is anything, odd values among them.
func (h *hostile) number() float64 {
	odd := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e-300, 0x1p62}
	if k := h.draw(3 * len(odd)); k < len(odd) {
		return odd[k]
	}
	return float64(h.draw(2001)-1000) / 100
}

func (h *hostile) note(what string, values ...any) {
	fmt.Fprintf(&h.seen, "%s %v\n", what, values)
}

// share is often right, and otherwise anything.
func (h *hostile) share() (label string, s guard.Share) {
	label = fmt.Sprintf("measurement %d", h.next)
	if len(h.bill) > 1 && h.next < len(h.bill) && h.draw(8) > 0 {
		e := h.bill[h.next]
		label, s = e.Release, guard.Share{Rho: e.Rho}
		if e.Rho == 0 {
			s.Epsilon = e.Epsilon
		}
		return label, s
	}
	s.Epsilon = dp.Epsilon(h.draw(int(dp.Nano) / 2))
	if h.bill[0].Rho > 0 && h.draw(2) == 0 {
		return label, guard.Share{Rho: dp.Rho(h.draw(100_000_000_000))}
	}
	switch h.draw(12) {
	case 0:
		s.Epsilon = -s.Epsilon
	case 1:
		s.Epsilon = 100 * dp.Nano
	case 2:
		s.Epsilon, s.Rho = 0, dp.Rho(h.draw(1_000_000_000))
	case 3:
		s.Rho = dp.Rho(h.draw(1_000_000_000))
	case 4:
		s.Gamma = true
	}
	return label, s
}

func (h *hostile) measure(of string, s *guard.Sum) {
	if h.draw(2) == 0 {
		s = s.Reversed()
		h.answered("Sum.Reversed")
	}
	if h.draw(2) == 0 {
		out, err := h.g.Exact(s)
		h.note("exact", s.Len(), out, err)
		h.answered("Guard.Exact")
	}
	label, share := h.share()
	out, err := h.g.Measure(label, share, s)
	if err == nil {
		h.left(of)
		h.answered("Guard.Measure")
	}
	h.note("measured", s.Len(), label, out, err)
}

func (h *hostile) choose(of string, s *guard.Scores) {
	for range []int{h.draw(3), 12}[h.draw(20)/19] {
		s.AddOffset(h.draw(s.Len()), int64(h.number()))
	}
	label, share := h.share()
	out, err := h.g.Select(label, share, s)
	if err == nil {
		h.left(of)
		h.answered("Guard.Select")
	}
	h.note("selected", s.Len(), s.Spread(), label, out, err)
}

// length is n, or a number that is wrong.
func (h *hostile) length(n int) int {
	if h.draw(40) > 0 {
		return n
	}
	return max(1, n+h.draw(5)-2)
}

// bins cuts any column in any way, and some in ways that fit no column.
func (h *hostile) bins() feature.Bins {
	b := h.goodBins()
	switch h.draw(150) {
	case 0:
		b.Column = h.draw(len(h.s.Columns)+2) - 1
	case 1:
		b.Edges = append(slices.Clone(b.Edges), h.number(), h.number())
	case 2:
		b = feature.NewGroups(b.Column, make([]uint32, h.draw(4)), 1+h.draw(2))
	case 3:
		b = feature.NewGroups(b.Column, []uint32{0, 1, 2, 3, 4, 5, 6, 7}, 2)
	case 4:
		b = feature.Cross(b, feature.Cross(h.goodBins(), h.goodBins()))
	}
	return b
}

func (h *hostile) goodBins() feature.Bins {
	features := h.s.Features()
	j := features[h.draw(len(features))]
	c := &h.s.Columns[j]
	if c.Kind == schema.Category {
		if h.draw(2) == 0 {
			return feature.NewBins(h.s, j, nil)
		}
		of := make([]uint32, c.Codes())
		for i := range of {
			of[i] = uint32(h.draw(3))
		}
		return feature.NewGroups(j, of, 3)
	}
	var edges []float64
	for range h.draw(4) {
		edges = append(edges, c.Lower+(c.Upper-c.Lower)*float64(h.draw(101))/100)
	}
	slices.Sort(edges)
	return feature.NewBins(h.s, j, slices.Compact(edges))
}

func (h *hostile) someBins(pairs bool) (out []feature.Bins) {
	for range 1 + h.draw(3) {
		b := h.bins()
		if pairs && h.draw(4) == 0 {
			b = feature.Cross(b, h.bins())
		}
		out = append(out, b)
	}
	if pairs && h.draw(5) == 0 {
		out = append(out, feature.CutScore(h.score(), []float64{-1, 0, 2}))
	}
	return out
}

func (h *hostile) score() *feature.Additive {
	f := &feature.Additive{Intercept: h.number()}
	for range h.draw(3) {
		b := h.bins()
		steps := make([]float64, h.length(b.Len()))
		for i := range steps {
			steps[i] = h.number()
		}
		f.Shapes = append(f.Shapes, feature.Shape{Bins: b, Steps: steps})
	}
	return f
}

func (h *hostile) levelShape(classes int) *feature.LevelShape {
	sh := &feature.LevelShape{Bins: h.bins()}
	for range h.length(classes) {
		steps := make([]float64, h.length(sh.Bins.Len()))
		for i := range steps {
			steps[i] = h.number()
		}
		sh.Steps = append(sh.Steps, steps)
	}
	return sh
}

func (h *hostile) start(classes int) (start []float64) {
	for range h.length(classes) {
		start = append(start, h.number())
	}
	return start
}

// runs says which run each bin is of, some of none.
func (h *hostile) runs(bins int) []int {
	runs := make([]int, bins)
	for b := range runs {
		runs[b] = b%(2+h.draw(2)) - h.draw(20)/19
	}
	return runs
}

// act does one thing; what it dies of is seen.
func (h *hostile) act() {
	switch h.draw(11) {
	case 0, 1:
		h.guarded(h.askMistakes)
	case 2:
		h.guarded(h.askPublic)
	case 3:
		h.guarded(h.trainInside)
	default:
		names := slices.Sorted(maps.Keys(questions))
		h.ask(names[h.draw(len(names))])
	}
}

func (h *hostile) guarded(do func()) {
	defer func() {
		if x := recover(); x != nil {
			h.note("panic", x)
		}
	}()
	do()
}

// ask asks one of questions, and releases the answer.
func (h *hostile) ask(name string) {
	h.guarded(func() {
		sum, scores, err := questions[name](h)
		if err != nil || sum == nil && scores == nil {
			h.note("no answer", name, err)
			return
		}
		h.answered(name)
		if sum != nil {
			h.measure(name, sum)
		} else {
			h.choose(name, scores)
		}
	})
}

// questions are all methods of the guard's types that return a sum or scores, with anything as their
// arguments: TestEveryMethodIsAttacked.
var questions = map[string]func(h *hostile) (*guard.Sum, *guard.Scores, error){
	"Cells.Part": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		cells, n, err := h.cells()
		if err != nil {
			return nil, nil, err
		}
		return cells.Part(h.draw(n)), nil, nil
	},
	"Cells.Imbalances": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		cells, n, err := h.cells()
		if err != nil {
			return nil, nil, err
		}
		parts := make([]int, 1+h.draw(4))
		for i := range parts {
			parts[i] = h.draw(n)
		}
		return nil, cells.Imbalances(parts), nil
	},
	"ClassCells.Part": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		return h.classCells(func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum { return c.Part(k) })
	},
	"ClassCells.Rows": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		return h.classCells(func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum { return c.Rows(k) })
	},
	"ClassCells.Classes": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		return h.classCells(func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum { return c.Classes() })
	},
	"ClassCells.Class": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		return h.classCells(func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum {
			if h.s.Classes() > 2 {
				return nil // it is of two
			}
			return c.Class(h.draw(2))
		})
	},
	"ClassCells.AllClasses": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		return h.classCells(func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum {
			return c.AllClasses(k, 2, h.runs(bins[k].Len()))
		})
	},
	"Guard.Join": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		var sums []*guard.Sum
		s, _, err := h.classCells(func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum {
			all := []*guard.Sum{c.Part(k), c.Rows(k), c.Classes(), c.AllClasses(k, 2, h.runs(bins[k].Len()))}
			for range 1 + h.draw(3) {
				sums = append(sums, all[h.draw(len(all))])
			}
			return all[0]
		})
		if err == nil {
			s, err = h.g.Join(sums...)
		}
		return s, nil, err
	},
	"Guard.ClassSlope": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		f := guard.NewStepScore(h.start(h.s.Classes()))
		for range h.draw(3) {
			f.AddShape(h.levelShape(h.s.Classes()), h.number())
		}
		s, err := h.g.ClassSlope(f, h.levelShape(h.s.Classes()), 0, h.number())
		return s, nil, err
	},
	"Guard.Distances": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		f := guard.NewStepScore(h.start(h.s.Classes()))
		f.AddShape(h.levelShape(h.s.Classes()), h.number())
		var all []*guard.ClassResiduals
		for range 1 + h.draw(3) {
			b := h.bins()
			rest, err := h.g.ClassResiduals(f, &b)
			if err != nil {
				return nil, nil, err
			}
			h.answered("Guard.ClassResiduals")
			all = append(all, rest)
		}
		s, err := h.g.Distances(all)
		return nil, s, err
	},
	"Groups.ClassBins": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		groups, err := h.groups()
		if err != nil {
			return nil, nil, err
		}
		bins := make([]uint32, groups.Len)
		for i := range bins {
			bins[i] = uint32(h.draw(2))
		}
		return groups.ClassBins(h.draw(h.s.Classes()), [][]uint32{bins, make([]uint32, groups.Len)},
			[]int{1 + h.draw(2), 1 + h.draw(2)}), nil, nil
	},
	"ClassVectors.Sum": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		groups, err := h.groups()
		if err != nil {
			return nil, nil, err
		}
		vectors := groups.ClassVectors(h.draw(h.s.Classes()), 2)
		h.answered("Groups.ClassVectors")
		for i := range groups.Len {
			vectors.Add(i, []float64{h.number() / 10, h.number() / 10})
			if h.draw(4) == 0 {
				vectors.Add(i, []float64{1, 0})
			}
		}
		h.answered("ClassVectors.Add")
		return vectors.Sum(), nil, nil
	},
	"ClassMeans.Sum": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		groups, err := h.groups()
		if err != nil {
			return nil, nil, err
		}
		classes := []int{h.draw(h.s.Classes())}
		switch h.draw(4) {
		case 0, 1:
			classes = []int{0, 1}
		case 2:
			for range h.draw(3) {
				classes = append(classes, h.draw(h.s.Classes()))
			}
		}
		means, err := groups.ClassMeans(classes, 2)
		if err != nil {
			return nil, nil, err
		}
		h.answered("Groups.ClassMeans")
		for i := range groups.Len {
			means.Add(i, h.draw(3), h.number()/10)
			means.Add(i, h.draw(3), h.number()/10)
		}
		h.answered("ClassMeans.Add")
		return means.Sum(), nil, nil
	},
	"GridSlopes.Part": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		sums, n, err := h.gridSlopes()
		if err != nil {
			return nil, nil, err
		}
		s, err := sums.Part(h.draw(n), []float64{0, 0.25, 1, 0.3, math.NaN(), 2}[h.draw(6)])
		return s, nil, err
	},
	"GridSlopes.Lengths": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		sums, _, err := h.gridSlopes()
		if err != nil {
			return nil, nil, err
		}
		return nil, sums.Lengths(), nil
	},
	"GridSlopes.LargestLead": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		sums, _, err := h.gridSlopes()
		if err != nil {
			return nil, nil, err
		}
		return sums.LargestLead(), nil, nil
	},
	"Sum.Reversed": func(h *hostile) (*guard.Sum, *guard.Scores, error) {
		s, _, err := h.classCells(func(c *guard.ClassCells, _ []feature.Bins, k int) *guard.Sum { return c.Part(k).Reversed() })
		return s, nil, err
	},
}

func (h *hostile) cells() (*guard.Cells, int, error) {
	caps := guard.Caps{uint32(h.draw(guard.WeightOne + 2)), uint32(1 + h.draw(guard.WeightOne))}
	if h.draw(3) == 0 {
		caps = guard.FullCaps
	}
	score := h.score()
	if h.draw(3) == 0 {
		score = nil
	}
	bins := h.someBins(true)
	cells, err := h.g.Cells(score, bins, caps)
	if err == nil {
		h.answered("Guard.Cells")
		h.note("caps", cells.Caps())
		h.answered("Cells.Caps")
	}
	return cells, len(bins), err
}

func (h *hostile) classCells(pick func(c *guard.ClassCells, bins []feature.Bins, k int) *guard.Sum) (*guard.Sum, *guard.Scores, error) {
	bins := h.someBins(false)
	cells, err := h.g.ClassCells(bins)
	if err != nil {
		return nil, nil, err
	}
	h.answered("Guard.ClassCells")
	return pick(cells, bins, h.draw(len(bins))), nil, nil
}

func (h *hostile) gridSlopes() (*guard.GridSlopes, int, error) {
	width := h.s.Classes()
	if width == 2 {
		width = 1
	}
	f := guard.NewStepScore(h.start(width))
	var grids []feature.Grid
	for range 1 + h.draw(3) {
		a, b := h.bins(), h.bins()
		grid := feature.Grid{Axes: []feature.Bins{a.WithoutMarks()}}
		if b.Column != a.Column {
			grid.Axes = append(grid.Axes, b.WithoutMarks())
		}
		grids = append(grids, grid)
	}
	if h.draw(2) == 0 {
		steps := make([]float64, h.length(grids[0].Cells()*width))
		for i := range steps {
			steps[i] = h.number()
		}
		f.AddGrid(grids[0], steps)
	}
	limit := guard.SlopeLimit{Most: float64(1+h.draw(10)) / 10, Norm: statistic.SlopeNorm(h.draw(2) == 0)}
	sums, err := h.g.GridSlopes(f, limit, grids)
	if err == nil {
		h.answered("Guard.GridSlopes")
		exact, err := sums.ExactSlopes(0)
		h.note("exact slopes", exact, err)
		h.answered("GridSlopes.ExactSlopes")
	}
	return sums, len(grids), err
}

// groups are those of public columns, mostly.
func (h *hostile) groups() (*guard.Groups, error) {
	var cols []int
	for _, j := range h.s.Features() {
		if h.s.Columns[j].Role == schema.Public && h.draw(3) == 0 || h.draw(40) == 0 {
			cols = append(cols, j)
		}
	}
	if h.draw(40) == 0 {
		cols = append(cols, h.draw(len(h.s.Columns)+2)-1)
	}
	groups, err := h.g.Groups(cols)
	if err != nil {
		return nil, err
	}
	rows, err := groups.Classes()
	h.note("groups", groups.Len, groups.Rows, groups.Counts, groups.Cols, rows, err)
	h.answered("Guard.Groups")
	h.answered("Groups.Classes")
	return groups, nil
}

// askPublic asks what is no answer about rows, writes to all that it was given, and settles persons.
func (h *hostile) askPublic() {
	if e := &h.bill[h.draw(len(h.bill))]; h.draw(2) == 0 { // what it pays is settled
		e.Epsilon, e.Rho = 2*e.Epsilon, 2*e.Rho
	}
	terms := h.g.Terms()
	text, err := json.Marshal(h.g.Schema())
	h.note("public", h.g.Units(), h.g.Private(), h.g.Counted(), h.g.Seeded(), terms, string(text), err)
	terms.Bill[0].Epsilon *= 2
	corrupt(h.g.Schema())
	_, err = h.g.Table()
	h.note("coins", h.g.Coins().Seeded(), err)
	for _, method := range []string{"Units", "Private", "Counted", "Seeded", "Terms", "Schema", "Coins", "Table"} {
		h.answered("Guard." + method)
	}
	if h.s.Person != nil && h.draw(2) == 0 {
		h.note("weighed", h.g.WeighPersons(1+h.draw(3)))
		h.answered("Guard.WeighPersons")
	}
	if h.draw(4) == 0 {
		h.g.DrawRows()
		h.answered("Guard.DrawRows")
	}
}

// trainInside lets another hostile learner train for a part of the price.
func (h *hostile) trainInside() {
	eps := dp.Epsilon(1 + h.draw(int(dp.Nano)/4))
	in := *h
	in.bill, in.next = []dp.Event{guard.Share{Epsilon: eps}.Line("inside")}, 0
	terms := guard.Terms{Op: "inside", Scope: []dp.Scope{h.g.Terms().Scope, dp.WholeRow, dp.PrivateFeatures, dp.LabelOnly}[h.draw(5)/2],
		Price: dp.Price{Epsilon: eps}, Bill: slices.Clone(in.bill), NotPrivate: h.draw(20) == 0}
	var err error
	if method, rows := "Guard.Part", 1+h.draw(3); h.draw(2) == 0 {
		if in.g, err = h.g.Part(terms); err == nil {
			h.answered(method)
		}
	} else if in.g, err = h.g.DrawGroup(rows, terms); err == nil {
		h.answered("Guard.DrawGroup")
		in.group *= rows
	}
	h.note("inside", err)
	if in.g == nil {
		return
	}
	in.rows = nil
	for range 1 + h.draw(4) {
		in.act()
	}
}

// corrupt writes to all of a schema that says what is protected, and where rows lie.
func corrupt(s *schema.Schema) {
	s.Relation = map[dp.Relation]dp.Relation{dp.AddRemove: dp.ReplaceOne, dp.ReplaceOne: dp.AddRemove}[s.Relation]
	s.Label.Role, s.Label.Levels, s.Person = schema.Public, s.Label.Levels[:1], nil
	for j := range s.Columns {
		c := &s.Columns[j]
		if c.Role != schema.Ignored {
			c.Role = schema.Public
		}
		c.Lower, c.Upper, c.Levels, c.Special = 0, 1, append(c.Levels[:0:0], c.Levels[:min(1, len(c.Levels))]...), nil
	}
}

// askMistakes asks what brc does, of rows that are units.
func (h *hostile) askMistakes() {
	if h.g.Schema().Person != nil {
		return
	}
	fresh := h.rows == nil || h.draw(20) == 0
	if fresh {
		var cols []int
		for _, j := range h.s.Features() {
			if h.draw(2) == 0 {
				cols = append(cols, j)
			}
		}
		sp, err := feature.NewSpace(h.s, feature.Ordinal, cols)
		if err != nil {
			h.note("no space", err)
			return
		}
		bound := func() float64 { return []float64{1, math.Sqrt2, 3, 20, h.number()}[h.draw(5)] }
		q := mistakes.Question{Space: sp, C1: bound(), C2: bound(), Paper: h.draw(4) == 0, Classes: h.draw(2) == 0}
		for range 1 + h.draw(3) {
			t := feature.Threshold{Coef: make([]float64, h.length(sp.Width())), Bias: float64(h.draw(201)-100) / 100}
			for i := range t.Coef {
				t.Coef[i] = float64(h.draw(201)-100) / 100
			}
			q.List = append(q.List, t)
		}
		for range h.draw(3) {
			q.Shapes = append(q.Shapes, mistakes.Shape{First: h.draw(2), Votes: []int{1, 1 - h.draw(3)}[:h.draw(3)], Bias: h.draw(3) - 1})
		}
		if h.rows, err = mistakes.Read(h.g, q); err != nil {
			h.note("no mistakes", err)
			return
		}
	}
	label, share := h.share()
	value, err, method := math.NaN(), error(nil), "Rows.Error"
	do := h.draw(6)
	if fresh && h.draw(2) == 0 {
		do = 2 // a share is asked first
	}
	switch k := h.draw(4); do {
	case 0, 1:
		value, err = h.rows.Error(label, share.Epsilon, k)
	case 2:
		method = "Rows.Share"
		value, err = h.rows.Share(label, share.Epsilon)
	case 3:
		chosen := 0
		method = "Rows.Choose"
		chosen, err = h.rows.Choose(label, share.Epsilon, k/2, k)
		value = float64(chosen)
	case 4:
		h.answered("Rows.Reweigh")
		h.note("weighed", h.rows.Reweigh(k, math.Exp(h.number()/100)))
		return
	case 5:
		h.answered("Rows.WeighClasses")
		h.note("classes", h.rows.WeighClasses([2]int64{int64(1 + h.draw(mistakes.ClassUnits)), int64(1 + h.draw(mistakes.ClassUnits))}))
		return
	}
	if err == nil {
		h.left(method)
		h.answered(method)
	}
	h.note("mistakes", label, value, err)
}

// setting is one guard to attack.
type setting struct {
	kind
	a, b  *dataset.Table
	terms guard.Terms
	what  string
}

// kind is what a setting is drawn of.
type kind struct {
	relation dp.Relation
	persons  bool
	paid     string // "ε", "ρ" or "list"
}

// kinds are all.
func kinds() (all []kind) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, persons := range []bool{false, true} {
			for _, paid := range []string{"ε", "ρ", "list"} {
				all = append(all, kind{relation, persons, paid})
			}
		}
	}
	return all
}

// settingOf draws tables that are neighbours, and terms that may be charged for them.
func settingOf(src rng.Source, of kind) setting {
	draw := func(n int) int { return int(rng.Below(src, uint64(n))) }
	tab := censustest.Table(uint64(draw(1000)), 2+draw([]int{5, 12}[draw(2)]))
	if draw(3) == 0 {
		tab = learntest.Levels(tab, 3, nil)
	}
	s := *tab.Schema
	s.Columns, s.Relation = slices.Clone(s.Columns), of.relation
	for j := range s.Columns {
		if s.Columns[j].Role != schema.Ignored {
			s.Columns[j].Role = []schema.Role{schema.Public, schema.Private}[draw(2)]
		}
	}
	s.Label.Role = []schema.Role{schema.Public, schema.Private}[draw(2)]
	tab.Schema = &s
	out := setting{kind: of, terms: guard.Terms{Op: "hostile", Scope: dp.WholeRow}}
	if s.Relation == dp.ReplaceOne && draw(3) > 0 {
		out.terms.Scope = dp.PrivateFeatures
		if s.Label.Role == schema.Private {
			out.terms.Scope = []dp.Scope{dp.FeaturesAndLabel, dp.LabelOnly}[draw(2)]
		}
	}
	if of.persons {
		tab = learntest.WithPersons(tab, src, 1)
		out.a, out.b = learntest.PersonNeighbours(tab, src, out.terms.Scope)
	} else {
		out.a = tab
		if out.b = learntest.Neighbour(tab, src, out.terms.Scope); s.Relation == dp.AddRemove {
			out.b = learntest.WithoutRow(tab, draw(tab.Rows))
		}
	}
	t := &out.terms
	switch of.paid {
	case "ε": // alone
		t.Price = dp.Price{Epsilon: dp.Nano}
		t.Bill = []dp.Event{guard.Share{Epsilon: dp.Nano}.Line("all")}
	case "ρ": // Gaussian noise alone
		t.Price = dp.Price{Epsilon: 3 * dp.Nano, Delta: dp.Femto / 1000}
		for i := range 4 {
			t.Bill = append(t.Bill, guard.Share{Rho: 50_000_000_000}.Line(fmt.Sprintf("measurement %d", i)))
		}
	default: // a list of both
		t.Price = dp.Price{Epsilon: 3 * dp.Nano, Delta: dp.Femto / 1000}
		t.Bill = []dp.Event{guard.Share{Rho: 50_000_000_000}.Line("measurement 0"),
			guard.Share{Epsilon: dp.Nano / 4}.ChoiceLine("measurement 1"),
			guard.Share{Epsilon: dp.Nano / 4}.Line("measurement 2"), guard.Share{Rho: 50_000_000_000}.Line("measurement 3")}
	}
	out.what = fmt.Sprintf("%s, %s, %d classes, persons %v, %s", s.Relation, t.Scope, s.Classes(), tab.Schema.Person != nil,
		t.Price)
	return out
}

// attack runs one hostile learner on both tables of a setting. It fails if the transcript tells them
// apart, or costs more than was charged. It returns what the learner did, and the largest part of its
// bound by which the neighbours moved what each method made.
func attack(t *testing.T, seed uint64, of kind, learn func(h *hostile)) (*log, map[string]float64) {
	t.Helper()
	src := replay.Seeded(seed, "hostile")
	c := settingOf(src, of)
	onDisk := rng.Below(src, 8) == 0
	var tapes [2]*mechtest.Recorder
	var seen [2]string
	var did *log
	for side, tab := range []*dataset.Table{c.a, c.b} {
		asked := *tab
		asked.Schema = tab.Schema.Clone()
		var eng engine.Table
		if onDisk && tab.Rows > 0 && !of.persons {
			eng = learntest.Blocks(t, &asked, 2, seed, seed%2 == 0)
		} else {
			eng = learntest.Engine(t, &asked)
		}
		answers := replay.Seeded(seed, "answers")
		tapes[side] = &mechtest.Recorder{Script: func(_ int, p mechtest.Passage) []float64 {
			if p.Choice {
				return []float64{float64(rng.Below(answers, uint64(len(p.Values))))}
			}
			out := make([]float64, len(p.Values))
			for i := range out {
				out[i] = float64(int64(rng.Below(answers, 2001))-1000) / 100
			}
			return out
		}}
		terms := c.terms
		terms.Bill = slices.Clone(terms.Bill) // which the learner changes
		g, err := guard.Open(t.Context(), terms, eng, guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(seed, "coins"), tapes[side]))
		did = &log{did: map[string]bool{}}
		if err != nil {
			seen[side] = err.Error()
			continue
		}
		corrupt(asked.Schema) // by which its plan was made
		corrupt(eng.Schema())
		h := &hostile{g: g, s: tab.Schema, src: replay.Seeded(seed, "acts"), bill: terms.Bill, group: 1, log: did}
		if of.persons && h.draw(20) > 0 {
			h.note("weighed", g.WeighPersons(1+h.draw(3)))
			h.answered("Guard.WeighPersons")
		}
		learn(h)
		seen[side] = h.seen.String()
	}
	if seen[0] != seen[1] {
		t.Fatalf("seed %d (%s): neighbours are told apart:\n%s\nagainst:\n%s", seed, c.what, seen[0], seen[1])
	}
	pure, gauss, reached := 0.0, 0.0, map[string]float64{}
	covered, most := 0.0, 0.0 // ρ if what is pure counts as such, too, and what the bill has of it
	for k, p := range tapes[0].Passages {
		q := tapes[1].Passages[k]
		if p.Bound != q.Bound || p.Loss != q.Loss || p.Rho != q.Rho || p.Name != q.Name {
			t.Fatalf("seed %d (%s): %q is another measurement of the neighbour", seed, c.what, p.Label)
		}
		moved := p.Moved(q)
		if p.Choice {
			moved = movedExactly(p.Values, q.Values)
		}
		ratio, from := moved/p.Bound, did.passages[k]
		reached[from.of] = max(reached[from.of], ratio/float64(from.rows))
		if ratio > float64(from.rows)*(1+1e-9) {
			t.Fatalf("seed %d (%s): %q moves by %g, sized for %g", seed, c.what, p.Label, moved, p.Bound)
		}
		if p.Rho > 0 {
			gauss += p.Rho.Float() * ratio * ratio
			covered += p.Rho.Float() * ratio * ratio
		} else {
			pure += p.Loss.Float() * ratio
			covered += accounting.PureRho(dp.Epsilon(p.Loss.Float() * ratio * dp.Nano)).Float()
		}
	}
	if rho, _, ok := accounting.AsGaussian(c.terms.Bill, c.terms.Price); ok {
		if most = rho.Float(); covered <= most+1e-12 || gauss == 0 && pure <= c.terms.Price.Epsilon.Float()+1e-12 {
			return did, reached
		}
	}
	for _, e := range c.terms.Bill {
		if e.Rho > 0 {
			gauss -= e.Rho.Float()
		} else {
			pure -= e.Epsilon.Float()
		}
	}
	if pure > 1e-12 || gauss > 1e-12 {
		t.Fatalf("seed %d (%s): the transcript costs ε %g and ρ %g more than was charged, or ρ %g in all where %g was", seed, c.what,
			pure, gauss, covered, most)
	}
	return did, reached
}

// movedExactly is how far the difference of two scores moves. Public offsets are as large as 2^40, so
// floats would not do.
func movedExactly(a, b []mech.Ratio) float64 {
	low, high := int64(math.MaxInt64), int64(math.MinInt64)
	for i := range a {
		d := b[i].Num - a[i].Num
		low, high = min(low, d), max(high, d)
	}
	return float64(high-low) / float64(a[0].Den)
}

// Whatever a learner asks, neighbours give it the same answers at a loss of at most what was charged.
// DISCREET_SEARCH_SECONDS searches longer, DISCREET_SEARCH_SEED elsewhere.
func TestHostileLearner(t *testing.T) {
	seconds, attacks := 0, size.Of(200, 4000)
	if text := os.Getenv("DISCREET_SEARCH_SECONDS"); text != "" {
		seconds, _ = strconv.Atoi(text)
	}
	seed, _ := strconv.ParseUint(os.Getenv("DISCREET_SEARCH_SEED"), 10, 64)
	until, passages := time.Now().Add(time.Duration(seconds)*time.Second), 0
	done, did := 0, map[string]bool{}
	for done < attacks || time.Now().Before(until) {
		held := t.Run("some", func(t *testing.T) { // whose files go with it
			for range 200 {
				of := kinds()[done%len(kinds())]
				l, _ := attack(t, seed+uint64(done), of, func(h *hostile) {
					for range 6 + h.draw(16) {
						h.act()
					}
				})
				passages += len(l.passages)
				maps.Copy(did, l.did)
				done++
			}
		})
		if !held {
			return
		}
	}
	t.Logf("%d learners, %d measurements", done, passages)
	if passages < 2*attacks {
		t.Errorf("%d hostile learners were measured %d times: the attack is blind", done, passages)
	}
	for _, m := range methods() {
		if !did[m.name] {
			t.Errorf("no hostile learner got an answer of %s", m.name)
		}
	}
}

// method is one of the guard's types.
type method struct {
	name  string
	of    reflect.Method
	makes reflect.Type // a sum or scores, or nil
}

// methods finds all methods that a learner can call: those of guards, and of what these return.
func methods() []method {
	return methodsOf(reflect.TypeFor[*guard.Guard](), reflect.TypeFor[*mistakes.Rows]())
}

func methodsOf(types ...reflect.Type) (all []method) {
	sum, scores := reflect.TypeFor[*guard.Sum](), reflect.TypeFor[*guard.Scores]()
	for i := 0; i < len(types); i++ {
		for k := range types[i].NumMethod() {
			m := method{types[i].Elem().Name() + "." + types[i].Method(k).Name, types[i].Method(k), nil}
			if m.name == "Guard.Inside" { // for packages with proofs of their own: it takes a pass
				continue
			}
			for o := range m.of.Type.NumOut() {
				out := m.of.Type.Out(o)
				if out == sum || out == scores {
					m.makes = out
				}
				ours := out.Kind() == reflect.Pointer && strings.Contains(out.Elem().PkgPath(), "/internal/guard")
				if ours && !slices.Contains(types, out) {
					types = append(types, out)
				}
			}
			all = append(all, m)
		}
	}
	return slices.DeleteFunc(all, func(m method) bool { // they show and change what is public
		return slices.Contains([]string{"Sum.Len", "Scores.Len", "Scores.Spread", "Scores.AddOffset"}, m.name)
	})
}

// Each method that makes a sum or scores is one of questions. For each, in every kind of setting, some
// neighbours move what it makes by a good part of its bound: one that is understated is seen here.
func TestEveryMethodReachesItsBound(t *testing.T) {
	for _, m := range methods() {
		if m.makes == nil {
			continue
		}
		if questions[m.name] == nil {
			t.Errorf("%s returns a sum or scores, and no hostile learner asks for it", m.name)
			continue
		}
		for _, of := range kinds() {
			onlyReplaced := slices.Contains([]string{"Groups.ClassBins", "ClassMeans.Sum", "ClassVectors.Sum"}, m.name)
			switch {
			case of.paid == "list", of.paid == "ρ" && m.makes == reflect.TypeFor[*guard.Scores](): // a selection is paid by ε
			case of.paid == "ε" && m.name == "ClassVectors.Sum": // vectors have no bound in L1
			case onlyReplaced && of.relation == dp.AddRemove: // groups of rows need a public number of rows
			default:
				if most, want := reach(t, m.name, of), size.Of(0.25, 0.4); most < want {
					t.Errorf("%s, %v: neighbours move it by %.2f of its bound at most", m.name, of, most)
				}
			}
		}
	}
}

// reach returns by how much of its bound neighbours move what a method makes, at most; it looks no
// further than for what is wanted.
func reach(t *testing.T, name string, of kind) (most float64) {
	for seed := uint64(0); seed < 400 && most < size.Of(0.25, 0.5); seed++ {
		_, reached := attack(t, seed, of, func(h *hostile) {
			if of.persons && seed%2 == 1 {
				h.g.DrawRows()
			}
			for range 4 {
				h.ask(name)
			}
		})
		most = max(most, reached[name])
	}
	return most
}
