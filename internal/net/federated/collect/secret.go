// SPDX-License-Identifier: Apache-2.0

package collect

import (
	"errors"
	"fmt"

	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/response"
)

// ErrCrowd refuses a secret sum that does not belong to the open slot.
var ErrCrowd = errors.New("aggregator: there is no such secret sum in the open slot")

// Assemble sets the number of owners, 2 or more, that may take part in the open slot of a task in mode
// aggregate. It also sets the number of honest ones, 1 to wire.AtLeastOf(owners), for which the noise
// is scaled. From then on Broadcast returns the slot's bytes.
func (a *Aggregator) Assemble(owners, honest int) error {
	if a.round == nil || a.task.Mode != wire.Aggregate || a.round.Crowd != nil {
		return ErrCrowd
	}
	r := *a.round
	r.Crowd = &wire.Crowd{Owners: owners, AtLeast: wire.AtLeastOf(owners), Honest: honest}
	if err := r.Check(a.task); err != nil {
		return err
	}
	addend, err := r.Addend(a.task)
	if err != nil {
		return err
	}
	a.round, a.addend = &r, addend
	a.spares = append(a.spares, r.Crowd.AtLeast-honest)
	return nil
}

// ReceiveSum receives the slot's opened secret sum, and the number of owners in it.
func (a *Aggregator) ReceiveSum(sums []uint64, owners int) error {
	switch {
	case a.round == nil || a.round.Crowd == nil || a.total != nil:
		return ErrCrowd
	case len(sums) != a.addend.Dim() || owners < a.round.Crowd.AtLeast || owners > a.round.Crowd.Owners:
		return fmt.Errorf("aggregator: the sum must be of %d numbers and of %d to %d owners", a.addend.Dim(),
			a.round.Crowd.AtLeast, a.round.Crowd.Owners)
	}
	a.total, a.added = a.addend.Sum(response.Total(sums, owners)), owners
	return nil
}

// collectTables returns the tables of the open slot, one per ask, from reports or from the secret sum.
func (a *Aggregator) collectTables() (tables []table) {
	K := a.task.Schema.Classes()
	if a.task.Mode == wire.Local {
		for i, law := range a.laws {
			tables = append(tables, newTable(law, a.tallies[i], K))
		}
		return tables
	}
	at := 0
	for i := range max(1, len(a.round.Asks)) {
		cells := a.round.Cells(a.task, i)
		t := table{cells: cells, levels: K, reports: float64(a.added), sums: make([]float64, cells*K)}
		if a.total != nil {
			copy(t.sums, a.total[at:])
			t.variance = a.addend.Variance(0) * t.reports
		}
		at += cells * K
		tables = append(tables, t)
	}
	return tables
}
