// SPDX-License-Identifier: Apache-2.0

// Package extend opens a guard from outside, for measurements that bring their own proof: those of
// the laboratory's learners, of tune, of sites that share noise, and of learners with a bug that audits
// must refute. No learner of the product may import it.
package extend

import (
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
)

// Open is the inside of g.
func Open(g *guard.Guard) guard.Inside { return g.Inside(inside.Take()) }
