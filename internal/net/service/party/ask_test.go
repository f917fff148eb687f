// SPDX-License-Identifier: Apache-2.0

package party

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
)

// What a party says that is not its votes makes it absent, and touches no one
// else.
func TestLiarsAreAbsent(t *testing.T) {
	w := newWorld(t)
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	lies := map[string]func(m *member, q *Query, to io.Writer) error{
		"nothing": func(*member, *Query, io.Writer) error { return nil },
		"rubbish": func(_ *member, _ *Query, to io.Writer) error { _, err := to.Write([]byte("votes!\n")); return err },
		"half": func(m *member, q *Query, to io.Writer) error {
			var b bytes.Buffer
			err := m.votes(q, 1, &b)
			_, wrote := to.Write(b.Bytes()[:b.Len()-80])
			return errors.Join(err, wrote)
		},
		"more": func(m *member, q *Query, to io.Writer) error {
			err := m.votes(q, 1, to)
			_, wrote := to.Write([]byte{0})
			return errors.Join(err, wrote)
		},
		"changed": func(m *member, q *Query, to io.Writer) error {
			var b bytes.Buffer
			err := m.votes(q, 1, &b)
			b.Bytes()[b.Len()-70] ^= 1
			_, wrote := to.Write(b.Bytes())
			return errors.Join(err, wrote)
		},
		"other table": func(m *member, q *Query, to io.Writer) error {
			other := *q
			other.Tables = append(other.Tables, Table{})
			return m.votes(&other, 1, to)
		},
		"other name": func(m *member, q *Query, to io.Writer) error {
			return (&member{name: "honest", key: m.key}).votes(q, 1, to)
		},
		"other key": func(m *member, q *Query, to io.Writer) error {
			return (&member{name: m.name, key: stranger}).votes(q, 1, to)
		},
		"a header without end": func(_ *member, _ *Query, to io.Writer) error {
			_, err := to.Write([]byte("discreet votes 1\n{\"party\":\"" + strings.Repeat("a", 9<<20)))
			return err
		},
	}
	honest := w.member("honest", nil)
	q := w.query(nil)
	a := w.asking(q, honest.peer())
	for name, lie := range lies {
		var m *member
		m = w.member(strings.ReplaceAll(name, " ", "-"), func(p *setup) {
			p.Cast = func(_ context.Context, q *Query, _ []string, to io.Writer) error { return lie(m, q, to) }
		})
		a.Peers = append(a.Peers, m.peer())
	}
	answers, err := a.Votes(t.Context())
	must(t, err)
	for i, answer := range answers {
		switch {
		case i == 0 && answer.Err != nil:
			t.Errorf("the honest party is absent: %v", answer.Err)
		case i > 0 && !errors.Is(answer.Err, errOther):
			t.Errorf("%s: err = %v, want %v", answer.Peer.Name, answer.Err, errOther)
		}
	}
	if files, err := os.ReadDir(a.Dir); err != nil || len(files) != 1 || files[0].Name() != "honest" {
		t.Errorf("%v is kept, %v; want the honest party's votes alone", files, err)
	}
}

// A party at another's address is not taken for it.
func TestPeersAreWhoTheySay(t *testing.T) {
	w := newWorld(t)
	mary, john := w.member("mary", nil), w.member("john", nil)
	crossed := mary.peer()
	crossed.URL = john.peer().URL
	q := w.query(func(q *Query) { q.Deadline = time.Now().Add(2 * time.Second).Truncate(time.Second) })
	answers, err := w.asking(q, crossed).Votes(t.Context())
	must(t, err)
	if answers[0].Err == nil || john.casts.Load() != 0 {
		t.Errorf("err = %v after %d votes of john; want mary alone to be asked", answers[0].Err, john.casts.Load())
	}
}

// silence takes connections and says nothing.
func silence(t *testing.T) (peer Peer, asked <-chan struct{}) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	heard, done := make(chan struct{}, 1000), make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			defer c.Close() // when the test is over
			heard <- struct{}{}
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return Peer{URL: "https://" + l.Addr().String(), Name: "silent"}, heard
}

