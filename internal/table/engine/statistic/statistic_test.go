// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// hostile is numbers that no learner should ask with.
var hostile = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0x1p43, -0x1p43, 1e-300}

// drawn is a small random table, and questions about it.
type drawn struct {
	*rand.Rand
	wild    bool // numbers may be hostile
	s       *schema.Schema
	cols    []column.Column
	labels  []uint8
	weights []uint32
}

const drawnRows = 60

func draw(seed uint64, wild bool) *drawn {
	d := &drawn{Rand: rand.New(rand.NewPCG(seed, 1)), wild: wild}
	levels := func(n int) (out []schema.Level) {
		for i := range n {
			out = append(out, schema.Level{Value: fmt.Sprint(i)})
		}
		return out
	}
	zero, marked := 0.0, 7.0
	d.s = &schema.Schema{Name: "drawn", Columns: []schema.Column{
		{Name: "number", Kind: schema.Number, Lower: -1, Upper: 8, Default: &zero},
		{Name: "marked", Kind: schema.Number, Lower: 0, Upper: 9, Default: &marked, Missing: true},
		{Name: "category", Kind: schema.Category, Levels: levels(3)},
		{Name: "wide", Kind: schema.Category, Levels: levels(300)},
	}, Label: schema.Label{Name: "label", Levels: levels(2 + d.IntN(3)), Positive: d.IntN(2)}}
	if d.s.Classes() > 2 {
		d.s.Label.Positive = -1
	}
	for k := range d.s.Columns {
		c := &d.s.Columns[k]
		var col column.Column
		n := c.Codes()
		if c.Kind == schema.Number {
			for n = 0; n < 9; n++ {
				col.Values = append(col.Values, float64(n)*0.9)
			}
			if c.Missing {
				col.Marks = []uint8{8: 1}
			}
		}
		codes := make([]uint32, drawnRows)
		for i := range codes {
			codes[i] = uint32(d.IntN(n))
		}
		col.Codes = column.Narrow(codes, n)
		d.cols = append(d.cols, col)
	}
	for range drawnRows {
		d.labels = append(d.labels, uint8(d.IntN(d.s.Classes())))
	}
	if d.IntN(2) == 0 {
		for range drawnRows {
			d.weights = append(d.weights, []uint32{0, 1, 3, engine.WeightOne / 3, engine.WeightOne - 1, engine.WeightOne}[d.IntN(6)])
		}
	}
	return d
}

func (d *drawn) number() float64 {
	if d.wild && d.IntN(4) == 0 {
		return hostile[d.IntN(len(hostile))]
	}
	return d.NormFloat64() * math.Exp2(float64(d.IntN(8)-2))
}

func (d *drawn) Numbers(n int) (out []float64) {
	for range n {
		out = append(out, d.number())
	}
	return out
}

func (d *drawn) column(k int) feature.Bins {
	b := feature.NewBins(d.s, k, []float64{0.5, 4}[:1+d.IntN(2)])
	if d.s.Columns[k].Kind == schema.Category && d.IntN(2) == 0 {
		of := make([]uint32, d.s.Columns[k].Codes())
		for i := range of {
			of[i] = uint32(i % 2)
		}
		return feature.NewGroups(k, of, 2)
	}
	return b
}

func (d *drawn) bins() (bins []feature.Bins) {
	for range 1 + d.IntN(4) {
		switch b := d.column(d.IntN(4)); d.IntN(4) {
		case 0:
			bins = append(bins, feature.Cross(b, d.column(d.IntN(4))))
		case 1:
			bins = append(bins, feature.CutScore(d.additive(), []float64{-1, 0, 2}))
		default:
			bins = append(bins, b)
		}
	}
	return bins
}

func (d *drawn) additive() *feature.Additive {
	f := &feature.Additive{Intercept: d.number()}
	for range d.IntN(4) {
		b := d.column(d.IntN(4))
		if d.IntN(3) == 0 {
			b = feature.Cross(b, d.column(d.IntN(4)))
		}
		f.Shapes = append(f.Shapes, feature.Shape{Bins: b, Steps: d.Numbers(b.Len())})
	}
	if d.IntN(2) == 0 {
		f.Clip = &feature.Clip{Shapes: min(1, len(f.Shapes)), Low: -1, High: 0.5}
	}
	return f
}

func (d *drawn) grid() (g feature.Grid) {
	for _, k := range d.Perm(4)[:1+d.IntN(3)] {
		g.Axes = append(g.Axes, d.column(k))
	}
	return g
}

func (d *drawn) score(width int) *StepScore {
	f := NewStepScore(d.Numbers(width))
	for range d.IntN(3) {
		g := d.grid()
		f.AddGrid(g, d.Numbers(width*g.Cells()))
	}
	return f
}

