// SPDX-License-Identifier: Apache-2.0

package problem

import (
	"context"
	"fmt"
	"time"
)

// Retry is when to make a call again that may be made twice.
type Retry struct {
	First, Last time.Duration // pauses: each is twice the one before, up to Last
	Each        time.Duration // that one try may take; 0: as long as it likes
	// Say is told about each try that failed and is made again after a pause, where
	// it is not nil.
	Say func(after time.Duration, err error)
}

// Do calls once until it succeeds, fails with an error that is not passing, which
// is returned as it is, or ctx ends: then the error wraps ctx's and says what the
// last try's was. Where the answer is a problem or none, passing is Passing.
func (r Retry) Do(ctx context.Context, passing func(error) bool, once func(context.Context) error) error {
	for wait := r.First; ; wait = min(2*wait, r.Last) {
		err := r.tryOnce(ctx, once)
		if err == nil || ctx.Err() == nil && !passing(err) {
			return err
		}
		if ctx.Err() == nil && r.Say != nil {
			r.Say(wait, err)
		}
		if ended := Pause(ctx, wait); ended != nil {
			return fmt.Errorf("%w (last: %v)", ended, err)
		}
	}
}

func (r Retry) tryOnce(ctx context.Context, once func(context.Context) error) error {
	if r.Each > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, r.Each)
		defer cancel()
	}
	return once(ctx)
}

// ticking is the interval at which a clock that is not the system's is asked.
const ticking = 100 * time.Millisecond

// Until is ctx until a clock shows a time, where its cause becomes the given one.
// stop releases what that takes.
func Until(ctx context.Context, clock func() time.Time, end time.Time,
	cause error) (until context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		t := time.NewTicker(ticking)
		defer t.Stop()
		for ctx.Err() == nil {
			if !clock().Before(end) {
				cancel(cause)
			}
			select {
			case <-t.C:
			case <-ctx.Done():
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// Pause waits so long, or until ctx ends: then it returns ctx's error.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
