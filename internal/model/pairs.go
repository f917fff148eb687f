// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// PairShape is the contribution of two columns together to the log-odds, in addition to the
// contribution of each. It has one bin for each combination of a bin of the first column and a bin of
// the second.
type PairShape struct {
	Columns [2]string    `json:"columns"`
	Edges   [2][]float64 `json:"edges"`           // as in Shape
	LogOdds []float64    `json:"log_odds"`        // for each bin of the first column, the bins of the second; nats
	Noise   []float64    `json:"noise"`           // as in Shape
	Moved   []float64    `json:"moved,omitempty"` // as in Shape
	// Weights are as in Cells, by bin. Codes that were counted together have equal parts of their weight.
	Weights []float64 `json:"weights,omitempty"`
}

// Bins returns the bins of the pair, whose columns are cols of s. In a pair, missing and special
// numbers have no bins of their own: they count as the column's default.
func (sh *PairShape) Bins(s *schema.Schema, cols [2]int) feature.Bins {
	return feature.Cross(feature.NewBins(s, cols[0], sh.Edges[0]).WithoutMarks(),
		feature.NewBins(s, cols[1], sh.Edges[1]).WithoutMarks())
}

func (a *Additive) checkPairs(s *schema.Schema, index map[string]int) error {
	seen := make(map[[2]string]bool, len(a.Pairs))
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		p := sh.Columns
		if seen[p] || seen[[2]string{p[1], p[0]}] || p[0] == p[1] {
			return fmt.Errorf("model: pair %d: %q and %q must be two columns with one shape", k, p[0], p[1])
		}
		seen[p] = true
		var cols [2]int
		for i, name := range p {
			j, ok := index[name]
			if !ok {
				return fmt.Errorf("model: pair %d: column %q must be in the model's schema and not ignored", k, name)
			}
			c := &s.Columns[j]
			if c.Monotone != schema.Free {
				return fmt.Errorf("model: pair %d: column %q must not be monotone: what a pair adds follows neither of its columns",
					k, name)
			}
			if err := checkEdges(c, sh.Edges[i]); err != nil {
				return fmt.Errorf("model: pair %d: %w", k, err)
			}
			cols[i] = j
		}
		bins := sh.Bins(s, cols)
		if err := checkSteps(bins.Len(), sh.LogOdds, sh.Noise); err != nil {
			return fmt.Errorf("model: pair %d: %w", k, err)
		}
		if err := a.checkMoved(sh.Moved, bins.Len()); err != nil {
			return fmt.Errorf("model: pair %d: %w", k, err)
		}
		if err := checkWeights(sh.Weights, bins.Len()); sh.Weights != nil && err != nil {
			return fmt.Errorf("model: pair %d: %w", k, err)
		}
	}
	return nil
}