// A party that is down when it is asked, and back in time, has voted, whoever else
// is silent.
func TestPartiesComeBack(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", nil)
	m.kill()
	silent, asked := silence(t)
	a := w.asking(w.query(nil), silent, m.peer())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	a.Progress = func(int, int) { cancel() } // the first to have an answer is mary
	var answers []Answer
	var err error
	over := make(chan struct{})
	go func() {
		defer close(over)
		answers, err = a.Votes(ctx)
	}()
	<-asked
	m.start()
	<-over
	must(t, err)
	if answers[0].Err == nil || answers[1].Err != nil {
		t.Errorf("silent: %v, want absent; mary: %v, want votes", answers[0].Err, answers[1].Err)
	}
}

// Who says nothing until the deadline is absent.
func TestSilenceEnds(t *testing.T) {
	w := newWorld(t)
	silent, _ := silence(t)
	answers, err := w.asking(w.query(func(q *Query) {
		q.Deadline = time.Now().Add(2 * time.Second).Truncate(time.Second)
	}), silent).Votes(t.Context())
	must(t, err)
	if !errors.Is(answers[0].Err, context.DeadlineExceeded) {
		t.Errorf("err = %v, want %v", answers[0].Err, context.DeadlineExceeded)
	}
}

// Answers that break off are asked for again, and the whole file is kept or none.
func TestBrokenAnswersAreAskedAgain(t *testing.T) {
	w := newWorld(t)
	m := w.member("mary", nil)
	m.kill()
	breaks := 3
	m.wrap = func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if breaks > 0 {
				breaks--
				h.ServeHTTP(&cut{rw, 30 * breaks}, r)
				panic(http.ErrAbortHandler)
			}
			h.ServeHTTP(rw, r)
		})
	}
	m.start()
	text, err := w.ask(w.query(nil), m)
	must(t, err)
	if r, err := multiparty.NewReader(bytes.NewReader(text)); err != nil || r.Rest() != nil {
		t.Errorf("the file that was kept is not whole: %v", err)
	}
	if m.casts.Load() != 1 {
		t.Errorf("%d casts, want 1", m.casts.Load())
	}
}

// cut lets so many bytes through.
type cut struct {
	http.ResponseWriter
	left int
}

func (c *cut) Write(b []byte) (int, error) {
	n := min(len(b), c.left)
	c.left -= n
	if _, err := c.ResponseWriter.Write(b[:n]); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (c *cut) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Many parties are asked at once, and each file is its party's.
func TestManyParties(t *testing.T) {
	w := newWorld(t)
	q := w.query(nil)
	a := w.asking(q)
	for _, name := range strings.Fields("a b c d e f g h i j k l") {
		a.Peers = append(a.Peers, w.member(name, nil).peer())
	}
	told := 0
	a.Progress = func(done, total int) { told = done*100 + total }
	answers, err := a.Votes(t.Context())
	must(t, err)
	for _, answer := range answers {
		must(t, answer.Err)
		f, err := os.Open(filepath.Join(a.Dir, answer.Peer.Name))
		must(t, err)
		r, err := multiparty.NewReader(f)
		must(t, err)
		must(t, r.Rest())
		must(t, f.Close())
		if r.Header.Party != answer.Peer.Name || r.Header.Key != answer.Peer.Key {
			t.Errorf("the file of %s says %s", answer.Peer.Name, r.Header.Party)
		}
	}
	if told != 1212 {
		t.Errorf("progress ended at %d, want all 12 of 12", told)
	}
}

// An asker that gives up leaves nothing behind.
func TestAskingEnds(t *testing.T) {
	w := newWorld(t)
	begun := make(chan struct{})
	m := w.member("mary", func(p *setup) {
		p.Cast = func(ctx context.Context, _ *Query, _ []string, _ io.Writer) error {
			close(begun)
			<-ctx.Done()
			return ctx.Err()
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-begun
		cancel()
	}()
	answers, err := w.asking(w.query(nil), m.peer()).Votes(ctx)
	must(t, err)
	if !errors.Is(answers[0].Err, context.Canceled) {
		t.Errorf("err = %v, want %v", answers[0].Err, context.Canceled)
	}
	if _, err := (Asking{Self: w.identity(identity.Party, "x"), Query: w.query(nil)}).Votes(t.Context()); err == nil {
		t.Error("a party asks parties")
	}
}
