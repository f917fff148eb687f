// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// Repeat is one run of a figure's protocol.
type Repeat struct {
	Number int // from 0
	Seed   uint64
	figure string
}

// Stream returns the random words of one use within the repeat. Equal uses get
// equal words, whatever was drawn before: points that name the same use are
// paired.
func (r Repeat) Stream(use string) rng.Source {
	return replay.Seeded(r.Seed, fmt.Sprintf("%s, repeat %d, %s", r.figure, r.Number, use))
}
