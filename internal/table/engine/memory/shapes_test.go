// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// tableOf has as many rows as labels, with these codes of the columns a and b of random; class 0
// is positive.
func tableOf(a, b []uint32, labels []uint8) *Table {
	tab := random(1, len(labels))
	tab.Cols[1].Codes, tab.Cols[3].Codes = column.Narrow(a, 4), column.Narrow(b, 3)
	tab.Labels = labels
	m, err := New(tab)
	if err != nil {
		panic(err)
	}
	return m
}

// shapeOf has these steps for the first codes of a column, and 0 for the others.
func shapeOf(m *Table, col int, steps ...float64) feature.Shape {
	sh := feature.Shape{Bins: feature.NewBins(m.t.Schema, col, nil)}
	sh.Steps = make([]float64, sh.Len())
	copy(sh.Steps, steps)
	return sh
}

// Three rows by hand: one of the length most, one that is longer, and one that is shorter and
// has the chances 3/4.
func TestShapeSlopesInClosedForm(t *testing.T) {
	m := tableOf([]uint32{0, 1, 2}, []uint32{0, 0, 1}, []uint8{0, 1, 0})
	f := &feature.Additive{Shapes: []feature.Shape{shapeOf(m, 3, 0, math.Log(3))}}
	shapes := []feature.Shape{shapeOf(m, 1, 3, 30, -1), shapeOf(m, 1, 4, 40, 0)}
	got, err := m.ShapeSlopes(context.Background(), f, shapes, 5)
	if err != nil {
		t.Fatal(err)
	}
	units := func(x float64) int64 { return int64(x * engine.WeightOne) }
	want := engine.ShapeSlopes{ // the slopes of the first two rows are each other's opposites
		Slopes: []int64{units(-0.2 / 4), 0},
		Curves: []int64{2*units(0.36/4) + units(0.04*3/16), 2 * units(math.Sqrt2*0.48/4), 2 * units(0.64/4)},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// someShapes are of every kind of column and of a pair; a score has them, too, and clips some.
func someShapes(seed uint64, tab *dataset.Table) (f *feature.Additive, shapes []feature.Shape) {
	draw := rand.New(rand.NewPCG(seed, 1))
	number, wide := feature.NewBins(tab.Schema, 0, []float64{-0.5, 0.05, 3}), feature.NewBins(tab.Schema, 4, nil)
	f = &feature.Additive{Intercept: 0.25, Clip: &feature.Clip{Shapes: 2, Low: -0.75, High: 0.5}}
	for _, b := range []feature.Bins{feature.NewBins(tab.Schema, 1, nil), number, wide, feature.Cross(number, wide)} {
		for _, into := range []*[]feature.Shape{&f.Shapes, &shapes} {
			sh := feature.Shape{Bins: b, Steps: make([]float64, b.Len())}
			for i := range sh.Steps {
				sh.Steps[i] = draw.NormFloat64()
			}
			*into = append(*into, sh)
		}
	}
	return f, shapes
}

// naiveShapeSlopes adds up row by row what the definition says, in nats.
func naiveShapeSlopes(m *Table, f *feature.Additive, shapes []feature.Shape, most float64) (slopes, curves []float64) {
	stepOf := func(sh *feature.Shape, row int) float64 { return sh.Steps[sh.Bind(m.t.Cols).At(row)] }
	slopes = make([]float64, len(shapes))
	for row, label := range m.t.Labels {
		z := f.Intercept
		for k := range f.Shapes {
			z += stepOf(&f.Shapes[k], row)
			if f.Clip != nil && k == f.Clip.Shapes-1 {
				z = math.Min(math.Max(z, f.Clip.Low), f.Clip.High)
			}
		}
		x, square := make([]float64, len(shapes)), 0.0
		for k := range shapes {
			x[k] = stepOf(&shapes[k], row)
			square += x[k] * x[k]
		}
		p, y, weight := 1/(1+math.Exp(-z)), 0.0, 1.0
		if int(label) == m.positive {
			y = 1
		}
		if m.weights != nil {
			weight = float64(m.weights[row]) / engine.WeightOne
		}
		at := 0
		for a := range x {
			x[a] *= math.Min(1, most/math.Sqrt(square)) / most
			slopes[a] += weight * (y - p) * x[a]
			for b := range a + 1 {
				if row == 0 {
					curves = append(curves, 0)
				}
				times := math.Sqrt2
				if a == b {
					times = 1
				}
				curves[at] += weight * times * p * (1 - p) * x[a] * x[b]
				at++
			}
		}
	}
	return slopes, curves
}

// Each row is cut off by less than a unit, whatever it weighs, and whatever class is positive.
func TestShapeSlopesAgreeWithNaiveTwin(t *testing.T) {
	persons := open(t, personTable(3, 2500, 700))
	levels := open(t, leveled(4, 2500))
	weighed := persons.Persons().Weigh(2).(*Table)
	for name, m := range map[string]*Table{"persons": weighed, "their view": weighed.Against(1).(*Table),
		"class 0": levels.Against(0).(*Table), "class 2": levels.Against(2).(*Table)} {
		f, shapes := someShapes(5, m.t)
		for _, most := range []float64{0.5, 2, 100} {
			got, err := m.ShapeSlopes(context.Background(), f, shapes, most)
			if err != nil {
				t.Fatal(err)
			}
			slopes, curves := naiveShapeSlopes(m, f, shapes, most)
			for what, sums := range map[string]struct {
				got  []int64
				want []float64
			}{"slope": {got.Slopes, slopes}, "curve": {got.Curves, curves}} {
				if len(sums.got) != len(sums.want) {
					t.Fatalf("%s: %d sums, want %d", what, len(sums.got), len(sums.want))
				}
				// A unit for what is cut off, and a half for scores and steps in units.
				for k, want := range sums.want {
					off := float64(sums.got[k]) - want*engine.WeightOne
					if !(math.Abs(off) <= 1.5*float64(m.t.Rows)) {
						t.Errorf("%s, at most %g: %s %d is off by %g units of %d rows", name, most, what, k, off, m.t.Rows)
					}
				}
			}
		}
	}
}

// lengthSquared is exact where no number is more than a weight can be, and else more than any.
func lengthSquared(sums []int64) (square int64) {
	for _, x := range sums {
		if x < -engine.WeightOne || x > engine.WeightOne {
			return math.MaxInt64
		}
		square += x * x
	}
	return square
}

// No row adds more than its weight in length to slopes, nor more than a quarter of it to curves,
// to the unit, whatever steps and most are.
func TestARowsShapeSlopesAreShort(t *testing.T) {
	draw := rand.New(rand.NewPCG(6, 7))
	longest := int64(0)
	for range 4000 {
		m := tableOf([]uint32{0}, []uint32{0}, []uint8{uint8(draw.IntN(2))})
		one := int64(engine.WeightOne)
		if draw.IntN(2) == 0 {
			one = 1 + draw.Int64N(engine.WeightOne)
			m.weights = []uint32{uint32(one)}
		}
		f := &feature.Additive{Intercept: []float64{0, 0, draw.NormFloat64(), -feature.MaxStep}[draw.IntN(4)]}
		large := math.Exp2(float64(draw.IntN(45) - 25))
		var shapes []feature.Shape
		for range 1 + draw.IntN(40) {
			step := []float64{0, 1, -1, draw.NormFloat64(), 2*draw.Float64() - 1}[draw.IntN(5)] * large
			shapes = append(shapes, shapeOf(m, 1, max(-feature.MaxStep, min(feature.MaxStep, step))))
		}
		most := []float64{large, math.SmallestNonzeroFloat64, math.MaxFloat64, math.Inf(1), draw.ExpFloat64()}[draw.IntN(5)]
		got, err := m.ShapeSlopes(context.Background(), f, shapes, most)
		if err != nil {
			t.Fatal(err)
		}
		slopes, curves := lengthSquared(got.Slopes), lengthSquared(got.Curves)
		if slopes > one*one || curves > one*one/16 {
			t.Fatalf("a row of weight %d: slopes of length √%d, curves of √%d (score %g, most %g, steps up to %g)", one,
				slopes, curves, f.Intercept, most, large)
		}
		if one == engine.WeightOne {
			longest = max(longest, slopes)
		}
	}
	if math.Sqrt(float64(longest)) < 0.999*engine.WeightOne {
		t.Errorf("the longest slopes of a row have the length √%d: the bound was not tried", longest)
	}
}

// Sums are the same to the unit for any order of the rows, and are those of parts, added up.
func TestShapeSlopesOfPartsAddUp(t *testing.T) {
	ctx := context.Background()
	tab := random(8, 5*cellRows+77)
	f, shapes := someShapes(9, tab)
	ask := func(rows []int) engine.ShapeSlopes {
		m := open(t, tab.Subset(rows))
		sums, err := m.ShapeSlopes(ctx, f, shapes, 1.5)
		if err != nil {
			t.Fatal(err)
		}
		return sums
	}
	order := rand.New(rand.NewPCG(10, 11)).Perm(tab.Rows)
	m := open(t, tab)
	want, err := m.ShapeSlopes(ctx, f, shapes, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	if got := ask(order); !reflect.DeepEqual(got, want) {
		t.Error("other sums of the same rows in another order")
	}
	sum := ask(nil)
	if sum.Slopes == nil || lengthSquared(append(sum.Slopes, sum.Curves...)) != 0 {
		t.Errorf("the sums of no rows are %v", sum)
	}
	for _, cut := range [][2]int{{0, 1}, {1, 1500}, {1500, tab.Rows}} {
		part := ask(order[cut[0]:cut[1]])
		for k, x := range part.Slopes {
			sum.Slopes[k] += x
		}
		for k, x := range part.Curves {
			sum.Curves[k] += x
		}
	}
	if !reflect.DeepEqual(sum, want) {
		t.Error("the sums of parts are not those of the whole")
	}
}

func TestShapeSlopesAreRefused(t *testing.T) {
	three := open(t, leveled(2, 50))
	persons := open(t, personTable(2, 50, 9))
	rows := open(t, random(2, 50))
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	f, shapes := someShapes(2, rows.t)
	for name, c := range map[string]struct {
		ctx    context.Context
		m      *Table
		shapes []feature.Shape
		most   float64
	}{
		"three levels":       {context.Background(), three, shapes, 1},
		"unsettled persons":  {context.Background(), persons, shapes, 1},
		"a cancelled pass":   {cancelled, rows, shapes, 1},
		"no length":          {context.Background(), rows, shapes, 0},
		"a length below 0":   {context.Background(), rows, shapes, -1},
		"a length of no use": {context.Background(), rows, shapes, math.NaN()},
		"no shape":           {context.Background(), rows, nil, 1},
		"too many shapes":    {context.Background(), rows, make([]feature.Shape, engine.MostShapes+1), 1},
	} {
		if _, err := c.m.ShapeSlopes(c.ctx, f, c.shapes, c.most); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
	if _, err := rows.ShapeSlopes(context.Background(), f, shapes, 1); err != nil {
		t.Error(err)
	}
}

func BenchmarkShapeSlopes(b *testing.B) {
	m := open(b, random(1, 1_000_000))
	draw := rand.New(rand.NewPCG(1, 2))
	f := &feature.Additive{Intercept: 0.5}
	var shapes []feature.Shape
	for k := range 16 {
		bins := feature.NewBins(m.t.Schema, []int{0, 1, 3, 4}[k%4], []float64{0, 1})
		sh := feature.Shape{Bins: bins, Steps: make([]float64, bins.Len())}
		for i := range sh.Steps {
			sh.Steps[i] = draw.NormFloat64() / 4
		}
		shapes = append(shapes, sh)
	}
	f.Shapes = shapes
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.ShapeSlopes(context.Background(), f, shapes, 1); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(m.t.Rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
