// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

// TestSecretIsDecidedOnce goes through a secret sum, opening the store again at each
// step. Whoever decides first, decides: who is asked, whose sum is opened, and
// what it is.
func TestSecretIsDecidedOnce(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		ctx := t.Context()
		a := task("a")
		must(t, again().Create(ctx, a, store.Round{Broadcast: []byte{}}))
		acceptReports(t, again(), report(a, 0, 1, "one"), report(a, 0, 2, "two"))
		first := store.Secret{Broadcast: []byte("b"), Sum: []byte("s"), Certificate: []byte("c"), Signature: []byte("g")}
		if _, err := again().Assemble(ctx, a.ID, 0, first); !errors.Is(err, store.ErrMoved) {
			t.Errorf("an open round has a roster: %v", err)
		}
		if err := again().GiveUp(ctx, a.ID, 0); !errors.Is(err, store.ErrMoved) {
			t.Errorf("an open round is given up: %v", err)
		}
		must(t, again().Seal(ctx, a.ID, 0, 2))
		if x, err := again().Secret(ctx, a.ID, 0); x != nil || err != nil {
			t.Errorf("there is a sum before there is one: %+v, %v", x, err)
		}
		if _, err := again().Hold(ctx, a.ID, 0, []byte("h")); err == nil {
			t.Error("it is decided whose sum is opened, and there is none")
		}
		other := first
		other.Sum = []byte("other")
		for _, x := range []store.Secret{first, other} {
			have, err := again().Assemble(ctx, a.ID, 0, x)
			must(t, err)
			if string(have.Sum) != "s" || have.Held != nil || have.Total != nil {
				t.Errorf("the sum is %+v", have)
			}
		}
		for _, held := range []string{"h", "other"} {
			have, err := again().Hold(ctx, a.ID, 0, []byte(held))
			must(t, err)
			if string(have) != "h" {
				t.Errorf("what is held is %q", have)
			}
		}
		must(t, again().Total(ctx, a.ID, 0, []byte("t"), 2))
		must(t, again().Total(ctx, a.ID, 0, []byte("other"), 3))
		if err := again().GiveUp(ctx, a.ID, 0); !errors.Is(err, store.ErrMoved) {
			t.Errorf("a round whose sum is opened is given up: %v", err)
		}
		x, err := again().Secret(ctx, a.ID, 0)
		must(t, err)
		if string(x.Total) != "t" || x.Participants != 2 || string(x.Broadcast) != "b" || string(x.Certificate) != "c" ||
			string(x.Signature) != "g" {
			t.Errorf("the sum is %+v", x)
		}
		must(t, again().Advance(ctx, a.ID, 0, &store.Round{Number: 1, Broadcast: []byte{}}, nil))
		must(t, again().Advance(ctx, a.ID, 0, &store.Round{Number: 1, Broadcast: []byte{}}, nil))
		if err := again().GiveUp(ctx, a.ID, 0); !errors.Is(err, store.ErrMoved) {
			t.Errorf("a round that is done is given up: %v", err)
		}
		acceptReports(t, again(), report(a, 1, 3, "three"))
		must(t, again().Seal(ctx, a.ID, 1, 1))
		must(t, again().GiveUp(ctx, a.ID, 1))
		if got, _, err := again().Task(ctx, a.ID); err != nil || got.State != store.Ended {
			t.Errorf("task %+v, %v", got, err)
		}
		if _, err := again().Assemble(ctx, a.ID, 1, first); !errors.Is(err, store.ErrMoved) {
			t.Errorf("a task that has ended has a roster: %v", err)
		}
		if x, err := again().Secret(ctx, a.ID, 0); err != nil || string(x.Total) != "t" {
			t.Errorf("what was opened is gone: %+v, %v", x, err)
		}
	})
}
