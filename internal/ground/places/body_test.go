// SPDX-License-Identifier: Apache-2.0

package places

import (
	"errors"
	"io"
	"net/http"
	"os"
	"testing"
	"time"
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
// no one off.
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
