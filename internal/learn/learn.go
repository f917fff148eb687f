// SPDX-License-Identifier: Apache-2.0

// Package learn is the contract every learner keeps: plan, charge, touch.
//
// A learner's Params.Plan checks every public choice and prices one fit without seeing data.
// guard.Open charges what the plan's Terms say. Plan.Fit asks the guard, and post-processes what it
// gets.
package learn

import (
	"context"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
)

// Plan is a checked and priced fit. It holds no data.
type Plan interface {
	// Terms are what one Fit protects and pays, with its bill in the order of the measurements.
	Terms() guard.Terms
	// Facts are what a person should know before paying, in reading order.
	Facts() []Fact
	// Fit trains on what g shows, which was opened by Terms. It fails only for a fault of the engine
	// or a cancelled context, never for a reason that depends on a value.
	Fit(ctx context.Context, g *guard.Guard) (*model.Model, error)
}

// Fact is one line of a plan.
type Fact struct {
	Key   string // stable name for programs, e.g. "noise_scale"
	Value any    // number, string, bool or a list of them
	Text  string // the line for people
}
