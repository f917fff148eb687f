// SPDX-License-Identifier: Apache-2.0

package learn

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
)

// Plan is a checked and priced fit. It holds no data.
type Plan interface {
	// Terms returns what one Fit protects and its bill, in the order of the measurements.
	Terms() guard.Terms
	// Facts lists what a user should know before paying, in reading order.
	Facts() []Fact
	// Fit trains with the answers of g, which was opened with Terms. It fails only for a fault of the
	// engine or a cancelled context, never for a reason that depends on a value.
	Fit(ctx context.Context, g *guard.Guard) (*model.Model, error)
}

// Fact is one line of a plan.
type Fact struct {
	Key   string  // stable name for programs, e.g. "noise_scale"
	Value any     // number, string, bool or a list of them
	Text  string  // the line for readers
	Next  dp.Step // what would complete the fact, if something does
}
