// SPDX-License-Identifier: Apache-2.0

//go:build !js

package object

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// held stores the answers to requests during one reading, so that a repeated request gets the same
// answer.
type held struct {
	mu      sync.Mutex
	client  *client // nil until the first use
	objects map[string]version
	folders map[string][]string
}

// version identifies the bytes of an object.
type version struct {
	size int64
	tag  string
}

type heldKey struct{}

// Hold returns a context in which all reads belong to one reading: an object that is opened again must
// have the same version, and a folder the same objects.
func Hold(ctx context.Context) context.Context {
	if ctx.Value(heldKey{}) != nil {
		return ctx
	}
	return context.WithValue(ctx, heldKey{}, &held{objects: map[string]version{}, folders: map[string][]string{}})
}

// begin returns the reading of a context, and its client.
func begin(ctx context.Context) (*held, *client, error) {
	h := Hold(ctx).Value(heldKey{}).(*held)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.client == nil {
		c, err := newClient(ctx)
		if err != nil {
			return nil, nil, err
		}
		h.client = c
	}
	return h, h.client, nil
}

// Object is an object whose bytes must stay as they were when it was opened: if they change meanwhile,
// reading fails.
type Object struct {
	ctx     context.Context
	cancel  context.CancelFunc
	client  *client
	address string
	version
	fetches sync.WaitGroup

	mu   sync.Mutex
	tail []byte // its last bytes, after ReadAt has read some of them
}

// Open opens the object at an address. The caller must close it.
func Open(ctx context.Context, address string) (*Object, error) {
	v, c, err := find(ctx, address)
	if err != nil {
		return nil, err
	}
	o := &Object{client: c, address: address, version: v}
	o.ctx, o.cancel = context.WithCancel(ctx)
	return o, nil
}

// find requests the version of the object at an address, once per reading.
func find(ctx context.Context, address string) (v version, c *client, err error) {
	bucket, key, err := split(address)
	if err != nil {
		return v, nil, err
	}
	h, c, err := begin(ctx)
	if err != nil {
		return v, nil, err
	}
	h.mu.Lock()
	v, known := h.objects[address]
	h.mu.Unlock()
	if known {
		return v, c, nil
	}
	head := request{method: http.MethodHead, address: address, bucket: bucket, key: key}
	err = c.ask(ctx, head, func(a *http.Response) error {
		v = version{a.ContentLength, a.Header.Get("ETag")}
		return nil
	})
	if refused := (*Error)(nil); errors.As(err, &refused) && ctx.Err() == nil { // of which HEAD does not say why
		get := head
		get.method, get.header = http.MethodGet, map[string]string{"Range": "bytes=0-0"}
		if why := c.ask(ctx, get, func(*http.Response) error { return nil }); why != nil {
			err = why
		}
	}
	switch {
	case err != nil:
		return v, nil, err
	case v.size < 0 || v.tag == "":
		return v, nil, &Error{address, "must have a length and an ETag"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if before, known := h.objects[address]; known && before != v {
		return v, nil, &Error{address, changed}
	}
	h.objects[address] = v
	return v, c, nil
}

// Size returns the number of bytes.
func (o *Object) Size() int64 { return o.size }

// Close ends all running reads.
func (o *Object) Close() error {
	o.cancel()
	o.fetches.Wait()
	return nil
}

// fetch reads n bytes from an offset.
func (o *Object) fetch(from, n int64) (data []byte, err error) {
	bucket, key, err := split(o.address)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, nil
	}
	r := request{method: http.MethodGet, address: o.address, bucket: bucket, key: key, header: map[string]string{
		"Range": fmt.Sprintf("bytes=%d-%d", from, from+n-1), "If-Match": o.tag}}
	err = o.client.ask(o.ctx, r, func(a *http.Response) error {
		whole := a.StatusCode == http.StatusOK && from == 0 && n == o.size
		part := a.StatusCode == http.StatusPartialContent &&
			a.Header.Get("Content-Range") == fmt.Sprintf("bytes %d-%d/%d", from, from+n-1, o.size)
		switch {
		case a.Header.Get("ETag") != o.tag: // of a store that does not heed If-Match
			return &Error{o.address, changed}
		case !whole && !part:
			return &Error{o.address, "must be given in the pieces that are asked for"}
		}
		data = make([]byte, n)
		_, err := io.ReadFull(a.Body, data)
		return err
	})
	return data, err
}

const (
	firstTail = 256 << 10 // holds the metadata of most Parquet files
	mostTail  = 17 << 20
)

// ReadAt reads some bytes. It caches those near the object's end until Forget, because they are read
// in small pieces and repeatedly.
func (o *Object) ReadAt(p []byte, off int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(int64(len(p)), o.size-off)
	switch {
	case len(p) == 0:
		return 0, nil
	case off < 0 || n <= 0:
		return 0, io.EOF
	}
	kept := o.size - int64(len(o.tail))
	switch {
	case off >= kept:
		copy(p, o.tail[off-kept:])
	case off >= o.size-mostTail:
		from := min(off, max(0, o.size-firstTail))
		more, err := o.fetch(from, kept-from)
		if err != nil {
			return 0, err
		}
		o.tail = append(more, o.tail...)
		copy(p, o.tail[off-from:])
	default:
		data, err := o.fetch(off, n)
		if err != nil {
			return 0, err
		}
		copy(p, data)
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// Forget releases the cache of ReadAt.
func (o *Object) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tail = nil
}

const (
	firstPiece = 256 << 10
	mostPiece  = 8 << 20
	section    = 1 << 20
)

// Reader reads the object from its beginning, in pieces that grow to 8 MiB. While one piece is used,
// the next two are requested. It requests little before more than the first piece is needed.
func (o *Object) Reader() io.Reader {
	return &stream{o: o, end: o.size, piece: firstPiece, most: mostPiece, ahead: 2, after: 1}
}

// Section reads n bytes from an offset, in pieces of 1 MiB. It requests the first piece at once, and
// each further piece while the previous one is used.
func (o *Object) Section(from, n int64) io.Reader {
	s := &stream{o: o, next: from, end: from + n, piece: section, most: section, ahead: 1}
	s.beginPiece()
	return s
}

// stream reads consecutive pieces of an object.
type stream struct {
	o           *Object
	next, end   int64 // the range not yet requested
	piece, most int64
	ahead       int // number of pieces to request ahead,
	after       int // once this many have been read
	taken       int
	coming      []chan fetched // in order
	now         []byte
	err         error
}

type fetched struct {
	data []byte
	err  error
}

// beginPiece requests the next piece.
func (s *stream) beginPiece() {
	from, n := s.next, min(s.piece, s.end-s.next)
	s.next += n
	s.piece = min(4*s.piece, s.most)
	coming := make(chan fetched, 1)
	s.coming = append(s.coming, coming)
	s.o.fetches.Go(func() {
		data, err := s.o.fetch(from, n)
		coming <- fetched{data, err}
	})
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.now) == 0 {
		if len(s.coming) == 0 && s.next < s.end {
			s.beginPiece()
		}
		if s.err != nil || len(s.coming) == 0 {
			break
		}
		got := <-s.coming[0]
		s.coming = s.coming[1:]
		s.now, s.err = got.data, got.err
		s.taken++
		for s.taken > s.after && s.err == nil && len(s.coming) < s.ahead && s.next < s.end {
			s.beginPiece()
		}
	}
	if len(s.now) == 0 {
		if s.err == nil {
			s.err = io.EOF
		}
		return 0, s.err
	}
	n := copy(p, s.now)
	s.now = s.now[n:]
	return n, nil
}
