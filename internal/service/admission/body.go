// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// A body may keep its reader waiting for grace, and then for a second per minRate
// bytes that it has brought; no longer than its call's time in all.
const (
	grace   = 10 * time.Second
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

// paceBody wraps the body of a request whose call has so much time.
func paceBody(w http.ResponseWriter, body io.ReadCloser, most int64, grace, longest time.Duration) *paced {
	return &paced{ReadCloser: body, until: http.NewResponseController(w).SetReadDeadline, now: time.Now, grace: grace,
		most: most, longest: longest}
}

// timeLeft is how long the body may keep its reader waiting from now on.
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
	_ = b.until(began.Add(left)) // where there is none, the listener's holds
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	ended := b.now()
	b.waited += ended.Sub(began)
	if errors.Is(err, io.EOF) { // the deadline was the body's, not the call's
		_ = b.until(ended.Add(b.longest))
	}
	return n, err
}

// envelope is what a protocol adds to a message, and a byte more.
const envelope = 6

// unpacker unpacks a message of up to most bytes, and stops there: what follows is
// not even looked at.
type unpacker struct {
	gzip.Reader
	most, left int64
}

func (u *unpacker) Reset(r io.Reader) error {
	u.left = u.most + 1 // one more, for who reads to notice
	return u.Reader.Reset(r)
}

func (u *unpacker) Read(p []byte) (int, error) {
	if u.left <= 0 {
		return 0, connect.NewError(connect.CodeResourceExhausted, errors.New("too large"))
	}
	n, err := u.Reader.Read(p[:min(int64(len(p)), u.left)])
	u.left -= int64(n)
	return n, err
}

// A message has at most one part for each bytesPerPart bytes, and some: a part costs
// memory however short it is, and no honest one is shorter.
const (
	bytesPerPart = 128
	fewParts     = 100
)

func checkParts(parts, size int) error {
	if most := fewParts + size/bytesPerPart; parts > most {
		return fmt.Errorf("a message of %d bytes has at most %d parts", size, most)
	}
	return nil
}

// codecs read messages whose number of parts is bounded.
var codecs = connect.WithHandlerOptions(connect.WithCodec(protobuf{}), connect.WithCodec(text{"json"}),
	connect.WithCodec(text{"json; charset=utf-8"}))

// protobuf is the binary codec.
type protobuf struct{}

func (protobuf) Name() string { return "proto" }

func (protobuf) Marshal(m any) ([]byte, error) { return proto.Marshal(m.(proto.Message)) }

func (protobuf) Unmarshal(b []byte, to any) error {
	parts := 0
	for rest := b; len(rest) > 0; parts++ {
		_, _, n := protowire.ConsumeField(rest)
		if n < 0 {
			return protowire.ParseError(n)
		}
		rest = rest[n:]
	}
	if err := checkParts(parts, len(b)); err != nil {
		return err
	}
	return proto.Unmarshal(b, to.(proto.Message))
}

// text is the JSON codec, by one of its names. Bytes are base64 in it: a brace
// begins an object.
type text struct{ name string }

func (t text) Name() string { return t.name }

func (text) Marshal(m any) ([]byte, error) { return protojson.Marshal(m.(proto.Message)) }

func (text) Unmarshal(b []byte, to any) error {
	if len(b) == 0 {
		return errors.New("zero-length payload is not a JSON object")
	}
	if err := checkParts(bytes.Count(b, []byte("{")), len(b)); err != nil {
		return err
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true}.Unmarshal(b, to.(proto.Message))
}
