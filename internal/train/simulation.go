// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Simulation trains on simulated owners, who hold a table's rows. The model may be released, so that
// it is checked, charged and stored in the order of a Training.
type Simulation struct {
	Schema     *schema.Schema
	SchemaText []byte // as it stands in its file
	Data       []string
	Options    map[string]string // the public choices, as they were typed
	Price      dp.Price          // of one owner's part
	Bill       []dp.Event        // cost of each owner, as the model states it
	Exceed     bool              // the price may exceed the schema's limits; the model records it
	Output     Output            // the file to write the model to
	Job        *Job              // nil: nothing is counted
	Say        func(format string, args ...any)
	// Read reads the table and Play trains on it; counted is set if the price was charged.
	Read func(ctx context.Context) (*dataset.Table, error)
	Play func(ctx context.Context, t *dataset.Table, counted bool) (*model.Model, error)
}

// describeExcess describes how the price exceeds the schema's limits, "" if it does not. A secret sum
// has a δ, which exceeds the limit of a schema that allows only pure guarantees.
func (s *Simulation) describeExcess() string {
	return Price{Epsilon: s.Price.Epsilon, Delta: s.Price.Delta}.Excess(s.Schema)
}

// Check refuses what can be refused without rows and without a ledger.
func (s *Simulation) Check() error {
	if err := learn.CheckOneRow("simulate", s.Schema); err != nil { // an owner reports about one row
		return &RequestError{err}
	}
	if why := s.describeExcess(); why != "" && !s.Exceed {
		return &ExcessError{Op: "simulate", Why: why}
	}
	return nil
}

// Run trains the model, or fetches it from the ledger, and writes its file.
func (s *Simulation) Run(ctx context.Context) (*model.Model, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if s.Job == nil {
		return s.Output.fitUncounted(func() (*model.Model, error) {
			s.Say("no ledger: this training is not counted, and the model records this")
			return s.playOwners(ctx, guard.Uncounted{})
		})
	}
	j, err := s.Job.openJob(ctx, jobRequest{
		config: configuration{Learner: "simulate", Epsilon: s.Price.Epsilon, Delta: s.Price.Delta, Options: s.Options,
			Exceed: s.Exceed, Data: s.Data},
		schema: s.Schema, text: s.SchemaText, output: s.Output.Path, say: s.Say,
	})
	if err != nil {
		return nil, err
	}
	return RunJob(ctx, j, s.Price, s.Bill, s.Output, s.Say, func() (*model.Model, error) { return s.playOwners(ctx, j) })
}

// playOwners reads the table, charges the account and trains.
func (s *Simulation) playOwners(ctx context.Context, acct guard.Account) (*model.Model, error) {
	tab, err := s.Read(ctx)
	if err != nil {
		return nil, err
	}
	if err := acct.Charge(ctx, s.Price, s.Bill); err != nil {
		return nil, err
	}
	m, err := s.Play(ctx, tab, acct.Counted())
	if err != nil {
		return nil, err
	}
	if why := s.describeExcess(); why != "" {
		m.Privacy.Overrides = append(m.Privacy.Overrides, why)
	}
	return m, nil
}
