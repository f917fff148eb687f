// SPDX-License-Identifier: Apache-2.0

package response

import "github.com/discreet-dp/discreet/internal/ground/dp"

// OUE is optimised unary encoding (Wang et al. USENIX Security 2017) of one cell, or none: the bit of
// the true cell is set with probability 1/2, each other with probability Lie/2^62, independently. An
// owner with a weight below 1 reports on its cell with that probability, and otherwise on none.
// Report: the bits, 32 to a word, cell 0 the lowest.
//
// Claim G-LOCAL-5. (1-p)/p ≤ e^ε for p = Lie/2^62. Two cells differ in two bits, at a loss of at most
// ln((1-p)/p); a cell and none differ in one bit, at a smaller loss: a report is (ε, 0)-DP.
type OUE struct {
	eps dp.Epsilon
	dim int
	Lie uint64
}

// OUEFor makes the mechanism.
func OUEFor(eps dp.Epsilon, cells int) (OUE, error) {
	const op = "oue"
	if err := checkSize(op, eps, "cells", cells, maxDim); err != nil {
		return OUE{}, err
	}
	if err := checkPart(op, eps); err != nil {
		return OUE{}, err
	}
	return OUE{eps, cells, lieCoin(eps)}, nil // 5.1
}

func (l OUE) Name() string     { return "oue" }
func (l OUE) Loss() dp.Epsilon { return l.eps }
func (l OUE) Dim() int         { return l.dim }
func (l OUE) Words() int       { return wordCount(l.dim) }
func (l OUE) Bias() float64    { return 0 }
func (l OUE) cells()           {}
func (l OUE) tally() int       { return l.dim }

func (l OUE) lieProbability() float64 { return float64(l.Lie) / whole }

// truthGain is the difference of the probabilities that a bit is set for the true cell and for
// another. It is exact, because both are multiples of 2^-62 and are subtracted as integers.
func (l OUE) truthGain() float64 { return float64(whole/2-l.Lie) / whole }

// Check implements Law.
func (l OUE) Check(r Report) error { return checkBits(l, r) }

// Add implements Law.
func (l OUE) Add(t *Tally, r Report) { addBits(t, r) }

// Sum implements Law.
func (l OUE) Sum(t Tally) []float64 { return excessCounts(t, l.lieProbability(), l.truthGain()) }

// Variance implements Law.
func (l OUE) Variance(x float64) float64 {
	p := l.lieProbability() + x*l.truthGain()
	return p * (1 - p) / (l.truthGain() * l.truthGain())
}

// Reach implements Law. A set bit contributes (1-p)/(1/2-p), which is more than an unset bit does.
func (l OUE) Reach() float64 { return (1 - l.lieProbability()) / l.truthGain() }

// excessCounts estimates sums of weights from counts. A report is counted for a cell with probability
// base, plus gain if the cell is the true one.
func excessCounts(t Tally, base, gain float64) []float64 {
	out := make([]float64, len(t.Sums))
	for j, n := range t.Sums {
		out[j] = (float64(n) - float64(t.Reports)*base) / gain
	}
	return out
}