func (d *drawn) shape() *feature.LevelShape {
	sh := &feature.LevelShape{Bins: d.column(d.IntN(4))}
	for range d.s.Classes() {
		sh.Steps = append(sh.Steps, d.Numbers(sh.Len()))
	}
	return sh
}

func (d *drawn) Space() *feature.Space {
	sp, err := feature.NewSpace(d.s, []feature.Encoding{feature.OneHot, feature.Ordinal}[d.IntN(2)], d.Perm(4)[:1+d.IntN(3)])
	if err != nil {
		panic(err)
	}
	return sp
}

// statistics draws a statistic of each kind.
var statistics = map[string]func(d *drawn) engine.Statistic{
	"cells": func(d *drawn) engine.Statistic {
		c := Cells{Bins: d.bins(), Caps: FullCaps}
		if d.IntN(3) > 0 {
			c.Under = d.additive()
		}
		if d.IntN(2) == 0 {
			c.Caps = Caps{1 + d.Uint32N(engine.WeightOne), 1 + d.Uint32N(engine.WeightOne)}
		}
		return c
	},
	"class_cells": func(d *drawn) engine.Statistic { return ClassCells{d.bins()} },
	"class_residuals": func(d *drawn) engine.Statistic {
		return ClassResiduals{d.score(d.s.Classes()), d.bins()[0]}
	},
	"class_slope": func(d *drawn) engine.Statistic {
		c := ClassSlope{d.score(d.s.Classes()), d.shape(), math.Abs(d.NormFloat64()), 0}
		if d.IntN(2) == 0 {
			c.Along = nil
		}
		return c
	},
	"grid_slopes": func(d *drawn) engine.Statistic {
		g := GridSlopes{Under: d.score(gridScores(d.s)), Limit: SlopeLimit{1 - d.Float64(), SlopeNorm(d.IntN(2) == 0)}}
		for range 1 + d.IntN(4) {
			g.Grids = append(g.Grids, d.grid())
		}
		return g
	},
}

// Outside are the kinds of packages that import this one: their tests here fill them in.
var Outside = map[string]Outsider{}

type (
	Outsider struct {
		Draw  func(d *Drawn) engine.Statistic
		Bound func(of engine.Statistic, label uint8, one []int64) bool // of what a row adds
		Same  func(a, b []int64) bool                                  // the same numbers, which may be written in several ways
	}
	Drawn = drawn
)

// pass adds up rows, cut into runs of at most so many. What they score is found in two steps, first by
// the terms before number known.
func (d *drawn) pass(of engine.Statistic, v *engine.View, rows []int, most, known int) []int64 {
	n, _ := of.Size(v)
	all := make([]int64, n)
	var score engine.Score
	if s, ok := of.(engine.Scored); ok {
		score = s.Score()
	}
	read := of.Columns()
	if score != nil {
		read = append(slices.Clone(read), score.TermColumns(0)...)
	}
	run := &engine.Run{View: v, Cols: make([]column.Column, len(d.cols))}
	for _, j := range read {
		run.Cols[j] = column.Column{Codes: d.cols[j].Codes.Run(0, 0), Values: d.cols[j].Values, Marks: d.cols[j].Marks}
	}
	adder := of.Adder(run)
	score1, score2 := func() {}, func() {}
	if score != nil {
		known = min(known, score.Len())
		if known > 0 {
			score1 = firstTerms(score, known).Scorer(run, 0)
		}
		score2 = score.Scorer(run, known)
	}
	for some := range slices.Chunk(rows, most) {
		for _, j := range read {
			run.Cols[j].Codes = d.cols[j].Codes.Pick(some)
		}
		run.Labels, run.Weights = nil, nil
		for _, i := range some {
			run.Labels = append(run.Labels, d.labels[i])
			if d.weights != nil {
				run.Weights = append(run.Weights, d.weights[i])
			}
		}
		if score != nil {
			run.Scores = make([]int32, len(some)*score.Width())
		}
		score1()
		score2()
		adder.Add()
	}
	adder.AddTo(all)
	return all
}

// firstTerms is a score of so many terms, which score extends.
func firstTerms(score engine.Score, n int) engine.Score {
	switch s := score.(type) {
	case margins:
		f := *s.f
		f.Shapes = f.Shapes[:n]
		return margins{&f}
	case *StepScore:
		return &StepScore{s.Start, s.Terms[:n]}
	}
	panic("firstTerms knows no such score")
}

