// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"context"
	"fmt"
	"time"
)

// patience is how long a ledger may be locked before its user is informed.
const patience = time.Second

// waits informs a user that a ledger is locked. The zero value does nothing.
type waits struct {
	say     func(line string)
	after   func(time.Duration, func()) (stop func() bool)
	address string
}

type waitsKey struct{}

// TellWaits makes ledgers that are opened with the context call say when another process has locked
// them for a second.
func TellWaits(ctx context.Context, say func(line string)) context.Context {
	return context.WithValue(ctx, waitsKey{}, waits{say: say, after: func(d time.Duration, f func()) func() bool {
		return time.AfterFunc(d, f).Stop
	}})
}

func waitsOf(ctx context.Context, address string) waits {
	w, _ := ctx.Value(waitsKey{}).(waits)
	w.address = address
	return w
}

// begin marks the start of a wait, which ends when done is called.
func (w waits) begin() (done func()) {
	if w.say == nil {
		return func() {}
	}
	stop := w.after(patience, func() {
		w.say(fmt.Sprintf("waiting for ledger %s, which another process is using", w.address))
	})
	return func() { stop() }
}

// noticedStore informs the user of waits: until a step has the lock, and until it is stored.
type noticedStore struct {
	store
	waits waits
}

func (s *noticedStore) update(ctx context.Context, f func(tx) error) error {
	done := s.waits.begin()
	defer func() { done() }()
	return s.store.update(ctx, func(t tx) error {
		done()
		defer func() { done = s.waits.begin() }()
		return f(t)
	})
}

func (s *noticedStore) view(ctx context.Context, f func(tx) error) error {
	if s.waits.say == nil {
		return s.store.view(ctx, f)
	}
	done := s.waits.begin()
	defer func() { done() }()
	return s.store.view(ctx, func(t tx) error {
		_, _, _ = t.head() // the first question waits for the lock; what it answers is for f to ask
		done()
		return f(t)
	})
}
