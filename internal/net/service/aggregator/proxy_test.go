// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/service/tasks"
	"github.com/discreet-dp/discreet/internal/net/testkit/nettest"
)

// TestBadNetwork lets owners report over connections that are slow, sliced, cut
// and reset, dozens of them. Every report is in the model once.
func TestBadNetwork(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *tasks.Announcement) {
		a.Quiet = 0
		a.Task.Rounds = a.Task.Rounds[:1]
	})
	id := f.announce(ann)
	front := newFront(t, f, nettest.Faults{Slice: 4000, Late: 1500 * time.Microsecond, Cut: 1, Pieces: 12, Cuts: 6})
	owners := f.owners(600, 1)
	owners.Server, owners.Connections = front.url, 3
	var clock sync.WaitGroup
	defer clock.Wait()
	clock.Go(func() { closeWhenFull(t, ann, 600, []*federation{f}, owners.Book) })
	sum, err := owners.Run(t.Context(), id)
	must(t, err)
	if sum.Accepted != 600 {
		t.Errorf("%+v: want 600 accepted", *sum)
	}
	if !bytes.Equal(f.model(id), inProcess(t, ann.Task, 600, owners.Book)) {
		t.Error("the model's bytes are not those of the same reports in one process")
	}
	if n := front.Cuts(); n != 6 {
		t.Errorf("%d connections were cut, want 6", n)
	}
}
