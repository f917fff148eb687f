// SPDX-License-Identifier: Apache-2.0

package problem

import (
	"context"
	"fmt"
	"time"
)

// Retry determines when to repeat a call. The call must be safe to repeat.
type Retry struct {
	First, Last time.Duration // pauses: each is twice the previous one, up to Last
	Each        time.Duration // timeout of one attempt; 0: none
	// Say is called for each failed attempt that is repeated after a pause, if it is not nil.
	Say func(after time.Duration, err error)
}

// Do calls once until it succeeds, fails with an error that is not passing, which it returns
// unchanged, or ctx ends. In the last case, the error wraps ctx's and contains the last attempt's. For
// errors that are problems or missing answers, passing should be Passing.
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

// ticking is the interval at which a clock other than the system's is read.
const ticking = 100 * time.Millisecond

// Until returns a context that ends, with the given cause, when a clock reaches a time. stop releases
// its resources.
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

// Pause waits for d, or until ctx ends: then it returns ctx's error.
func Pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return ctx.Err()
}
