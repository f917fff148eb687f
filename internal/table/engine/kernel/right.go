// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Right is, for each of the cuts, what the rows weigh that are answered rightly
// by calling positive whatever scores at least the cut. The score is that of
// features as the space has them, neither scaled nor shortened: coef as a model
// holds it, the intercept last. A row moves each number by at most its weight.
// One look at each row, as much as a gradient. It fails only when ctx ends, coef
// has the wrong length or there is no cut.
func (m *MarginRows) Right(ctx context.Context, coef []float64, cuts engine.Cuts) ([]float64, error) {
	switch {
	case len(coef) != m.dim:
		return nil, fmt.Errorf("engine: margins: coef must have %d numbers, one per feature and the intercept (got %d)",
			m.dim, len(coef))
	case cuts.Count < 1 || !(cuts.Step > 0):
		return nil, fmt.Errorf("engine: margins: cuts must be at least one, a positive step apart (got %d, %g)", cuts.Count,
			cuts.Step)
	}
	plain := *m
	plain.factor = nil
	s := m.newScratch(false)
	defer m.spare.Put(s)
	plain.tabulateJoints(coef, s.tables)
	inverse, most := 1/cuts.Step, float64(cuts.Count)
	// by the number of cuts that a row passes: what it is worth to be called positive
	gain := make([]float64, cuts.Count+1)
	for at := 0; at < m.Len(); at += lossBlock {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n := min(lossBlock, m.Len()-at)
		plain.scoreBlock(at, n, coef, s.tables, s)
		pos, neg := m.pos[at:][:n], m.neg[at:][:n]
		for i, z := range s.score[:n] {
			passed := 0
			if x := (z-cuts.First)*inverse + 1; x >= most {
				passed = cuts.Count
			} else if x >= 1 {
				passed = int(x)
			}
			gain[passed] += pos[i] - neg[i]
		}
	}
	right := make([]float64, cuts.Count)
	sum := sumInterleaved(m.neg)
	for k := cuts.Count - 1; k >= 0; k-- {
		sum += gain[k+1]
		right[k] = sum
	}
	return right, nil
}
