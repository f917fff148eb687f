// SPDX-License-Identifier: Apache-2.0

package helper_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/net/testkit/helpertest"
)

// TestALyingHelperIsNamed: a helper answers with a sum of its choice while an honest one
// is silent, so that no more than a quorum answers. It is named, what it says does not
// count, and the sum is exact once the other has answered; where that never does, there
// is none, and the error has the name.
func TestALyingHelperIsNamed(t *testing.T) {
	const lies = "has answered with another sum than that of its shares"
	for name, lie := range map[string]func(*secsum.Message) error{
		"one more": helpertest.AddOne(0, 1),
		"cut":      func(m *secsum.Message) error { m.Body = m.Body[:len(m.Body)-32]; return nil },
		"nothing":  func(m *secsum.Message) error { m.Body = nil; return nil },
		"of another request": func(m *secsum.Message) error {
			m.Body = slices.Clone(m.Body)
			m.Body[0] ^= 1
			return nil
		},
		"in another's name": func(m *secsum.Message) error { m.From = 0; return helpertest.AddOne(0, 1)(m) },
	} {
		for _, back := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				c := assemble(t, 3)
				until := make(chan struct{})
				release := sync.OnceFunc(func() { close(until) })
				defer release()
				c.Lie(1, 2, until, lie)
				col, _, p := c.filled(6, 4, "a")
				col.Wait = given(6, 3)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var found []string
				col.Found = func(f secretsum.Fault) { // under the collection's lock
					found = append(found, f.String())
					if back {
						release()
					} else {
						cancel()
					}
				}
				total, of, err := col.Run(ctx)
				if !slices.Equal(found, []string{"helper " + c.Name(1) + " " + lies}) {
					t.Errorf("found are %v", found)
				}
				if !back {
					if err == nil || total != nil || !strings.Contains(err.Error(), "helper "+c.Name(1)+":") {
						t.Errorf("%v of %v, %v: want no sum, and the name", total, of, err)
					}
					return
				}
				must(t, err)
				if len(of) != 6 || !slices.Equal(total, p.total(of)) {
					t.Errorf("%v of %v, want all six", total, of)
				}
			})
		}
	}
}

// TestProofsOutliveTheSum: a collector that has forgotten everything asks again after the
// sum was opened, and no one is accused.
func TestProofsOutliveTheSum(t *testing.T) {
	c := assemble(t, 3)
	col, _, p := c.filled(6, 4, "a")
	col.Found = func(f secretsum.Fault) { t.Errorf("%s", f) }
	for range 2 {
		col.Wait = given(6, 3)
		total, of, err := col.Run(t.Context())
		must(t, err)
		if len(of) != 6 || !slices.Equal(total, p.total(of)) {
			t.Errorf("%v of %v, want all six", total, of)
		}
		col.Wait = func(context.Context, func(context.Context) []int) error { return nil }
	}
}
