// SPDX-License-Identifier: Apache-2.0

package dp

import "fmt"

// Strength classifies how much a guarantee promises by its ε alone. Every text that calls an ε strong,
// moderate or weak takes the word from here.
type Strength string

const (
	Strong   Strength = "strong"
	Moderate Strength = "moderate"
	Weak     Strength = "weak"
)

// The bounds of the classes, from Ponomareva et al. 2023, "How to DP-fy ML", section 5.2, which calls
// the middle one reasonable.
const (
	strongUpTo   = 1 * Nano
	moderateUpTo = 10 * Nano
)

// Strength returns the class of e.
func (e Epsilon) Strength() Strength {
	switch {
	case e <= strongUpTo:
		return Strong
	case e <= moderateUpTo:
		return Moderate
	}
	return Weak
}

// DescribeScale returns a sentence on the classes and their source.
func DescribeScale() string {
	return fmt.Sprintf("Ponomareva et al. (2023, How to DP-fy ML) call a guarantee strong up to epsilon = %s, "+
		"reasonable (here: %s) up to %s, and weak above.", Epsilon(strongUpTo), Moderate, Epsilon(moderateUpTo))
}

// Warning returns a warning about a price that promises little; "" for others.
func (e Epsilon) Warning() string {
	if e.Strength() != Weak {
		return ""
	}
	return fmt.Sprintf("WEAK: an epsilon above %s rules out little, and a reader of the model may become almost certain "+
		"of what is protected", Epsilon(moderateUpTo))
}
