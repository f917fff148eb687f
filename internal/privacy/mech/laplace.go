// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"math"
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Laplace adds independent discrete Laplace noise to each number of a vector.
//
// Claim G-MECH-1. A release of values whose L1 distance between neighbours is at most Sensitivity is
// (Loss, 0)-DP, exactly, without a real-number idealisation.
type Laplace struct {
	eps  dp.Epsilon
	sens float64
	grid grid
}

// LaplaceFor makes the noise for one release of a vector of the given length with L1 sensitivity l1,
// in the units of the values.
func LaplaceFor(eps dp.Epsilon, l1 float64, length int) (Laplace, error) {
	if err := checkSize("laplace", eps, l1, length); err != nil {
		return Laplace{}, err
	}
	// Rounding moves each coordinate by at most half a step in each of the two
	// tables, hence the distance by at most one step a coordinate.
	return Laplace{eps, l1, gridFor(eps, l1, uint64(length))}, nil // 1.1
}

func (m Laplace) Name() string         { return "laplace" }
func (m Laplace) Loss() dp.Epsilon     { return m.eps }
func (m Laplace) Sensitivity() float64 { return m.sens }
func (m Laplace) Norm() Norm           { return L1 }

// Scale is the noise scale b, in the units of the values; the noise has
// standard deviation √2·b. It exceeds sens/ε by less than one part in 2^20
// for ε ≥ 0.001.
func (m Laplace) Scale() float64 { return float64(m.grid.scale) * m.grid.stepSize() }

// Grid is the public step: every output is an integer multiple of it.
func (m Laplace) Grid() float64 { return m.grid.stepSize() }

func (m Laplace) draw(src rng.Source, values []Ratio) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		k := m.grid.roundToGrid(v)                                                 // 1.2
		out[i] = m.grid.nearestFloat(k.Add(k, discreteLaplace(src, m.grid.scale))) // 1.3
	}
	return out
}

// NoNoise releases exact numbers. It exists for counterparts of learners without privacy; a model that
// used it states so.
type NoNoise struct{}

func (NoNoise) Name() string         { return "none" }
func (NoNoise) Loss() dp.Epsilon     { return 0 }
func (NoNoise) Sensitivity() float64 { return math.Inf(1) }
func (NoNoise) Norm() Norm           { return L1 }
func (NoNoise) Spread() float64      { return math.Inf(1) }

func (NoNoise) draw(_ rng.Source, values []Ratio) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i], _ = new(big.Rat).SetFrac64(v.Num, v.Den).Float64()
	}
	return out
}

// pick returns the first of the candidates with the highest score.
func (NoNoise) pick(_ rng.Source, scores []Ratio) int {
	best, at := new(big.Rat), -1
	for i, s := range scores {
		if r := new(big.Rat).SetFrac64(s.Num, s.Den); at < 0 || r.Cmp(best) > 0 {
			best, at = r, i
		}
	}
	return at
}

func checkSize(op string, eps dp.Epsilon, sens float64, length int) error {
	switch {
	case eps < 1 || eps > dp.MaxEpsilon:
		return &dp.ParamError{Op: op, Param: "epsilon", Want: "must be at least 1e-9 and at most " + dp.MaxEpsilon.String(),
			Got: eps}
	case !(sens > 0x1p-500 && sens < 0x1p500): // the grid stays far from float64's ends
		return &dp.ParamError{Op: op, Param: "sensitivity", Want: "must be finite and > 0", Got: sens}
	case length < 1:
		return &dp.ParamError{Op: op, Param: "length", Want: "must be at least 1", Got: length}
	}
	return nil
}
