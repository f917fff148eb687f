// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/service/aggregator/store"
)

// TestListsAndNotesStay keeps a list of owners and notes of two rounds, twice: the
// first stays, the newest round's is found, and the next process finds both.
func TestListsAndNotesStay(t *testing.T) {
	onBoth(t, func(t *testing.T, again func() *store.Store) {
		ctx := t.Context()
		list := make([]byte, 96)
		digest := sha256.Sum256(list)
		if _, err := again().Roster(ctx, digest); !errors.Is(err, store.ErrUnknown) {
			t.Errorf("%v: want no such list", err)
		}
		for range 2 {
			must(t, again().Keep(ctx, list))
		}
		if got, err := again().Roster(ctx, digest); err != nil || string(got) != string(list) {
			t.Errorf("%x, %v", got, err)
		}
		a, b := task("a"), task("b")
		if got, err := again().Noted(ctx, a.ID); err != nil || got != nil {
			t.Errorf("%q, %v: want no note", got, err)
		}
		for _, note := range []struct {
			round int
			text  string
		}{{1, "later"}, {0, "early"}, {1, "again"}} {
			must(t, again().Note(ctx, a.ID, note.round, []byte(note.text)))
		}
		must(t, again().Note(ctx, b.ID, 7, []byte("another's")))
		if got, err := again().Noted(ctx, a.ID); err != nil || string(got) != "later" {
			t.Errorf("%q, %v: want the newest round's first", got, err)
		}
	})
}
