// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math/bits"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// GRR is generalised randomised response over the cells and the answer "none": the true answer has
// weight Inner, and each of the Dim others weight Outer. An owner with a weight below 1 reports on its
// cell with that probability, and otherwise on "none". Report: one word, the cell, or Dim for none.
//
// Claim G-LOCAL-6. Inner/Outer ≤ e^ε, and the weights add up to Total for any true answer: a report is
// (ε, 0)-DP.
type GRR struct {
	eps          dp.Epsilon
	dim          int
	Inner, Outer uint64
}

// GRRFor makes the mechanism.
func GRRFor(eps dp.Epsilon, cells int) (GRR, error) {
	const op = "grr"
	if err := checkSize(op, eps, "cells", cells, maxDim); err != nil {
		return GRR{}, err
	}
	if err := checkPart(op, eps); err != nil {
		return GRR{}, err
	}
	l := GRR{eps: eps, dim: cells}
	l.Inner, l.Outer = weightsFor(eps, bits.Len(uint(cells)))
	return l, nil
}

// Total is the sum of the weights of all answers; it is below 2^62.
func (l GRR) Total() uint64 { return l.Inner + uint64(l.dim)*l.Outer }

func (l GRR) Name() string     { return "grr" }
func (l GRR) Loss() dp.Epsilon { return l.eps }
func (l GRR) Dim() int         { return l.dim }
func (l GRR) Words() int       { return 1 }
func (l GRR) Bias() float64    { return 0 }
func (l GRR) cells()           {}
func (l GRR) tally() int       { return l.dim }

func (l GRR) lieProbability() float64 { return nearestRatio(bigOf(l.Outer), bigOf(l.Total())) }
func (l GRR) truthGain() float64      { return nearestRatio(bigOf(l.Inner-l.Outer), bigOf(l.Total())) }

// Check implements Law.
func (l GRR) Check(r Report) error {
	switch {
	case len(r) != 1:
		return reportError(l, "has %d words, not 1", len(r))
	case uint64(r[0]) > uint64(l.dim):
		return reportError(l, "names cell %d of %d", r[0], l.dim)
	}
	return nil
}

// Add implements Law.
func (l GRR) Add(t *Tally, r Report) {
	t.Reports++
	if int(r[0]) < l.dim {
		t.Sums[r[0]]++
	}
}

// Sum implements Law.
func (l GRR) Sum(t Tally) []float64 { return excessCounts(t, l.lieProbability(), l.truthGain()) }

// Variance implements Law.
func (l GRR) Variance(x float64) float64 {
	p := l.lieProbability() + x*l.truthGain()
	return p * (1 - p) / (l.truthGain() * l.truthGain())
}

// Reach implements Law.
func (l GRR) Reach() float64 { return max(1-l.lieProbability(), l.lieProbability()) / l.truthGain() }
