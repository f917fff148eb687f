// SPDX-License-Identifier: Apache-2.0

package train

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Simulation trains on simulated owners, who hold a table's rows. The model may be released, so that
// it is checked, charged and stored as a Training is. Request and Rows of its Training are not used.
type Simulation struct {
	Training
	Options map[string]string // the public choices, as they were typed
	Price   dp.Price          // of one owner's part
	Bill    []dp.Event        // cost of each owner, as the model states it
	// Play trains on the table; counted is set if the price was charged.
	Play func(ctx context.Context, t *dataset.Table, counted bool) (*model.Model, error)
}

// Check is as in Training. A secret sum has a δ, which exceeds the limit of a schema that allows only
// pure guarantees.
func (s *Simulation) Check() error {
	s.Request = &Request{Learner: &Learner{Name: s.Op, Private: true},
		Price: Price{Epsilon: s.Price.Epsilon, Delta: s.Price.Delta}, given: s.Options}
	if err := learn.CheckOneRow(s.Op, s.Schema); err != nil { // an owner reports about one row
		return &RequestError{err}
	}
	return s.checkExcess()
}

// Run trains the model, or fetches it from the ledger, and writes its file.
func (s *Simulation) Run(ctx context.Context) (*model.Model, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	return buy(ctx, &s.Training, Purchase[*model.Model]{What: "training", Price: s.Price, Bill: s.Bill, Make: s.playOwners,
		Marshal: model.Marshal, Unmarshal: model.Unmarshal})
}

// playOwners reads the table, charges acct and trains.
func (s *Simulation) playOwners(ctx context.Context, acct guard.Account) (*model.Model, error) {
	if !acct.Counted() {
		s.sayLine("no ledger: this training is not counted, and the model records this")
	}
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
	s.describeExcess(&m.Privacy)
	return m, nil
}
