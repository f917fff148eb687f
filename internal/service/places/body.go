// SPDX-License-Identifier: Apache-2.0

package places

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A body may keep its reader waiting for a grace, and then for a second per minRate
// bytes that it has brought; no longer than its call's time in all. Grace is what
// calls have that need no other.
const (
	Grace   = 10 * time.Second
	minRate = 16 << 10 // bytes per second
)

// paced is a request's body that must not end its reader's patience, nor be longer
// than it may.
type paced struct {
	io.ReadCloser
	until   func(time.Time) error // sets the deadline of the next read
	now     func() time.Time      // never set back
	grace   time.Duration
	most    int64 // bytes
	longest time.Duration
	got     int64
	waited  time.Duration
}

// PaceBody wraps the body of a request that has so many bytes at most, a grace, and a
// call's time in all. Reading fails with os.ErrDeadlineExceeded where the body comes too
// slowly, and with *http.MaxBytesError if it does not end.
func PaceBody(w http.ResponseWriter, body io.ReadCloser, most int64, grace, longest time.Duration) io.ReadCloser {
	return &paced{ReadCloser: body, until: http.NewResponseController(w).SetReadDeadline, now: time.Now, grace: grace,
		most: most, longest: longest}
}

// timeLeft is the longest time that the body may keep its reader waiting from now on.
func (b *paced) timeLeft() time.Duration {
	return min(b.grace+time.Duration(b.got)*time.Second/minRate, b.longest) - b.waited
}

// Read implements io.Reader. Only waiting counts: what the server does between two
// reads is not the caller's fault.
func (b *paced) Read(p []byte) (int, error) {
	if b.got > b.most+envelope {
		return 0, &http.MaxBytesError{Limit: b.most}
	}
	left, began := b.timeLeft(), b.now()
	if left <= 0 {
		return 0, os.ErrDeadlineExceeded
	}
	_ = b.until(began.Add(left)) // if there is none, the listener's holds
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	ended := b.now()
	b.waited += ended.Sub(began)
	if errors.Is(err, io.EOF) { // the deadline was the body's, not the call's
		_ = b.until(ended.Add(b.longest))
	}
	return n, err
}

// envelope is the number of bytes that a protocol adds to a message, plus one.
const envelope = 6
