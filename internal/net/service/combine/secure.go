// SPDX-License-Identifier: Apache-2.0

package combine

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/train"
)

// sumSecretly simulates a secret sum in this process. Each votes file is read by the simulation of its
// party only, and the simulated combiner sees only the sum.
func (t *Combination) sumSecretly(ctx context.Context, pl *multiparty.Plan, aux *multiparty.Auxiliary,
	acct guard.Account) (*model.Model, error) {
	s, err := pl.Secret(ctx, aux, t.Honest)
	if err != nil {
		return nil, &train.RequestError{Err: err}
	}
	if err := s.Charge(ctx, acct); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(t.Votes)
	if err != nil {
		return nil, err
	}
	sum, err := newSecretSum(secsum.Task{
		Round: rand.Text(), Owners: max(2, pl.Parties), AtLeast: max(2, t.Honest, t.Minimum), Holders: t.Holders,
		Length: s.Law.Dim(), Range: s.Law.Top() + 1,
	})
	if err != nil {
		return nil, &train.RequestError{Err: err}
	}
	if len(entries) > pl.Parties {
		return nil, fmt.Errorf("combine: %s: at most %d parties were announced (got %d files)", t.Votes, pl.Parties,
			len(entries))
	}
	for k, e := range entries {
		if err := t.addInSecret(ctx, s, sum, k, filepath.Join(t.Votes, e.Name())); err != nil {
			return nil, err
		}
	}
	total, parties, err := sum.openSum()
	if err != nil {
		return nil, err
	}
	t.Say("%d of %d parties are in the secret sum, of %d coordinates, over %d holders; each that is not counts as a "+
		"constant vote", parties, pl.Parties, s.Law.Dim(), t.Holders)
	t.Say("parties, holders and combiner were played by one process: a rehearsal, which hides nothing from " +
		"its operator")
	return s.Combine(ctx, total, parties)
}

// addInSecret simulates one party.
func (t *Combination) addInSecret(ctx context.Context, s *multiparty.Secret, sum *secretSum, party int,
	path string) error {
	f, err := openfile.Regular(path)
	if err != nil {
		return err
	}
	values, err := s.Addend(ctx, f, mech.NewExit(rng.System()))
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("combine: %s: %w", path, err)
	}
	shares, err := sum.Split(rng.System(), party, values)
	if err != nil {
		return err
	}
	return sum.deliverMessages(shares)
}

// secretSum carries messages between holders and collector within one process.
type secretSum struct {
	*secsum.Protocol
	holders   []*secsum.Holder
	collector *secsum.Collector
}

func newSecretSum(task secsum.Task) (*secretSum, error) {
	p, err := secsum.Shamir(task)
	if err != nil {
		return nil, err
	}
	s := &secretSum{Protocol: p, collector: p.NewCollector()}
	for i := range task.Holders {
		h, err := p.NewHolder(i)
		if err != nil {
			return nil, err
		}
		s.holders = append(s.holders, h)
	}
	return s, nil
}

func (s *secretSum) deliverMessages(messages []secsum.Message) error {
	for len(messages) > 0 {
		m := messages[0]
		handle := s.collector.Handle
		if m.To != secsum.ToCollector {
			handle = s.holders[m.To].Handle
		}
		next, err := handle(m)
		if err != nil {
			return err
		}
		messages = append(messages[1:], next...)
	}
	return nil
}

// openSum ends the waits and returns the sum and its number of parties.
func (s *secretSum) openSum() ([]uint64, int, error) {
	for _, h := range s.holders {
		if err := s.deliverMessages(h.Close()); err != nil {
			return nil, 0, err
		}
	}
	requests, err := s.collector.Close()
	if err == nil {
		err = s.deliverMessages(requests)
	}
	if err != nil {
		return nil, 0, err
	}
	total, owners, ok, err := s.collector.Sum()
	if err == nil && !ok {
		_, err = s.collector.Close()
		if err == nil {
			total, owners, ok, err = s.collector.Sum()
		}
		if err == nil && !ok {
			err = errors.New("combine: the secret sum could not be opened")
		}
	}
	return total, len(owners), err
}
