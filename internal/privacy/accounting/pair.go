// SPDX-License-Identifier: Apache-2.0

package accounting

// Pair is a dominating pair of distributions (P, Q) of one mechanism: for all
// neighbours D, D' and all ε, δ(M(D), M(D')) ≤ δ(P, Q), where δ(P, Q) is the
// supremum over events of P[S] − e^ε·Q[S]. Composition, even adaptive, keeps
// the order (Zhu, Dong, Wang 2022, Theorem 10).
//
// Claim G-ACC-1. Each constructor's pair dominates the mechanism it is named
// after. The set of pairs is closed: each has its constructor here and its paragraph
// in evidence/guarantees/accounting.md. The zero value is refused by Compose.
type Pair struct {
	// remove and add are the privacy losses log(P/Q) of the two orders of the
	// neighbours; add is nil if both are the same.
	remove, add side
}

// side is the distribution of one loss L = log(P/Q) under P.
type side interface {
	// lossShape roughly describes L, for the choice of a grid: its standard deviation, the length of
	// the relevant range, and the distance of its extreme atoms, 0 without atoms. Errors in it make
	// the bounds less tight, never wrong.
	lossShape() (deviation, length, gap float64)
	// discretise rounds L to the grid of step h, pessimistically.
	discretise(h float64) loss
}

// loss is a finite measure on the points first + i·step, and the mass of an
// infinite loss. It dominates the side it was made from once slack is added to
// every finite loss.
type loss struct {
	first    float64
	mass     []float64 // never negative
	infinite float64
	slack    float64
}

func (l loss) lossAt(i int, h float64) float64 { return l.first + float64(i)*h }
