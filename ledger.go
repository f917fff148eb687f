// SPDX-License-Identifier: Apache-2.0

package discreet

import (
	"context"

	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/ledger"
	"github.com/discreet-dp/discreet/internal/train"
)

// Ledger counts, durably, what is spent on data sets and refuses what would
// overspend them: a file, or a PostgreSQL database. It is the one that `discreet
// budget` shows; processes and goroutines may share it.
type Ledger struct{ l *ledger.Ledger }

// OpenLedger opens the ledger at address, a file or postgres://user@host/database,
// and makes it where there is none. Close it.
func OpenLedger(ctx context.Context, address string) (*Ledger, error) {
	l, err := ledger.Create(ctx, address)
	if err != nil {
		return nil, err
	}
	return &Ledger{l}, nil
}

// Close releases the file or the connections.
func (l *Ledger) Close() error { return l.l.Close() }

// Declare adds a data set and the total that all trainings on it may cost, which is
// never changed: a data set that is there is refused.
func (l *Ledger) Declare(ctx context.Context, dataset string, total Price) error {
	eps, err := dp.EpsilonOf(total.Epsilon)
	if err != nil {
		return err
	}
	delta, err := dp.DeltaOf(total.Delta)
	if err != nil {
		return err
	}
	return l.l.Declare(ctx, ledger.Dataset{Name: dataset, Epsilon: eps, Delta: delta})
}

// Job is the account of one training on a data set that was declared; the id names
// the training: the same id with the same options returns the same model, and with
// others is refused.
func (l *Ledger) Job(dataset, id string) Account { return ledgerJob{l.l, dataset, id} }

type ledgerJob struct {
	l           *ledger.Ledger
	dataset, id string
}

func (j ledgerJob) pay(t *train.Training) {
	t.Job = &train.Job{Ledger: j.l, Dataset: j.dataset, ID: j.id}
}

// Balance is a data set of a ledger and what became of its total.
type Balance struct {
	Dataset string
	Unit    string // whose data one row is; "" before the first training
	Note    string // the owner's
	Total   Price  // Spent + Reserved + Left
	Spent   Price  // by trainings that began
	// Reserved is held by trainings that have not yet begun.
	Reserved Price
	Left     Price
}

// Show lists the balances of all data sets, or of the one that is named.
func (l *Ledger) Show(ctx context.Context, dataset ...string) ([]Balance, error) {
	all, err := l.l.Balances(ctx, dataset...)
	if err != nil {
		return nil, err
	}
	out := make([]Balance, len(all))
	for i, b := range all {
		price := func(e dp.Epsilon, d dp.Delta) Price { return priceOf(dp.Price{Epsilon: e, Delta: d}) }
		out[i] = Balance{
			Dataset: b.Name, Unit: b.Unit, Note: b.Note,
			Total: price(b.Epsilon, b.Delta), Spent: price(b.Spent, b.SpentDelta),
			Reserved: price(b.Reserved, b.ReservedDelta), Left: price(b.Left, b.LeftDelta),
		}
	}
	return out, nil
}
