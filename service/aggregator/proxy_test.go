// SPDX-License-Identifier: Apache-2.0

package aggregator_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/service/announce"
)

// bad is what a bad network does to a connection: it carries pieces of a few
// bytes, late, and after some of them cuts the connection, orderly or not.
type bad struct {
	mu   sync.Mutex
	rand *rand.Rand
	cuts int // connections it still cuts
}

// fate draws after how many pieces a connection ends, and how; 0: never.
func (b *bad) fate() (pieces int, reset bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cuts == 0 {
		return 0, false
	}
	b.cuts--
	return 1 + b.rand.IntN(12), b.rand.IntN(2) == 0
}

// piece is the size of the next piece and how late it is.
func (b *bad) piece() (size int, late time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return 1 + b.rand.IntN(4000), time.Duration(b.rand.IntN(1500)) * time.Microsecond
}

// carry copies from one end to the other until one of them or fate ends it.
func (b *bad) carry(to, from net.Conn, pieces int, reset bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 4000)
	for n := 1; ; n++ {
		size, late := b.piece()
		got, err := from.Read(buf[:size])
		if err != nil {
			return
		}
		time.Sleep(late)
		if n == pieces {
			if c, ok := to.(*net.TCPConn); ok && reset {
				_ = c.SetLinger(0) // what is under way is lost, and a reset says so
			}
			got /= 2
		}
		if _, err := io.Copy(to, bytes.NewReader(buf[:got])); err != nil || n == pieces {
			return
		}
	}
}

// TestBadNetwork lets owners report over connections that are slow, sliced, cut
// and reset, dozens of them. Every report is in the model once.
func TestBadNetwork(t *testing.T) {
	f := newFederation(t)
	f.serve()
	ann := f.plan(func(a *announce.Announcement) {
		a.Quiet = 0
		a.Task.Rounds = a.Task.Rounds[:1]
	})
	id := f.announce(ann)
	net := &bad{rand: rand.New(rand.NewPCG(1, 2)), cuts: 6}
	front := newFront(t, f, net)
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
	net.mu.Lock()
	defer net.mu.Unlock()
	if net.cuts > 0 {
		t.Errorf("%d connections were not cut: there were fewer", net.cuts)
	}
}
