// SPDX-License-Identifier: Apache-2.0

package main

import "github.com/discreet-dp/discreet/internal/privacy/dp"

// uncounted pays every bill and records none: what a training adds to others
// on the same table is for the operator to keep. Its models say so.
type uncounted struct{}

func (uncounted) Charge(dp.Price, []dp.Event) error { return nil }
func (uncounted) Counted() bool                     { return false }
