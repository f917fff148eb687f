// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/census"
	"github.com/discreet-dp/discreet/dp"
	core "github.com/discreet-dp/discreet/local/aggregator"
	"github.com/discreet-dp/discreet/local/secsum"
	"github.com/discreet-dp/discreet/local/wire"
	"github.com/discreet-dp/discreet/model"
	"github.com/discreet-dp/discreet/service/announce"
	"github.com/discreet-dp/discreet/service/book"
	"github.com/discreet-dp/discreet/service/helper/helpertest"
	"github.com/discreet-dp/discreet/service/store"
	"github.com/discreet-dp/discreet/service/sum"
)

// secretPlan makes an announcement in mode aggregate, for a committee.
func (f *federation) secretPlan(c *helpertest.Committee, helpers int, change func(*announce.Announcement)) *announce.Announcement {
	f.t.Helper()
	f.mode = wire.Aggregate
	task, err := core.Plan(core.Params{Schema: census.Schema(), Mode: wire.Aggregate, Classifier: wire.Stump, Epsilon: 2 * dp.Nano, Owners: 60, Rounds: 1, Nonce: strings.Repeat("cd", 16)})
	must(f.t, err)
	return f.plan(func(a *announce.Announcement) {
		a.Task, a.Minimum = task, 4
		for h := range helpers {
			a.Helpers = append(a.Helpers, announce.Helper{Name: c.Name(h), Address: c.Address(h)})
		}
		if change != nil {
			change(a)
		}
	})
}

// secretly is the model that the shares in owners' books make without a network:
// the same state machines in one process.
func (f *federation) secretly(ann *announce.Announcement, owners int, books ...*book.Book) []byte {
	t := f.t
	t.Helper()
	id, err := ann.Task.Digest()
	must(t, err)
	s := f.open()
	defer s.Close()
	c, err := core.New(ann.Task)
	must(t, err)
	for slot := range ann.Task.Slots() {
		x, err := s.Secret(t.Context(), store.ID(id), slot)
		must(t, err)
		secret, err := sum.Parse(x.Sum)
		must(t, err)
		proto, err := secret.Protocol()
		must(t, err)
		sumID, err := secret.ID()
		must(t, err)
		collector := proto.NewCollector()
		var holders []*secsum.Holder
		for h := range secret.Helpers {
			holder, err := proto.NewHolder(h, secsum.Key{})
			must(t, err)
			holders = append(holders, holder)
		}
		for _, b := range books {
			for i := range owners {
				e, err := b.Of(t.Context(), i).Reported(id)
				must(t, err)
				if e == nil || e.Round != sumID {
					continue
				}
				for rest := e.Report; len(rest) > 0; {
					n := 4 + int(binary.LittleEndian.Uint32(rest))
					var m secsum.Message
					must(t, m.UnmarshalBinary(rest[4:n]))
					_, err := holders[m.To].Handle(m)
					must(t, err)
					rest = rest[n:]
				}
			}
		}
		for _, h := range holders {
			for _, m := range h.Close() {
				open, err := collector.Handle(m)
				must(t, err)
				for _, m := range open {
					sums, err := holders[m.To].Handle(m)
					must(t, err)
					for _, m := range sums {
						_, err := collector.Handle(m)
						must(t, err)
					}
				}
			}
		}
		total, in, ok, err := collector.Sum()
		must(t, err)
		if !ok {
			t.Fatalf("slot %d: no sum", slot)
		}
		must(t, c.Assemble(len(secret.Roster)))
		must(t, c.ReceiveSum(total, len(in)))
		must(t, c.Close())
	}
	m, err := c.Model(core.Statement{})
	must(t, err)
	file, err := model.Marshal(m)
	must(t, err)
	return file
}

// TestSecretSumsOverTheNetwork trains in mode aggregate, over mutual TLS between
// all parties. The bytes of the model are those that the owners' shares make in
// one process.
func TestSecretSumsOverTheNetwork(t *testing.T) {
	f := newFederation(t)
	c := helpertest.New(t, f.log, f.authority, 3)
	f.serve()
	ann := f.secretPlan(c, 3, nil)
	id := f.announce(ann)
	owners := f.owners(60, 1)
	got, err := owners.Run(t.Context(), id)
	must(t, err)
	if got.Owners != 60 || got.Accepted != 60 {
		t.Errorf("got %+v, want 60 accepted", *got)
	}
	if !bytes.Equal(f.model(id), f.secretly(ann, 60, owners.Book)) {
		t.Error("the model's bytes are not those of the same shares in one process")
	}
}
