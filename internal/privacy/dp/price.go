// SPDX-License-Identifier: Apache-2.0

package dp

// Price is the guarantee that a bill buys in all: what leaves is (ε, δ)-DP.
//
// Where Delta is 0 the guarantee is pure, and Epsilon is the bill's Total.
// Where it is not, the releases are accounted jointly (accounting.Within), and
// no line of the bill has a share of δ.
type Price struct {
	Epsilon Epsilon
	Delta   Delta
}

// Pure is the price of a bill whose releases all have a pure price. Its Epsilon
// is Infinite if one has not.
func Pure(bill []Event) Price { return Price{Epsilon: Total(bill)} }

// Statement is what a trained model says about its cost.
type Statement struct {
	Scope   Scope
	Price   Price
	Bill    []Event
	Counted bool // by a ledger
	Seeded  bool // with randomness that can be reproduced
}

// String writes the price in words of one line.
func (p Price) String() string {
	if p.Delta == 0 {
		return "epsilon = " + p.Epsilon.String()
	}
	return "epsilon = " + p.Epsilon.String() + ", delta = " + p.Delta.String()
}
