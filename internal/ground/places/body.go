// SPDX-License-Identifier: Apache-2.0

package places

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// A body may keep its reader waiting for a grace period, plus one second per minRate bytes received,
// but not longer than its call's total time. Grace is the default period.
const (
	Grace   = 10 * time.Second
	minRate = 16 << 10 // bytes per second
)

// paced is a request's body with a minimum rate and a maximum length.
type paced struct {
	io.ReadCloser
	until   func(time.Time) error // sets the deadline of the next read
	now     func() time.Time      // monotonic clock
	grace   time.Duration
	most    int64 // bytes
	longest time.Duration
	got     int64
	waited  time.Duration
}

// PaceBody wraps the body of a request, given its largest number of bytes, a grace period, and its
// call's total time. Reading fails with os.ErrDeadlineExceeded if the body arrives too slowly, and
// with *http.MaxBytesError if it is too long.
func PaceBody(w http.ResponseWriter, body io.ReadCloser, most int64, grace, longest time.Duration) io.ReadCloser {
	return &paced{ReadCloser: body, until: http.NewResponseController(w).SetReadDeadline, now: time.Now, grace: grace,
		most: most, longest: longest}
}

// timeLeft returns how long the body may still keep its reader waiting.
func (b *paced) timeLeft() time.Duration {
	return min(b.grace+time.Duration(b.got)*time.Second/minRate, b.longest) - b.waited
}

// Read implements io.Reader. Only the time spent waiting counts: callers are not responsible for what
// the server does between reads.
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
