// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/service/rpc"
)

// sender is a body that brings some bytes at a time, each time after a wait, by a
// clock of its own; or its deadline passes first.
type sender struct {
	now      time.Time
	deadline time.Time
	bytes    int // of each read
	wait     time.Duration
	end      int // how many bytes there are
}

func (s *sender) Read(p []byte) (int, error) {
	if s.end == 0 {
		return 0, io.EOF
	}
	if s.now.Add(s.wait).After(s.deadline) {
		s.now = s.deadline
		return 0, os.ErrDeadlineExceeded
	}
	s.now = s.now.Add(s.wait)
	n := min(len(p), s.bytes, s.end)
	s.end -= n
	return n, nil
}

func (s *sender) Close() error { return nil }

// TestBodiesMustCome reads bodies that come at different rates, by a clock that the
// test turns. Who is slower than the least rate is cut off when the grace is over,
// however long the body; who is not may take the call's time.
func TestBodiesMustCome(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int
		wait  time.Duration
		end   int
		want  error
		by    time.Duration // is cut off, or done
	}{
		"at once":             {1 << 20, 0, 4 << 20, nil, 0},
		"a byte a second":     {1, time.Second, 4 << 20, os.ErrDeadlineExceeded, 10 * time.Second},
		"small, in the grace": {1, time.Second, 9, nil, 9 * time.Second},
		"nothing":             {1, time.Hour, 100, os.ErrDeadlineExceeded, 10 * time.Second},
		"half of the rate":    {minRate / 2, time.Second, 4 << 20, os.ErrDeadlineExceeded, 20 * time.Second},
		"a little faster":     {minRate + 100, time.Second, 20 * minRate, nil, 20 * time.Second},
		"fast, but too long":  {minRate + 100, time.Second, 60 * minRate, os.ErrDeadlineExceeded, 30 * time.Second},
		"then nothing":        {64 << 10, 13 * time.Second, 100 << 10, os.ErrDeadlineExceeded, 10 * time.Second},
	} {
		began := time.Unix(1e9, 0)
		s := &sender{now: began, bytes: c.bytes, wait: c.wait, end: c.end}
		b := &paced{ReadCloser: s, until: func(at time.Time) error { s.deadline = at; return nil },
			now: func() time.Time { return s.now }, grace: 10 * time.Second, most: 4 << 20, longest: 30 * time.Second}
		if _, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, b, make([]byte, 1<<20)); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		took := s.now.Sub(began)
		if took < c.by-time.Second || took > c.by+time.Second {
			t.Errorf("%s: over after %s, want about %s", name, took, c.by)
		}
	}
}

// TestServersOwnTimeIsNotTheCallers: a server that is slow between two reads cuts
// nobody off.
func TestServersOwnTimeIsNotTheCallers(t *testing.T) {
	s := &sender{now: time.Unix(1e9, 0), bytes: 1, wait: time.Millisecond, end: 100}
	b := &paced{ReadCloser: s, until: func(at time.Time) error { s.deadline = at; return nil },
		now: func() time.Time { return s.now }, grace: time.Second, most: 1000, longest: time.Minute}
	for {
		if _, err := b.Read(make([]byte, 1)); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(time.Minute)
	}
}

// TestBodiesEnd: a body that announces nothing and does not end is cut off a little
// beyond its limit.
func TestBodiesEnd(t *testing.T) {
	s := &sender{now: time.Unix(1e9, 0), bytes: 1000, end: 1 << 40}
	b := &paced{ReadCloser: s, until: func(at time.Time) error { s.deadline = at; return nil },
		now: func() time.Time { return s.now }, grace: time.Second, most: 4000, longest: time.Minute}
	n, err := io.Copy(io.Discard, struct{ io.Reader }{b})
	if large := (*http.MaxBytesError)(nil); !errors.As(err, &large) || n > 6000 {
		t.Errorf("%v after %d bytes, want the end after 4000", err, n)
	}
}

// counted counts what is read of it.
type counted struct {
	io.Reader
	n int
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += n
	return n, err
}

// TestUnpackingStops: of a bomb, as much is unpacked as a message may have, and not
// a byte of what follows is looked at; so Connect, which goes on to see how large a
// message was, does not.
func TestUnpackingStops(t *testing.T) {
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 64 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	const most = 1000
	u := &unpacker{most: most}
	for range 2 { // as Connect keeps them
		packed := &counted{Reader: bytes.NewReader(bomb.Bytes())}
		if err := u.Reset(packed); err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, u)
		if e := (*connect.Error)(nil); n != most+1 || !errors.As(err, &e) || e.Code() != connect.CodeResourceExhausted {
			t.Errorf("%d bytes and %v, want %d and that it is too large", n, err, most+1)
		}
		if packed.n > bomb.Len()/8 {
			t.Errorf("%d of %d packed bytes were read", packed.n, bomb.Len())
		}
	}
	var small bytes.Buffer
	z = gzip.NewWriter(&small)
	_, _ = z.Write(make([]byte, most))
	_ = z.Close()
	if err := u.Reset(&small); err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, io.LimitReader(u, most+1)); n != most || err != nil {
		t.Errorf("of a message of just so many bytes: %d, %v", n, err)
	}
}

// TestPartsAreBounded: short parts by the thousand cost far more memory than their
// bytes, and are refused before they are parsed, by every codec; honest ones are
// not.
func TestPartsAreBounded(t *testing.T) {
	many, honest := new(rpc.UploadRequest), new(rpc.UploadRequest)
	for range 1000 {
		many.Reports = append(many.Reports, new(rpc.SignedReport))
		honest.Reports = append(honest.Reports, &rpc.SignedReport{Report: make([]byte, 109), Signature: make([]byte, 64)})
	}
	for _, c := range []connect.Codec{protobuf{}, text{"json"}, text{"json; charset=utf-8"}} {
		for _, m := range []struct {
			message *rpc.UploadRequest
			refused bool
		}{{many, true}, {honest, false}} {
			b, err := c.Marshal(m.message)
			if err != nil {
				t.Fatal(err)
			}
			var back rpc.UploadRequest
			if err := c.Unmarshal(b, &back); (err != nil) != m.refused || m.refused == (len(back.GetReports()) > 0) {
				t.Errorf("%s: %d bytes: %v with %d reports", c.Name(), len(b), err, len(back.GetReports()))
			}
		}
		for _, bad := range []string{"", "\xff", "{", strings.Repeat("\x0a\x00", 1000)} {
			if err := c.Unmarshal([]byte(bad), new(rpc.UploadRequest)); err == nil && bad != "" {
				t.Errorf("%s takes %q", c.Name(), bad)
			}
		}
	}
}
