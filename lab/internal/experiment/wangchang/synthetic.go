// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math"
	"math/rand/v2"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// The paper names ten meaningful attributes and ten that are linear
// combinations of them, in the words of scikit-learn's make_classification,
// whose law and defaults these are: two clusters a class, centred on corners of
// a cube of half side 1, each stretched by a random matrix; one label in a
// hundred is drawn again.
const (
	meaningful  = 10
	dependent   = 10
	syntheticD  = meaningful + dependent
	clusters    = 4
	redrawLabel = 0.01
)

// drawCorners are different corners of the cube.
func drawCorners(r *rand.Rand) [clusters][meaningful]float64 {
	var out [clusters][meaningful]float64
	for c, corner := range r.Perm(1 << meaningful)[:clusters] {
		for j := range meaningful {
			out[c][j] = float64(2*(corner>>j&1) - 1)
		}
	}
	return out
}

// drawSynthetic draws n rows, as many of each class, and hands each to row, which
// may not keep x.
func drawSynthetic(n int, src rng.Source, row func(i int, x *[syntheticD]float64, class uint8)) {
	r := rand.New(src)
	centre := drawCorners(r)
	mix := func() (m [meaningful][meaningful]float64) {
		for i := range m {
			for j := range m[i] {
				m[i][j] = 2*r.Float64() - 1
			}
		}
		return m
	}
	var stretch [clusters][meaningful][meaningful]float64
	for c := range stretch {
		stretch[c] = mix()
	}
	combine := mix() // ten into ten
	var z [meaningful]float64
	var x [syntheticD]float64
	for i := range n {
		c := i % clusters
		for j := range z {
			z[j] = r.NormFloat64()
		}
		clear(x[:])
		copy(x[:], centre[c][:])
		for k, by := range z {
			addScaled(x[:meaningful], by, stretch[c][k][:])
		}
		for k := range meaningful {
			addScaled(x[meaningful:], x[k], combine[k][:])
		}
		class := uint8(c % 2)
		if r.Float64() < redrawLabel {
			class = uint8(r.IntN(2))
		}
		row(i, &x, class)
	}
}

// syntheticBits cuts each attribute at 0.
func syntheticBits(n int, src rng.Source) bits {
	b := bits{syntheticD, make([]uint8, n*syntheticD), make([]uint8, n)}
	drawSynthetic(n, src, func(i int, x *[syntheticD]float64, class uint8) {
		for j, v := range x {
			if v > 0 {
				b.is[i*syntheticD+j] = 1
			}
		}
		b.y[i] = class
	})
	return b
}

// syntheticTable is the same rows as numbers in [-8, 8], in steps of a
// sixteenth.
func syntheticTable(n int, src rng.Source) *dataset.Table {
	const most, steps = 8, 256
	s := schemaOf("synthetic", syntheticD, 2)
	t := &dataset.Table{Schema: s, Rows: n, Cols: make([]column.Column, syntheticD), Labels: make([]uint8, n)}
	var values []float64
	for k := range steps + 1 {
		values = append(values, float64(k)*2*most/steps-most)
	}
	for j := range t.Cols {
		s.Columns[j].Lower, s.Columns[j].Upper = -most, most
		t.Cols[j] = column.Column{Values: values, Codes: column.Codes{U16: make([]uint16, n)}}
	}
	drawSynthetic(n, src, func(i int, x *[syntheticD]float64, class uint8) {
		for j, v := range x {
			t.Cols[j].Codes.U16[i] = uint16(math.Round((min(max(v, -most), most) + most) * steps / (2 * most)))
		}
		t.Labels[i] = class
	})
	return t
}
