// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Terms are the public terms of a training, fixed before any row is read.
type Terms struct {
	Op    string   // names the learner in errors
	Scope dp.Scope // the protected part of a row: at least what the schema declares
	Price dp.Price // of the whole training
	Bill  []dp.Event
	// NotPrivate adds no noise and returns exact values. Price and Bill are empty.
	NotPrivate bool
}

// Account pays bills. Charge either takes the price for the whole bill, or refuses and takes nothing.
type Account interface {
	Charge(ctx context.Context, price dp.Price, bill []dp.Event) error
	// Counted reports whether spending is recorded anywhere.
	Counted() bool
}

// protects holds which cells of a row a scope protects, in tables of one schema.
type protects struct {
	label, all bool
	public     []bool // by column, as the schema declares it now
}

func protectedBy(scope dp.Scope, s *schema.Schema) protects {
	p := protects{
		label: scope != dp.PrivateFeatures,
		all:   scope != dp.PrivateFeatures && scope != dp.FeaturesAndLabel && scope != dp.LabelOnly,
	}
	for k := range s.Columns {
		p.public = append(p.public, s.Columns[k].Role == schema.Public)
	}
	return p
}

// column reports whether the cells of column j are protected.
func (p *protects) column(j int) bool { return p.all || !p.public[j] }

// checkScope refuses a scope that is weaker than the schema's declarations.
func checkScope(op string, scope dp.Scope, s *schema.Schema) error {
	p := protectedBy(scope, s)
	weak := s.Relation != dp.ReplaceOne && !p.all || s.Label.Role == schema.Private && !p.label
	if !weak {
		return nil
	}
	return &dp.ParamError{Op: op, Param: "scope", Want: "must protect what the schema declares private", Got: string(scope)}
}

// Uncounted is the account of a training that nothing counts: what it adds to others on the same table
// is for its caller to keep, and its model says so.
type Uncounted struct{ Paid }

// Paid is the account of an inner fit whose price the outer fit has charged; true if that is recorded.
type Paid bool

// Charge takes nothing more.
func (Paid) Charge(context.Context, dp.Price, []dp.Event) error { return nil }

// Counted reports whether the outer fit is recorded.
func (p Paid) Counted() bool { return bool(p) }
