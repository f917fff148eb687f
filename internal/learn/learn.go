// SPDX-License-Identifier: Apache-2.0

// Package learn is the contract every learner keeps: plan, charge, touch.
//
// A learner's Params.Plan checks every public choice and prices one fit without
// seeing data. Plan.Events is the bill. Plan.Fit charges the bill, then reads
// the table, then adds noise, then post-processes.
package learn

import (
	"context"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Account pays bills. Charge takes price for the whole bill, or refuses and
// takes nothing. The price of a bill of pure releases is dp.Pure; any other is
// one that accounting.Within finds enough, and the model states the same. A
// refusal is final for this fit.
type Account interface {
	Charge(ctx context.Context, price dp.Price, bill []dp.Event) error
	// Counted reports whether spending is recorded anywhere.
	Counted() bool
}

// Uncounted is the account of a training that nothing counts: it takes every bill
// and records none. What the training adds to others on the same table is for its
// caller to keep, and its model says so.
type Uncounted struct{}

// Charge takes the bill.
func (Uncounted) Charge(context.Context, dp.Price, []dp.Event) error { return nil }

// Counted is false.
func (Uncounted) Counted() bool { return false }

// Paid is the account of a fit inside another that has charged for all of it; true where
// that is recorded.
type Paid bool

// Charge takes nothing more.
func (Paid) Charge(context.Context, dp.Price, []dp.Event) error { return nil }

// Counted reports whether the fit outside is.
func (p Paid) Counted() bool { return bool(p) }

// Plan is a checked and priced fit. It holds no data.
type Plan interface {
	// Events is the bill of one Fit, in the order of the releases.
	Events() []dp.Event
	// Facts are what a person should know before paying, in reading order.
	Facts() []Fact
	// Fit charges acct, then trains on tab; private numbers leave through exit
	// only. After the charge it fails only for a fault of the engine or a
	// cancelled context, never for a reason that depends on a value.
	Fit(ctx context.Context, tab engine.Table, acct Account, exit *mech.Exit) (*model.Model, error)
}

// Fact is one line of a plan.
type Fact struct {
	Key   string // stable name for programs, e.g. "noise_scale"
	Value any    // number, string, bool or a list of them
	Text  string // the line for people
}
