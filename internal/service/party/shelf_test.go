// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/service/problem"
	"github.com/discreet-dp/discreet/internal/service/rpc"
)

// bySum is a party that allows the auxiliary file by its digest.
func (w *world) bySum() *member {
	w.t.Helper()
	d, err := DigestOf(w.aux)
	must(w.t, err)
	return w.member("mary", func(p *Params) { p.Allow = []string{fmt.Sprintf("%x", d[:])} })
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
	if spent, _, _ := m.record.spent(t.Context()); spent != 0 {
		t.Errorf("a query without its table has cost %s", spent)
	}
	_, err := w.ask(w.query(nil), m)
	must(t, err)
	if !bytes.Equal(seen, table) {
		t.Errorf("the party voted on %d bytes, want the table's %d", len(seen), len(table))
	}
	must(t, os.Remove(w.aux)) // nobody can send it again
	m.kill()
	m.start()
	if err := call(t, client, query); err != nil {
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
	// Nobody there at all, and somebody who goes away in the middle.
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

// A folder's files are looked at when they are asked for, as they are then.
func TestFoldersAreLookedAt(t *testing.T) {
	w := newWorld(t)
	dir := t.TempDir()
	m := w.member("mary", func(p *Params) { p.Allow = []string{dir} })
	_, err := w.ask(w.query(nil), m)
	w.wants(problem.NotAllowed, err)
	must(t, os.WriteFile(filepath.Join(dir, "b.csv"), bytes.ReplaceAll(table, []byte("x"), []byte("y")), 0o600))
	must(t, os.Mkdir(filepath.Join(dir, "a"), 0o700))
	_, err = w.ask(w.query(nil), m)
	w.wants(problem.NotAllowed, err)
	must(t, os.WriteFile(filepath.Join(dir, "c.csv"), table, 0o600))
	_, err = w.ask(w.query(nil), m)
	must(t, err)
}
