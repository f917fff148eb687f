// SPDX-License-Identifier: Apache-2.0

package problem

import (
	"context"
	"errors"
	"time"

	"connectrpc.com/connect"
)

// Retry determines when to repeat a call. The call must be safe to repeat.
type Retry struct {
	First, Last time.Duration // pauses: each is twice the previous one, up to Last
	Each        time.Duration // timeout of one attempt; 0: none
	// Say is called for each failed attempt that is repeated after a pause, if it is not nil.
	Say func(after time.Duration, err error)
}

// Do calls once until it succeeds, fails with an error that is not passing, which it returns
// unchanged, or ctx ends. Then it returns an *Ended. For errors that are problems or missing answers,
// passing should be Passing.
func (r Retry) Do(ctx context.Context, passing func(error) bool, once func(context.Context) error) error {
	var last error
	for wait := r.First; ; wait = min(2*wait, r.Last) {
		err := r.tryOnce(ctx, once)
		if err == nil || ctx.Err() == nil && !passing(err) {
			return err
		}
		if ctx.Err() == nil || !isCut(err) {
			last = Named(err)
		}
		if ctx.Err() == nil && r.Say != nil {
			r.Say(wait, last)
		}
		if Pause(ctx, wait) != nil {
			return newEnded(ctx, last)
		}
	}
}

// isCut reports whether err says no more than that a context ended.
func isCut(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		connect.CodeOf(err) == connect.CodeCanceled
}

// Ended is the end of a Retry's context. It wraps the context's cause. Last is why the last complete
// attempt failed; nil if none was completed. It is never an *Ended.
type Ended struct{ Cause, Last error }

func newEnded(ctx context.Context, last error) *Ended {
	if inner := (*Ended)(nil); errors.As(last, &inner) {
		last = inner.Last
	}
	return &Ended{context.Cause(ctx), last}
}

func (e *Ended) Error() string {
	text := e.Cause.Error()
	switch {
	case errors.Is(e.Cause, context.Canceled):
		text = "interrupted"
	case errors.Is(e.Cause, context.DeadlineExceeded):
		text = "the time is over"
	}
	if e.Last == nil {
		return text
	}
	return text + "; the last attempt: " + e.Last.Error()
}

func (e *Ended) Unwrap() error { return e.Cause }

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
