// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/diskroom"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// bySum is a party that does not have the auxiliary file.
func (w *world) bySum() *member {
	w.t.Helper()
	return w.member("mary", func(p *setup) { p.here = false })
}

// A table that is allowed and not here is sent, once; the party votes on the very
// bytes.
func TestTablesAreSent(t *testing.T) {
	w := newWorld(t)
	m := w.bySum()
	var seen []byte
	m.kill()
	cast := m.params.Cast
	m.params.Cast = func(ctx context.Context, q *Query, files []string, to io.Writer) (err error) {
		if seen, err = os.ReadFile(files[0]); err != nil {
			return err
		}
		return cast(ctx, q, files, to)
	}
	m.start()
	client, query := w.client(m, w.combiner, w.query(nil))
	w.wants(problem.UnknownTable, call(t, client, query))
	if spent, _, _ := m.spent(t.Context()); spent != 0 {
		t.Errorf("a query without its table has cost %s", spent)
	}
	_, err := w.ask(w.query(nil), m)
	must(t, err)
	if !bytes.Equal(seen, table) {
		t.Errorf("the party voted on %d bytes, want the table's %d", len(seen), len(table))
	}
	fresh, query := w.client(m, w.combiner, w.query(nil)) // the connections of the other end with the process
	must(t, os.Remove(w.aux))                             // no one can send it again
	m.kill()
	m.start()
	if err := call(t, fresh, query); err != nil {
		t.Errorf("the table is asked for again: %v", err)
	}
}

// Of what else is sent nothing is kept.
func TestOtherTablesAreRefused(t *testing.T) {
	w := newWorld(t)
	m := w.bySum()
	other := bytes.Replace(table, []byte("x"), []byte("y"), 1)
	for name, c := range map[string]struct {
		file   uint32
		change func(*Query)
		parts  [][]byte
		want   problem.Kind
	}{
		"other bytes":   {0, nil, [][]byte{other}, problem.Malformed},
		"too few":       {0, nil, [][]byte{table[1:]}, problem.Malformed},
		"none":          {0, nil, nil, problem.Malformed},
		"too many":      {0, nil, [][]byte{table, []byte("x")}, problem.TooLarge},
		"no such file":  {1, nil, [][]byte{table}, problem.Malformed},
		"not allowed":   {0, func(q *Query) { q.Tables[0].Digest[0]++ }, [][]byte{table}, problem.NotAllowed},
		"for too much":  {0, func(q *Query) { q.Params.Epsilon *= 10 }, [][]byte{table}, problem.NotAllowed},
		"without query": {0, func(q *Query) { q.Job = "" }, [][]byte{table}, problem.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			client, query := w.client(m, w.combiner, w.query(c.change))
			stream := client.SendTable(t.Context())
			_ = stream.Send(&rpc.SendTableRequest{Query: query, File: c.file}) // refused before all is sent, perhaps
			for _, p := range c.parts {
				_ = stream.Send(&rpc.SendTableRequest{Part: p})
			}
			_, err := stream.CloseAndReceive()
			if got := problem.Of(err); err == nil || got.Kind != c.want {
				t.Errorf("err = %v, want %s", err, c.want)
			}
			if files, err := os.ReadDir(m.shelf.dir); err != nil || len(files) != 0 {
				t.Errorf("something is kept: %v %v", files, err)
			}
		})
	}
	// Nobody there at all, and someone who goes away in the middle.
	client, query := w.client(m, w.combiner, w.query(nil))
	_, err := client.SendTable(t.Context()).CloseAndReceive()
	w.wants(problem.Malformed, err)
	ctx, cancel := context.WithCancel(t.Context())
	stream := client.SendTable(ctx)
	must(t, stream.Send(&rpc.SendTableRequest{Query: query, Part: table[:8]}))
	cancel()
	if _, err := stream.CloseAndReceive(); connect.CodeOf(err) != connect.CodeCanceled {
		t.Errorf("err = %v, want a cancelled call", err)
	}
}

// TestSizesAreTheOperators asks, as a combiner, for a table of a stated size other than the one
// that the operator declared with its digest: nothing is written, however much is sent.
func TestSizesAreTheOperators(t *testing.T) {
	w := newWorld(t)
	m := w.bySum()
	for _, size := range []int64{int64(len(table)) + 1, 1 << 20, maxBytes} {
		client, query := w.client(m, w.combiner, w.query(func(q *Query) { q.Tables[0].Bytes = size }))
		stream := client.SendTable(t.Context())
		part := bytes.Repeat([]byte("x"), partBytes)
		for err := stream.Send(&rpc.SendTableRequest{Query: query, Part: part}); err == nil; {
			if err = stream.Send(&rpc.SendTableRequest{Part: part}); m.sentBytes() > 0 {
				t.Fatalf("%d bytes of a table of %d stated bytes are on the disk", m.sentBytes(), size)
			}
		}
		_, err := stream.CloseAndReceive()
		w.wants(problem.NotAllowed, err)
		w.wants(problem.NotAllowed, call(t, client, query))
	}
	if spent, _, _ := m.spent(t.Context()); spent != 0 {
		t.Errorf("the attack has cost %s", spent)
	}
}

