// SPDX-License-Identifier: Apache-2.0

package problem_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

var (
	errBusy = problem.New(problem.Overloaded, "").Connect()
	errLate = problem.New(problem.Late, "round 1").Connect()
)

// TestPausesDouble lets seven tries fail. The pauses double up to the longest, and
// each is said before it is made.
func TestPausesDouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tried, said []time.Duration
		began := time.Now()
		r := problem.Retry{First: time.Second, Last: 5 * time.Second, Say: func(after time.Duration, err error) {
			if problem.Of(err).Kind != problem.Overloaded {
				t.Errorf("said %v", err)
			}
			said = append(said, after)
		}}
		err := r.Do(t.Context(), problem.Passing, func(context.Context) error {
			if tried = append(tried, time.Since(began)); len(tried) < 8 {
				return errBusy
			}
			return nil
		})
		seconds := func(of ...int) (d []time.Duration) {
			for _, n := range of {
				d = append(d, time.Duration(n)*time.Second)
			}
			return d
		}
		if want := seconds(0, 1, 3, 7, 12, 17, 22, 27); err != nil || !slices.Equal(tried, want) {
			t.Errorf("tries at %v, %v, want %v", tried, err, want)
		}
		if want := seconds(1, 2, 4, 5, 5, 5, 5); !slices.Equal(said, want) {
			t.Errorf("said %v, want %v", said, want)
		}
	})
}

// TestWhatDoesNotPassIsReturned: as it is, at once.
func TestWhatDoesNotPassIsReturned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, tries := time.Now(), 0
		err := problem.Retry{First: time.Second, Last: time.Second}.Do(t.Context(), problem.Passing,
			func(context.Context) error {
				if tries++; tries == 2 {
					return errLate
				}
				return errBusy
			})
		if err != error(errLate) || tries != 2 || time.Since(began) != time.Second {
			t.Errorf("%v after %d tries and %s", err, tries, time.Since(began))
		}
	})
}

// TestRetryEndsWithItsContext: during a pause, and during a try whose error would
// not pass.
func TestRetryEndsWithItsContext(t *testing.T) {
	for name, once := range map[string]func(context.Context) error{
		"in a pause": func(context.Context) error { return errBusy },
		"in a try":   func(ctx context.Context) error { <-ctx.Done(); return errLate },
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began, said := time.Now(), 0
			r := problem.Retry{First: 4 * time.Second, Last: 8 * time.Second, Say: func(time.Duration, error) { said++ }}
			err := r.Do(ctx, problem.Passing, once)
			last := problem.Of(once(ctx)).Error()
			if !errors.Is(err, context.DeadlineExceeded) || problem.Of(err).Kind != problem.Internal ||
				!strings.Contains(err.Error(), last) || time.Since(began) != 10*time.Second {
				t.Errorf("%s: %v after %s, want the context's error, which names %q", name, err, time.Since(began), last)
			}
			if want := map[string]int{"in a pause": 2}[name]; said != want {
				t.Errorf("%s: said %d times, want %d", name, said, want)
			}
		})
	}
}

// TestEachTryHasItsTime: a try is given up after Each and made again; without Each
// it has all the time there is.
func TestEachTryHasItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		hang := func(ctx context.Context) error {
			if tries++; tries == 3 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}
		began := time.Now()
		always := func(error) bool { return true }
		if err := (problem.Retry{First: time.Second, Last: time.Second, Each: 30 * time.Second}).Do(t.Context(), always,
			hang); err != nil || time.Since(began) != 62*time.Second {
			t.Errorf("%v after %s, want two tries of 30 s and two pauses", err, time.Since(began))
		}
		_ = problem.Retry{}.Do(t.Context(), always, func(ctx context.Context) error {
			if _, limited := ctx.Deadline(); limited {
				t.Error("a try without Each has a deadline")
			}
			return nil
		})
	})
}

func TestPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		if err := problem.Pause(ctx, 2*time.Second); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		if err := problem.Pause(ctx, 2*time.Second); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != 3*time.Second {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		for range 100 { // no pause is no reason to go on
			if problem.Pause(ctx, 0) == nil {
				t.Fatal("goes on after its context")
			}
		}
	})
}

func TestNamed(t *testing.T) {
	if err := problem.Named(fmt.Errorf("upload: %w", errLate)); err.Error() !=
		problem.New(problem.Late, "round 1").Error() {
		t.Errorf("got %v, want the problem alone", err)
	}
	for _, err := range []error{errors.New("disk on fire"), problem.New(problem.Internal, "").Connect()} {
		if problem.Named(err) != err {
			t.Errorf("got %v, want %v itself", problem.Named(err), err)
		}
	}
}

// TestUntil: a clock that stands ends nothing; set forward, it ends the context
// with the cause.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ahead atomic.Int64
		start := time.Now()
		over := errors.New("over")
		ctx, stop := problem.Until(t.Context(), func() time.Time { return start.Add(time.Duration(ahead.Load())) },
			start.Add(time.Hour), over)
		defer stop()
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Errorf("err = %v before the time", ctx.Err())
		}
		ahead.Store(int64(time.Hour))
		<-ctx.Done()
		if context.Cause(ctx) != over {
			t.Errorf("cause = %v, want %v", context.Cause(ctx), over)
		}
	})
}

// What a Retry says when its context ends names the cause once and the last complete attempt once, also
// if attempts are retries themselves or are cut off by the same end.
func TestEndedSaysEachReasonOnce(t *testing.T) {
	refused := errors.New("connection refused")
	always := func(error) bool { return true }
	for name, c := range map[string]struct {
		once func(context.Context) error
		want string
	}{
		"cut in the first attempt": {func(ctx context.Context) error {
			<-ctx.Done()
			return fmt.Errorf("Post %q: %w", "https://site", ctx.Err())
		}, "it did not answer for 10s"},
		"cut after a failure": {func() func(context.Context) error {
			tries := 0
			return func(ctx context.Context) error {
				if tries++; tries == 1 {
					return refused
				}
				<-ctx.Done()
				return connect.NewError(connect.CodeCanceled, errors.New("stream closed"))
			}
		}(), "it did not answer for 10s; the last attempt: connection refused"},
		"nested": {func(ctx context.Context) error {
			inner, stop := context.WithTimeout(ctx, 3*time.Second)
			defer stop()
			err := problem.Retry{First: time.Second, Last: time.Second}.Do(inner, always,
				func(context.Context) error { return refused })
			return fmt.Errorf("helper: %w", err)
		}, "it did not answer for 10s; the last attempt: connection refused"},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, stop := problem.Until(t.Context(), time.Now, time.Now().Add(10*time.Second), errors.New("it did not answer for 10s"))
			defer stop()
			err := problem.Retry{First: time.Second, Last: 2 * time.Second}.Do(ctx, always, c.once)
			if err == nil || err.Error() != c.want || !errors.Is(err, context.Cause(ctx)) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := problem.Retry{First: 1, Last: 1}.Do(ctx, always, func(ctx context.Context) error { return ctx.Err() })
	if err == nil || err.Error() != "interrupted" || !errors.Is(err, context.Canceled) {
		t.Errorf("after an interrupt: %v", err)
	}
}