// FuzzStatistics permutes, splits and drops rows: whatever a statistic asks with, its sums are those
// of each row alone, in any order and in any runs, and each row's are within its bound.
func FuzzStatistics(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(seed, seed%2 == 1)
	}
	f.Fuzz(func(t *testing.T, seed uint64, wild bool) {
		for _, kind := range slices.Sorted(maps.Keys(decoders)) {
			make := statistics[kind]
			if make == nil {
				make = Outside[kind].Draw
			}
			if make == nil {
				t.Fatalf("nothing draws a %s", kind)
			}
			d := draw(seed, wild)
			of := make(d)
			against := engine.WholeLabel
			if d.IntN(3) == 0 {
				against = d.IntN(d.s.Classes())
			}
			v := engine.NewView(d.s, against)
			v.Weighed = d.weights != nil
			if _, err := of.Size(v); err != nil {
				continue
			}
			d.check(t, kind, of, v)
		}
	})
}

func (d *drawn) check(t *testing.T, kind string, of engine.Statistic, v *engine.View) {
	t.Helper()
	rows := d.Perm(drawnRows)
	want := make([]int64, len(d.pass(of, v, nil, 1, 0)))
	for _, i := range rows {
		one := d.pass(of, v, []int{i}, 1, 0)
		checkBound(t, d, of, v, i, one)
		sums(one).AddTo(want)
	}
	for known := range 4 {
		if got := d.pass(of, v, rows, 1+d.IntN(drawnRows), known); !same(of, got, want) {
			t.Fatalf("%s, with scores of %d terms: all rows have other sums than one by one", kind, known)
		}
	}
	dropped := d.pass(of, v, rows[1:], 7, 0)
	sums(d.pass(of, v, rows[:1], 1, 0)).AddTo(dropped)
	if !same(of, dropped, want) {
		t.Fatalf("%s: a row that is dropped changes others", kind)
	}
	if back, err := again(d.s, of); err == nil && !same(of, d.pass(back, v, rows, drawnRows, 0), want) {
		t.Fatalf("%s: a message has another answer", kind)
	} else if err != nil && !d.wild {
		t.Fatalf("%s: %v", kind, err)
	}
}

// same reports whether sums are the same numbers.
func same(of engine.Statistic, a, b []int64) bool {
	if o, ok := Outside[kinds[reflect.TypeOf(of)]]; ok {
		return o.Same(a, b)
	}
	return slices.Equal(a, b)
}

// checkBound holds what a row adds to the bound of its statistic.
func checkBound(t *testing.T, d *drawn, of engine.Statistic, v *engine.View, row int, one []int64) {
	t.Helper()
	weight := int64(engine.WeightOne)
	if d.weights != nil {
		weight = int64(d.weights[row])
	}
	positive := v.Positive()
	bound := func(what string, ok bool) {
		if !ok {
			t.Helper()
			t.Fatalf("%T: %s of a row: %v", of, what, one)
		}
	}
	cut := func(n int) (first []int64) {
		first, one = one[:n], one[n:]
		return first
	}
	switch of := of.(type) {
	case ClassCells:
		if d.weights == nil {
			weight = 1
		}
		for k := range of.Bins {
			sizes, _ := lengths(cut(of.Bins[k].Len() * v.Schema.Classes()))
			bound("cells", sizes == weight && smallest(one) >= 0)
		}
	case Cells:
		for k := range of.Bins {
			own, other := cut(of.Bins[k].Len()), cut(of.Bins[k].Len())
			most := int64(of.Caps[0])
			if positive[d.labels[row]] == 0 {
				own, other, most = other, own, int64(of.Caps[1])
			}
			a, _ := lengths(own)
			b, _ := lengths(other)
			bound("weights", b == 0 && a <= most*weight/engine.WeightOne && smallest(own) >= 0)
			if of.Under == nil {
				bound("weights", a == most*weight/engine.WeightOne)
			}
		}
	case ClassSlope:
		sizes, _ := lengths(one)
		bound("slopes", sizes <= weight && one[1] >= 0)
	case ClassResiduals:
		sizes, _ := lengths(one)
		bound("residuals", sizes <= 2*weight)
	case GridSlopes:
		for k := range of.Grids {
			g, rest := of.cutSums(one, &of.Grids[k])
			one = rest
			sizes, length := lengths(g.Slopes)
			most := of.Limit.Most * engine.WeightOne
			bound("slopes", of.Limit.Norm == SlopesL1 && float64(sizes) <= most || of.Limit.Norm == SlopesL2 && length <= most)
			curve, _ := lengths(g.Curves)
			bound("curves", curve <= engine.WeightOne && smallest(g.Curves) >= 0)
		}
	default:
		o, ok := Outside[kinds[reflect.TypeOf(of)]]
		if !ok {
			t.Fatalf("no bound of a %T is known", of)
		}
		bound("numbers", o.Bound(of, d.labels[row], one))
	}
}

// lengths are those in L1 and L2.
func lengths(x []int64) (sizes int64, length float64) {
	for _, n := range x {
		sizes += max(n, -n)
		length = math.Hypot(length, float64(n))
	}
	return sizes, length
}

func smallest(x []int64) int64 {
	if len(x) == 0 {
		return 0
	}
	return slices.Min(x)
}