// sentBytes is how much of what was sent lies on the disk.
func (m *member) sentBytes() (n int64) {
	entries, err := os.ReadDir(m.shelf.dir)
	must(m.w.t, err)
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			n += info.Size()
		}
	}
	return n
}

// TestOperatorsDeclareSizes refuses to allow a digest whose file may be of any size, or of two.
func TestOperatorsDeclareSizes(t *testing.T) {
	d := strings.Repeat("0f", 32)
	for _, tables := range [][]string{nil, {d}, {d + ":"}, {d + ":0"}, {d + ":-1"}, {d + ":x"}, {d + ":01"}, {d + ":1099511627777"},
		{d + ":1", d + ":2"}, {d + ":1", d + ":1"}, {d[1:] + ":1"}} {
		if sizes, err := ParseTables(tables); err == nil {
			t.Errorf("%v: %v, want a refusal", tables, sizes)
		}
	}
	if sizes, err := ParseTables([]string{d + ":1", d[:62] + "00:1099511627776"}); err != nil || len(sizes) != 2 {
		t.Error(sizes, err)
	}
}

// fillDisk lets so many bytes more fit on every disk until the test ends.
func fillDisk(t *testing.T, room int64) *atomic.Int64 {
	var left atomic.Int64
	left.Store(room)
	before := checkRoom
	checkRoom = func(_ string, more int64) error {
		if left.Load() < more {
			return diskroom.ErrFull
		}
		return nil
	}
	t.Cleanup(func() { checkRoom = before })
	return &left
}

// TestDisksStayFree lets the disk of a party run full, but for what must stay free: no table is
// taken, no votes are written, nothing that was begun is left, and there is no charge for what has
// no room. A combiner's disk is not filled by the votes of parties either.
func TestDisksStayFree(t *testing.T) {
	w := newWorld(t)
	left := fillDisk(t, int64(len(table))-1)
	m := w.bySum()
	client, query := w.client(m, w.combiner, w.query(nil))
	stream := client.SendTable(t.Context())
	_ = stream.Send(&rpc.SendTableRequest{Query: query, Part: table}) // refused before it is read, perhaps
	_, err := stream.CloseAndReceive()
	w.wants(problem.Storage, err)
	if n := m.sentBytes(); n != 0 {
		t.Errorf("%d bytes are kept", n)
	}
	m2 := w.member("john", func(p *setup) {
		p.Plan = func(context.Context, *Query, []string) (int, uint64, error) { return 1, 0, nil }
	})
	client, query = w.client(m2, w.combiner, w.query(nil))
	left.Store(0)
	w.wants(problem.Storage, call(t, client, query))
	if spent, _, _ := m2.spent(t.Context()); spent != 0 || m2.casts.Load() != 0 {
		t.Errorf("votes without room have cost %s, and were made %d times", spent, m2.casts.Load())
	}
	left.Store(1) // room for no votes, though they are paid for
	w.wants(problem.Storage, call(t, client, query))
	left.Store(1 << 20)
	must(t, call(t, client, query))
	if spent, n, _ := m2.spent(t.Context()); spent != dp.Nano || n != 1 {
		t.Errorf("one query has cost %s", spent)
	}
	left.Store(-1)
	dir := t.TempDir()
	a := w.asking(w.query(nil), m2.peer())
	a.Dir = dir
	answers, err := a.Votes(t.Context())
	must(t, err)
	if !errors.Is(answers[0].Err, diskroom.ErrFull) {
		t.Errorf("err = %v, want the combiner's full disk", answers[0].Err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("a combiner keeps part of a file: %v %v", files, err)
	}
}

// TestRoomIsLookedAtFirst: a file that the disk has no room for is refused before a part of it is
// asked for.
func TestRoomIsLookedAtFirst(t *testing.T) {
	fillDisk(t, int64(len(table))-1)
	digest := sha256.Sum256(table)
	s := &shelf{t.TempDir()}
	asked := 0
	err := s.receiveFile(t.Context(), Table{Digest: digest, Bytes: int64(len(table)), Format: "csv"}, func() ([]byte, error) {
		asked++
		return table[:1], nil
	})
	files, listed := os.ReadDir(s.dir)
	if !errors.Is(err, diskroom.ErrFull) || asked > 0 || len(files) > 0 || listed != nil {
		t.Errorf("err = %v after %d parts; %v is left: %v", err, asked, files, listed)
	}
}
