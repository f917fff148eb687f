// SPDX-License-Identifier: Apache-2.0

package ledger

import (
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// A job that was charged and interrupted goes on if its caller asks for that, and is charged once. Another
// configuration, other terms, another price, and a job that was settled do not go on.
func TestInterruptedJobsResume(t *testing.T) {
	l := declare(t, sqlitePlace(t))
	ctx := t.Context()
	price, b := bill(10)
	resuming := func(id string, change func(*Request)) (*Job, error) {
		r := request(id)
		r.Resume = true
		change(&r)
		return l.Job(ctx, r)
	}
	same := func(*Request) {}
	for id, interrupt := range map[string]func(j *Job) error{
		"reserved": func(j *Job) error { return j.reservePrice(ctx, price, b) },
		"began":    func(j *Job) error { return j.Charge(ctx, price, b) },
	} {
		before := balanceOf(t, l).Left
		j, err := l.Job(ctx, request(id))
		must(t, err)
		must(t, interrupt(j))
		refused := func(what string, change func(*Request)) {
			t.Helper()
			if _, err := resuming(id, change); !errors.As(err, new(*Conflict)) {
				t.Errorf("%s: it goes on with %s: %v", id, what, err)
			}
		}
		refused("no leave to resume", func(r *Request) { r.Resume = false })
		refused("another configuration", func(r *Request) { r.Config = []byte("other") })
		refused("other terms", func(r *Request) { r.Terms.Protected = []string{"a"} })
		j, err = resuming(id, same)
		must(t, err)
		dear, more := bill(11)
		if err := j.Charge(ctx, dear, more); !errors.As(err, new(*dp.ParamError)) {
			t.Errorf("%s: it goes on at another price: %v", id, err)
		}
		for range 2 { // it may be interrupted again
			j, err = resuming(id, same)
			must(t, err)
			must(t, j.Charge(ctx, price, b))
		}
		if got := before - balanceOf(t, l).Left; got != 10 {
			t.Errorf("%s: %d of the total is gone, want 10", id, got)
		}
		must(t, j.Abandon(ctx, "over"))
		refused("what was closed", same)
	}
	verify(t, l)
}
