// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Moves is how far a neighbouring table moves a vector of numbers, in L1 and in L2. The functions
// below are the theorem from which every measurement takes it (1.1 to 1.5).
type Moves struct{ L1, L2 float64 }

// OneCell is for numbers of which a row adds at most 1 to one and nothing to the others: a row
// appears, or it leaves one cell for another (1.1). The float64 next to √2 lies above it.
func OneCell(relation dp.Relation) Moves {
	if relation == dp.AddRemove {
		return Moves{1, 1}
	}
	return Moves{2, math.Sqrt2}
}

// OneCellOfEach is for so many such vectors side by side. No number moves by more than 1, so the
// square of the L2 distance is at most the L1 distance (1.4).
func OneCellOfEach(relation dp.Relation, vectors int) Moves {
	if vectors == 1 {
		return OneCell(relation)
	}
	l1 := OneCell(relation).L1 * float64(vectors)
	return Moves{l1, math.Nextafter(math.Sqrt(l1), math.Inf(1))}
}

// Signed is for numbers to which a row adds at most 1 in L1, of either sign (1.2).
func Signed(relation dp.Relation) Moves {
	m := OneCell(relation)
	return Moves{m.L1, m.L1}
}

// Toggled is for public cells times a label: each row has a vector that its public cells decide, of
// these lengths, and adds it if the label is the one that is counted. A neighbour changes the label
// of one row (1.3).
func Toggled(l1, l2 float64) Moves { return Moves{l1, l2} }

// Times is for units that count for at most most rows each (1.5). The product of an L2 length is
// rounded up.
func (m Moves) Times(most int) Moves {
	if most == 1 {
		return m
	}
	return Moves{float64(most) * m.L1, math.Nextafter(float64(most)*m.L2, math.Inf(1))}
}

// Variance is that of the noise on one number that moves so and is measured for s; 0 for no share.
func (s Share) Variance(m Moves) float64 {
	switch {
	case s.Rho > 0:
		return m.L2 * m.L2 / (2 * s.Rho.Float())
	case s.Epsilon > 0:
		scale := m.L1 / s.Epsilon.Float()
		return 2 * scale * scale
	}
	return 0
}
