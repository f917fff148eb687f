// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Addend releases one owner's vector into a secret sum. It must be released nowhere else, because by
// itself it is nearly the true vector. Coordinates outside [-1, 1] are clamped.
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

// CellAddend releases the cells of one owner, all with the same weight, into a secret sum. A weight
// outside [0, 1] is clamped. Cells must ascend.
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

// noiseShare draws one of parts independent integers whose sum has the discrete Laplace distribution
// with the given scale. It is the difference of two variables with a Pólya distribution: the negative
// binomial distribution with shape 1/parts.
func noiseShare(src rng.Source, parts, scale uint64) int64 {
	up := drawPolya(src, drawGeometric(src, scale), 1, parts)
	down := drawPolya(src, drawGeometric(src, scale), 1, parts)
	return int64(up) - int64(down) // 3.2
}

// drawPolya draws the sum of some of parts equal shares, given their total, which is geometric. Given
// their sum, independent negative binomial variables of shape 1/parts each are distributed like the
// colours in Pólya's urn that begins with 1/parts of each. After j draws, x of which were among the
// selected colours, the next is too with probability (some/parts + x)/(1 + j). This is a quotient of
// integers, so the draw is exact.
func drawPolya(src rng.Source, total, some, parts uint64) (x uint64) {
	p := places{src: src}
	for j := range total {
		if p.drawBelow(some+parts*x, parts*(j+1)) {
			x++
		}
	}
	return x
}

// places uses random words twelve bits at a time. An urn needs hundreds of Bernoulli draws, and the
// first bits decide nearly all of them.
type places struct {
	src  rng.Source
	word uint64
	left int // bits of word that are not used
}

// drawBelow is true with probability num/den ≤ 1, exactly: it compares a uniform binary fraction with
// the binary expansion of num/den. den is at most 2^52.
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
