// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Addend lets one owner's vector out into a secret sum, and nowhere else: alone
// it is nearly the truth. Coordinates beyond [-1, 1] count as the nearer end.
func (e *Exit) Addend(label string, l response.Addend, values []float64) ([]uint64, error) {
	switch {
	case l.Cells() > 0:
		return nil, &dp.ParamError{Op: l.Name(), Param: "values", Want: "must be cells: these addends are sized for a few"}
	case len(values) != l.Dim():
		return nil, &dp.ParamError{Op: l.Name(), Param: "values", Want: fmt.Sprintf("must have %d coordinates", l.Dim()),
			Got: len(values)}
	}
	for _, v := range values {
		if math.IsNaN(v) {
			return nil, notANumber(l)
		}
	}
	if e.tape != nil {
		ratios := make([]Ratio, len(values))
		for i, v := range values {
			ratios[i] = RatioOf(clampWeight(v, -1))
		}
		if r := e.tape.Report(label, l, ratios); r != nil {
			return widenReport(r), nil
		}
	}
	return drawAddend(e.src, l, func(j int) float64 { return values[j] }), nil
}

// CellAddend lets the cells that one owner is in out into a secret sum, with one
// weight for all; weights beyond [0, 1] count as the nearer end. Cells ascend.
func (e *Exit) CellAddend(label string, l response.Addend, cells []int, weight float64) ([]uint64, error) {
	switch {
	case l.Cells() == 0:
		return nil, &dp.ParamError{Op: l.Name(), Param: "cells", Want: "must be a vector: these addends are sized for one"}
	case len(cells) > l.Cells():
		return nil, &dp.ParamError{Op: l.Name(), Param: "cells", Want: fmt.Sprintf("must be at most %d", l.Cells())}
	case math.IsNaN(weight):
		return nil, notANumber(l)
	}
	for i, c := range cells {
		if c < 0 || c >= l.Dim() || i > 0 && c <= cells[i-1] {
			return nil, &dp.ParamError{Op: l.Name(), Param: "cells",
				Want: fmt.Sprintf("must ascend, from 0 on and below %d", l.Dim())}
		}
	}
	weight = clampWeight(weight, 0)
	if e.tape != nil {
		values := []Ratio{RatioOf(weight)}
		for _, c := range cells {
			values = append(values, Ratio{int64(c), 1})
		}
		if r := e.tape.Report(label, l, values); r != nil {
			return widenReport(r), nil
		}
	}
	return drawAddend(e.src, l, func(j int) float64 {
		if _, in := slices.BinarySearch(cells, j); in {
			return 2*weight - 1
		}
		return -1 // exactly the lowest point: it is not rounded
	}), nil
}

func widenReport(r response.Report) []uint64 {
	out := make([]uint64, len(r))
	for i, w := range r {
		out[i] = uint64(w)
	}
	return out
}

// drawAddend rounds each coordinate and adds an owner's share of the noise.
func drawAddend(src rng.Source, l response.Addend, at func(j int) float64) []uint64 {
	out := make([]uint64, l.Dim())
	lowest := int64(l.Top()-l.Steps) / 2
	for j := range out {
		steps := int64(roundToPoint(src, at(j), bits.Len64(l.Steps)-1))
		noise := noiseShare(src, uint64(l.Survivors), l.Scale)
		out[j] = uint64(min(max(lowest+steps+noise, 0), int64(l.Top())))
	}
	return out
}

// noiseShare draws one of parts independent integers whose sum has the discrete
// Laplace law of the scale: the difference of two Pólya variables, the negative
// binomial law with shape 1/parts.
func noiseShare(src rng.Source, parts, scale uint64) int64 {
	up := drawPolya(src, drawGeometric(src, scale), 1, parts)
	down := drawPolya(src, drawGeometric(src, scale), 1, parts)
	return int64(up) - int64(down) // 3.2
}

// drawPolya draws what some of parts equal shares of a geometric total come to: given
// their sum, independent negative binomial variables of shape 1/parts each have
// the law of colours drawn from Pólya's urn that begins with 1/parts of each.
// After j draws of which x were of some of the colours, the next is with
// probability (some/parts + x)/(1 + j), a quotient of integers: exact.
func drawPolya(src rng.Source, total, some, parts uint64) (x uint64) {
	p := places{src: src}
	for j := range total {
		if p.drawBelow(some+parts*x, parts*(j+1)) {
			x++
		}
	}
	return x
}

// places spends random words twelve binary places at a time: an urn takes
// hundreds of coins, and the first places decide nearly all.
type places struct {
	src  rng.Source
	word uint64
	left int // places of word that are not spent
}

// drawBelow is true with probability num/den ≤ 1, exactly: it compares a uniform
// binary fraction with the expansion of num/den. den is at most 2^52.
func (p *places) drawBelow(num, den uint64) bool {
	const width = 12
	for num < den {
		if p.left < width {
			p.word, p.left = p.src.Uint64(), 60
		}
		digit := p.word & (1<<width - 1)
		p.word, p.left = p.word>>width, p.left-width
		want, rest := num<<width/den, num<<width%den
		if digit != want {
			return digit < want
		}
		num = rest // the rest of both fractions decides; 0/den is never above
	}
	return true
}
