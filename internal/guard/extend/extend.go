// SPDX-License-Identifier: Apache-2.0

// Package extend opens a guard for measurements with their own proofs: those of the laboratory's
// learners, of sites that share noise, and of deliberately wrong learners that audits must
// refute. No learner of the product may import it.
package extend

import (
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
)

// Open returns the inside of g.
func Open(g *guard.Guard) guard.Inside { return g.Inside(inside.Take()) }
