// SPDX-License-Identifier: Apache-2.0

package dp

// Price is the guarantee that a bill pays for: the releases together are (ε, δ)-DP.
//
// If Delta is 0, the guarantee is pure, and Epsilon is the bill's Total. Otherwise the releases are
// accounted jointly (accounting.Within), and no line of the bill has a share of δ.
type Price struct {
	Epsilon Epsilon
	Delta   Delta
}

// Pure returns the price of a bill whose releases all have a pure price. Its Epsilon is Infinite if
// one of them does not.
func Pure(bill []Event) Price { return Price{Epsilon: Total(bill)} }

// Statement is a trained model's statement about its cost.
type Statement struct {
	Scope   Scope
	Price   Price
	Bill    []Event
	Counted bool // by a ledger
	Seeded  bool // with reproducible randomness
}

// String formats the price on one line.
func (p Price) String() string {
	if p.Delta == 0 {
		return "epsilon = " + p.Epsilon.String()
	}
	return "epsilon = " + p.Epsilon.String() + ", delta = " + p.Delta.String()
}
