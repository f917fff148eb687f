// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// drawGRR draws the answer of generalised randomised response.
func drawGRR(src rng.Source, l response.GRR, cell int) response.Report {
	if cell == None {
		cell = l.Dim()
	}
	u := rng.Below(src, l.Total())
	if u < l.Inner {
		return response.Report{uint32(cell)}
	}
	other := int((u - l.Inner) / l.Outer) // 6.1
	if other >= cell {
		other++
	}
	return response.Report{uint32(other)}
}
