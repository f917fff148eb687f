// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ledger/policy"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// PolicyFacts are what a policy asks of a training that is not charged yet.
func PolicyFacts(s *schema.Schema, text []byte, price dp.Price, now time.Time) *policy.Facts {
	f := &policy.Facts{Price: price, Day: now, Unit: policy.Row, Schema: fmt.Sprintf("%x", sha256.Sum256(text)), Declares: s.Declares}
	if s.Person != nil {
		f.Unit = policy.Person
	}
	for _, c := range s.Columns {
		if c.Role == schema.Public {
			f.Public = append(f.Public, c.Name)
		}
	}
	if s.Label.Role == schema.Public {
		f.Public = append(f.Public, s.Label.Name)
	}
	return f
}

// LaterThanPlan are the clauses that need a ledger, a table or an audit.
var LaterThanPlan = []string{"lifetime", "data", "check", "approve", "audit"}

// checkPolicy refuses what the policy does not allow, as far as that needs no ledger.
func (t *Training) checkPolicy() error {
	if t.Policy == nil {
		return nil
	}
	if t.Job == nil {
		return &RequestError{dp.Refuse(t.Op, "ledger", "must be given: the policy has a total", nil)}
	}
	t.facts = PolicyFacts(t.Schema, t.SchemaText, t.plan.Terms().Price, t.Now)
	return t.refuse(LaterThanPlan...)
}

// askPolicy refuses what the policy does not allow, before the ledger is charged.
func (t *Training) askPolicy(ctx context.Context) error {
	if t.Policy == nil {
		return nil
	}
	if err := t.Policy.FindLedger(ctx, t.Job.Ledger, t.Job.Dataset, t.Job.ID, t.facts); err != nil {
		return asUsage(err)
	}
	later := []string{"audit"}
	if t.Job.Purpose != "" {
		later, t.facts.Approved = append(later, "approve"), nil
	}
	if t.Checked { // as Checks.Ask has found out
		t.facts.Checked = &policy.Shown{Met: true, Words: "it is"}
	}
	return t.refuse(later...)
}

func (t *Training) refuse(later ...string) error {
	return t.Policy.Refuse(t.Op, t.Policy.Judge(t.facts), later...)
}

// checkRows refuses fewer rows, or persons, than the policy asks for, where their number is public.
func (t *Training) checkRows(units int) error {
	if t.Policy == nil || t.Schema.Relation != dp.ReplaceOne {
		return nil
	}
	return t.Policy.RefuseRows(t.Op, units)
}
