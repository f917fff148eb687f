// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// countFits is the number of binary fits for a label: one if it has two levels, otherwise one per
// level, each against all others.
func countFits(s *schema.Schema) int {
	if k := s.Classes(); k > 2 {
		return k
	}
	return 1
}

// splitClasses makes one plan per level. Each has its own part of ε, by which its own noise is scaled:
// every fit reads every row, so that their prices add up (4.1).
func (pl *Plan) splitClasses() error {
	k := countFits(pl.s)
	shares := make([]dp.Epsilon, k)
	if !pl.NotPrivate {
		var err error
		if shares, err = pl.Epsilon.Split(k); err != nil {
			return err
		}
	}
	if pl.Method == Auto { // by the smallest part, the last, for all
		least := *pl
		least.Epsilon = shares[k-1]
		pl.Method = autoMethod(least.noiseLength(pl.rows))
	}
	for level, share := range shares {
		part := *pl
		part.parts, part.bill = nil, nil
		part.Epsilon, part.of = share, fmt.Sprintf(", level %d of %d", level+1, k)
		part.settleMethod()
		pl.parts = append(pl.parts, &part)
		pl.bill = append(pl.bill, part.bill...)
	}
	return nil
}
