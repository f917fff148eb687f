// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Moves is the sensitivity of a vector of numbers: how far a neighbouring table changes it, in L1 and
// in L2. The functions below are the theorem from which every measurement takes its sensitivity (1.1
// to 1.5).
type Moves struct{ L1, L2 float64 }

// OneCell is for vectors in which a row adds at most 1 to one number and nothing to the others. A row
// appears, or moves from one cell to another (1.1). The float64 nearest to √2 is above √2.
func OneCell(relation dp.Relation) Moves {
	if relation == dp.AddRemove {
		return Moves{1, 1}
	}
	return Moves{2, math.Sqrt2}
}

// OneCellOfEach is for the concatenation of the given number of such vectors. No number changes by
// more than 1, so that the squared L2 distance is at most the L1 distance (1.4).
func OneCellOfEach(relation dp.Relation, vectors int) Moves {
	if vectors == 1 {
		return OneCell(relation)
	}
	l1 := OneCell(relation).L1 * float64(vectors)
	return Moves{l1, math.Nextafter(math.Sqrt(l1), math.Inf(1))}
}

// Signed is for vectors to which a row adds at most 1 in L1, with any signs (1.2).
func Signed(relation dp.Relation) Moves {
	m := OneCell(relation)
	return Moves{m.L1, m.L1}
}

// Toggled is for public cells times a label. Each row has a vector that depends on its public cells,
// with these norms, and adds it if its label is the counted one. A neighbour changes the label of one
// row (1.3).
func Toggled(l1, l2 float64) Moves { return Moves{l1, l2} }

// Times is for units that have at most most rows each (1.5). The product of an L2 length is rounded
// up.
func (m Moves) Times(most int) Moves {
	if most == 1 {
		return m
	}
	return Moves{float64(most) * m.L1, math.Nextafter(float64(most)*m.L2, math.Inf(1))}
}

// Variance returns the variance of the noise on one number with sensitivity m, measured for s; 0
// without a share.
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
