// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/census"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/testkit/size"
)

// hostile is a learner that asks anything, at any share, and writes down all that it gets. What it
// does next depends on all of that, so that a difference between neighbours spreads.
type hostile struct {
	ctx  context.Context
	g    *guard.Guard
	s    *schema.Schema
	src  rng.Source
	bill []dp.Event
	seen strings.Builder
	next int // line of the bill
	rows *mistakes.Rows
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

func (h *hostile) measure(s *guard.Sum, err error) {
	if err != nil || s == nil {
		h.note("no sum", err)
		return
	}
	if h.draw(4) == 0 {
		out, err := h.g.Exact(s)
		h.note("exact", s.Len(), out, err)
	}
	label, share := h.share()
	out, err := h.g.Measure(label, share, s)
	if err == nil {
		h.next++
	}
	h.note("measured", s.Len(), label, out, err)
}

func (h *hostile) choose(s *guard.Scores) {
	for range []int{h.draw(3), 12}[h.draw(20)/19] {
		s.AddOffset(h.draw(s.Len()), int64(h.number()))
	}
	if h.draw(4) == 0 {
		s.Prepend(h.number())
	}
	label, share := h.share()
	out, err := h.g.Select(label, share, s)
	if err == nil {
		h.next++
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

// act does one thing; what it dies of is seen.
func (h *hostile) act() {
	defer func() {
		if x := recover(); x != nil {
			h.note("panic", x)
		}
	}()
	classes := h.s.Classes()
	switch h.draw(10) {
	case 8, 9:
		h.askMistakes()
	case 0:
		caps := guard.Caps{uint32(h.draw(guard.WeightOne + 2)), uint32(1 + h.draw(guard.WeightOne))}
		if h.draw(3) == 0 {
			caps = guard.FullCaps
		}
		bins := h.someBins(true)
		cells, err := h.g.Cells(h.ctx, h.score(), bins, caps)
		if err != nil {
			h.note("no cells", err)
			return
		}
		if h.draw(3) == 0 {
			parts := make([]int, 1+h.draw(4))
			for i := range parts {
				parts[i] = h.draw(len(bins))
			}
			h.choose(cells.Imbalances(parts))
		}
		h.measure(cells.Part(h.draw(len(bins))), nil)
	case 1:
		bins := h.someBins(false)
		cells, err := h.g.ClassCells(h.ctx, bins)
		if err != nil {
			h.note("no cells", err)
			return
		}
		k := h.draw(len(bins))
		sums := []*guard.Sum{cells.Part(k), cells.Classes(), cells.AllClasses(k, 2, func(b int) int { return b % (2 + h.draw(2)) })}
		if classes == 2 {
			sums = append(sums, cells.Class(h.draw(2)))
		}
		for i := range sums {
			sums[i].Reverse()
		}
		if h.draw(2) == 0 {
			h.measure(h.g.Join(sums[h.draw(len(sums))], sums[h.draw(len(sums))]))
		}
		h.measure(sums[h.draw(len(sums))], nil)
	case 2:
		f := guard.NewStepScore(h.start(classes))
		for range h.draw(3) {
			f.AddShape(h.levelShape(classes), h.number())
		}
		h.measure(h.g.ClassSlope(h.ctx, f, h.levelShape(classes), h.number()))
	case 3:
		f := guard.NewStepScore(h.start(classes))
		f.AddShape(h.levelShape(classes), h.number())
		var all []*guard.ClassResiduals
		for range 1 + h.draw(3) {
			b := h.bins()
			rest, err := h.g.ClassResiduals(h.ctx, f, &b)
			if err != nil {
				h.note("no residuals", err)
				return
			}
			all = append(all, rest)
		}
		if s, err := h.g.Distances(all); err == nil && h.draw(2) == 0 {
			h.choose(s)
		}
	case 4, 5:
		h.askGroups()
	case 6:
		width := classes
		if classes == 2 {
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
		sums, err := h.g.GridSlopes(h.ctx, f, limit, grids)
		if err != nil {
			h.note("no slopes", err)
			return
		}
		switch h.draw(4) {
		case 0:
			h.choose(sums.Lengths())
		case 1:
			h.choose(sums.Leads())
		}
		h.measure(sums.Part(h.draw(len(grids)), []float64{0, 0.25, 1, 0.3, math.NaN(), 2}[h.draw(6)]))
	case 7:
		if e := &h.bill[h.draw(len(h.bill))]; h.draw(2) == 0 { // what it pays is settled
			e.Epsilon, e.Rho = 2*e.Epsilon, 2*e.Rho
		}
		h.note("public", h.g.Units(), h.g.Private(), h.g.Counted())
		if h.s.Person != nil && h.draw(2) == 0 {
			h.note("weighed", h.g.WeighPersons(1+h.draw(3)))
		}
	}
}

func (h *hostile) askGroups() {
	var cols []int
	for _, j := range h.s.Features() {
		if h.s.Columns[j].Role == schema.Public && h.draw(3) == 0 || h.draw(40) == 0 {
			cols = append(cols, j)
		}
	}
	if h.draw(40) == 0 {
		cols = append(cols, h.draw(len(h.s.Columns)+2)-1)
	}
	groups, err := h.g.Groups(h.ctx, cols)
	if err != nil {
		h.note("no groups", err)
		return
	}
	rows, err := groups.Classes()
	h.note("groups", groups.Len, groups.Rows, groups.Counts, rows, err)
	class := h.draw(h.s.Classes())
	bins := make([]uint32, groups.Len)
	for i := range bins {
		bins[i] = uint32(h.draw(2))
	}
	switch h.draw(3) {
	case 0:
		h.measure(groups.ClassBins(class, [][]uint32{bins, make([]uint32, groups.Len)}, []int{1 + h.draw(2), 1 + h.draw(2)}), nil)
	case 1:
		h.measure(groups.ClassVectors(class, 2, func(visit func(int, []float64)) {
			for i := range groups.Len {
				visit(i, []float64{h.number() / 10, h.number() / 10})
				if h.draw(4) == 0 {
					visit(i, []float64{1, 0})
				}
			}
		}), nil)
	case 2:
		classes := []int{class}
		switch h.draw(4) {
		case 0, 1:
			classes = []int{0, 1}
		case 2:
			for range h.draw(3) {
				classes = append(classes, h.draw(h.s.Classes()))
			}
		}
		h.measure(groups.ClassMeans(classes, 2, func(each func(int, int, float64)) {
			for i := range groups.Len {
				each(i, h.draw(3), h.number()/10)
				each(i, h.draw(3), h.number()/10)
			}
		}))
	}
}

// askMistakes asks what brc does. One row of each person would be drawn by coins, which is proved apart.
func (h *hostile) askMistakes() {
	if h.s.Person != nil {
		return
	}
	if h.rows == nil || h.draw(20) == 0 {
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
		if h.rows, err = mistakes.Read(h.ctx, h.g, q); err != nil {
			h.note("no mistakes", err)
			return
		}
	}
	label, share := h.share()
	value, err := math.NaN(), error(nil)
	switch k := h.draw(4); h.draw(6) {
	case 0, 1:
		value, err = h.rows.Error(label, share.Epsilon, k)
	case 2:
		value, err = h.rows.Share(label, share.Epsilon)
	case 3:
		chosen := 0
		chosen, err = h.rows.Choose(label, share.Epsilon, k/2, k)
		value = float64(chosen)
	case 4:
		h.note("weighed", h.rows.Reweigh(k, math.Exp(h.number()/100)))
		return
	case 5:
		h.note("classes", h.rows.WeighClasses([2]int64{int64(1 + h.draw(mistakes.ClassUnits)), int64(1 + h.draw(mistakes.ClassUnits))}))
		return
	}
	if err == nil {
		h.next++
	}
	h.note("mistakes", label, value, err)
}

// setting is one guard to attack.
type setting struct {
	a, b  *dataset.Table
	terms guard.Terms
	what  string
}

// settingOf draws tables that are neighbours, and terms that may be charged for them.
func settingOf(src rng.Source) setting {
	draw := func(n int) int { return int(rng.Below(src, uint64(n))) }
	tab := census.Generate(uint64(draw(1000)), 2+draw([]int{5, 12}[draw(2)]))
	if draw(3) == 0 {
		tab = learntest.Levels(tab, 3, nil)
	}
	s := *tab.Schema
	s.Columns, s.Relation = slices.Clone(s.Columns), dp.ReplaceOne
	for j := range s.Columns {
		if s.Columns[j].Role != schema.Ignored {
			s.Columns[j].Role = []schema.Role{schema.Public, schema.Private}[draw(2)]
		}
	}
	s.Label.Role = []schema.Role{schema.Public, schema.Private}[draw(2)]
	if draw(2) == 0 {
		s.Relation = dp.AddRemove
	}
	tab.Schema = &s
	out := setting{terms: guard.Terms{Op: "hostile", Scope: dp.WholeRow}}
	if s.Relation == dp.ReplaceOne && draw(3) > 0 {
		out.terms.Scope = dp.PrivateFeatures
		if s.Label.Role == schema.Private {
			out.terms.Scope = []dp.Scope{dp.FeaturesAndLabel, dp.LabelOnly}[draw(2)]
		}
	}
	if draw(3) == 0 {
		tab = learntest.WithPersons(tab, src, 1)
		out.a, out.b = learntest.PersonNeighbours(tab, src, out.terms.Scope)
	} else {
		out.a = tab
		if out.b = learntest.Neighbour(tab, src, out.terms.Scope); s.Relation == dp.AddRemove {
			out.b = learntest.WithoutRow(tab, draw(tab.Rows))
		}
	}
	t := &out.terms
	switch draw(3) {
	case 0: // ε alone
		t.Price = dp.Price{Epsilon: dp.Nano}
		t.Bill = []dp.Event{guard.Share{Epsilon: dp.Nano}.Line("all")}
	case 1: // Gaussian noise alone
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

// attack runs one hostile learner on both tables of a setting, and returns by how much the transcript
// costs more than was charged: at most 1 if the guard holds.
func attack(t *testing.T, seed uint64) (cost float64) {
	t.Helper()
	src := replay.Seeded(seed, "hostile")
	c := settingOf(src)
	kind, acts := rng.Below(src, 3), 6+int(rng.Below(src, 16))
	var tapes [2]*mechtest.Recorder
	var seen [2]string
	for side, tab := range []*dataset.Table{c.a, c.b} {
		declared, own := tab.Schema, *tab.Schema
		own.Columns = slices.Clone(own.Columns)
		asked := *tab
		asked.Schema, tab = &own, &asked
		var eng engine.Table
		if kind == 0 && tab.Rows > 0 && tab.Schema.Person == nil {
			eng = learntest.Blocks(t, tab, 2, seed, seed%2 == 0)
		} else {
			eng = learntest.Engine(t, tab)
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
		if err != nil {
			seen[side] = err.Error()
			continue
		}
		if seed%4 == 1 { // it writes to the schema of its table
			own.Relation, own.Label.Role = map[dp.Relation]dp.Relation{dp.AddRemove: dp.ReplaceOne, dp.ReplaceOne: dp.AddRemove}[own.Relation], schema.Public
			for j := range own.Columns {
				if own.Columns[j].Role != schema.Ignored {
					own.Columns[j].Role = schema.Public
				}
			}
			own.Person = nil
		}
		h := &hostile{ctx: t.Context(), g: g, s: declared, src: replay.Seeded(seed, "acts"), bill: terms.Bill}
		if declared.Person != nil && h.draw(20) > 0 {
			h.note("weighed", g.WeighPersons(1+h.draw(3)))
		}
		for range acts {
			h.act()
		}
		seen[side] = h.seen.String()
	}
	if seen[0] != seen[1] {
		t.Fatalf("seed %d (%s): neighbours are told apart:\n%s\nagainst:\n%s", seed, c.what, seen[0], seen[1])
	}
	pure, gauss := 0.0, 0.0
	for k, p := range tapes[0].Passages {
		q := tapes[1].Passages[k]
		if p.Bound != q.Bound || p.Loss != q.Loss || p.Rho != q.Rho || p.Name != q.Name {
			t.Fatalf("seed %d (%s): %q is another measurement of the neighbour", seed, c.what, p.Label)
		}
		moved := p.Moved(q)
		if p.Choice {
			moved = movedExactly(p.Values, q.Values)
		}
		ratio := moved / p.Bound
		if ratio > 1+1e-9 {
			t.Fatalf("seed %d (%s): %q moves by %g, sized for %g", seed, c.what, p.Label, moved, p.Bound)
		}
		if p.Rho > 0 {
			gauss += p.Rho.Float() * ratio * ratio
		} else {
			pure += p.Loss.Float() * ratio
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
		t.Fatalf("seed %d (%s): the transcript costs ε %g and ρ %g more than was charged", seed, c.what, pure, gauss)
	}
	return float64(len(tapes[0].Passages))
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
	until, passages := time.Now().Add(time.Duration(seconds)*time.Second), 0.0
	done := 0
	for done < attacks || time.Now().Before(until) {
		held := t.Run("some", func(t *testing.T) { // whose files go with it
			for range 200 {
				passages += attack(t, seed+uint64(done))
				done++
			}
		})
		if !held {
			return
		}
	}
	t.Logf("%d learners, %g measurements", done, passages)
	if passages < 2*float64(attacks) {
		t.Errorf("%d hostile learners were measured for %g times: the attack is blind", done, passages)
	}
}
