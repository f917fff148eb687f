// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/ground/places"
	"github.com/discreet-dp/discreet/internal/serve/inference/oip"
)

const (
	// patience is the longest time that a request waits for a place.
	patience = 2 * time.Second
	// grace is how long a body, or a reader of an answer, may keep the server waiting before a minimum
	// rate is required. longest is the longest time for a whole body.
	grace   = 5 * time.Second
	longest = 30 * time.Second
	// answerRate is the minimum rate at which an answer must be read, in bytes per second.
	answerRate = 16 << 10
	// mostAhead is how many bytes of a body of unknown length are read before memory is reserved for
	// its largest size.
	mostAhead = 16 << 10
	// waitingPerPlace is the number of requests that may wait for each place, and leastRoom the
	// minimum for all places. The received part of a waiting request is in its connection's buffer.
	waitingPerPlace = 8
	leastRoom       = 64
	// mostShares is the largest number of parts into which places and memory are divided.
	mostShares = 4
)

// shares returns the number of parts into which places and memory are divided. No token can hold more
// than one part, and as many tokens as parts can use all of them.
func (s *Server) shares() int { return min(max(1, len(s.tokens)), mostShares) }

// caller is the number of a request's token; 0 if no token is needed.
type caller int

type placeKey struct{}

// memoryOf returns the memory reserved by a request's place, or all memory without a place.
func (s *Server) memoryOf(ctx context.Context) int64 {
	if p, ok := ctx.Value(placeKey{}).(*places.Place[caller]); ok {
		return p.Memory()
	}
	return s.opts.Memory
}

// admit passes a request to next once it has a place: one of the simultaneous calls, over any
// protocol, and the memory for the largest request with a body of its length. It reads nothing of a
// body before, and after that the body must arrive in time.
func (s *Server) admit(w http.ResponseWriter, r *http.Request, who caller, next http.Handler) {
	if err := checkKind(r); err != nil {
		s.refuseRequest(w, r, err)
		return
	}
	size, most := r.ContentLength, s.opts.MaxBody
	if isEnveloped(r) {
		most += envelope
	}
	if size > most {
		s.refuseRequest(w, r, errTooLarge)
		return
	}
	first := size
	if size < 0 {
		first = mostAhead
	}
	place, err := s.places.Take(r.Context(), who, s.memoryFor(first))
	if err != nil {
		s.refuseRequest(w, r, errBusy)
		return
	}
	defer place.Leave()
	r.Body = places.PaceBody(w, r.Body, s.opts.MaxBody, s.grace, longest)
	if size < 0 {
		if err := s.readAhead(r, place); err != nil {
			s.refuseRequest(w, r, err)
			return
		}
	}
	w = &pacedWriter{w, http.NewResponseController(w), s.grace}
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), placeKey{}, place)))
}

// readAhead reads the beginning of a body of unknown length: all of a short one, or the length of a
// gRPC message. It then changes the place to the one that the rest needs.
func (s *Server) readAhead(r *http.Request, place *places.Place[caller]) error {
	want := mostAhead
	if isEnveloped(r) {
		want = envelope
	}
	ahead := make([]byte, want)
	n, err := io.ReadFull(r.Body, ahead)
	ahead = ahead[:n]
	if ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF); err != nil && !ended {
		return bodyProblem(err)
	} else if ended {
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(ahead)), int64(n)
		return nil
	}
	rest := s.opts.MaxBody
	if isEnveloped(r) {
		// A byte more, so that a second message is noticed.
		rest = int64(binary.BigEndian.Uint32(ahead[1:])) + 1
		if rest > s.opts.MaxBody+1 {
			return errTooLarge
		}
	}
	if rest > mostAhead {
		if place.Resize(r.Context(), s.memoryFor(rest)) != nil {
			return errBusy
		}
	}
	body := io.Reader(r.Body)
	if isEnveloped(r) {
		body = io.LimitReader(body, rest)
	}
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(ahead), body))
	return nil
}

// envelope is the number of bytes before a gRPC message: a flag and its length.
const envelope = 5

// callTypes are the media types of gRPC calls.
var callTypes = []string{"application/grpc", "application/grpc+proto", "application/grpc-web",
	"application/grpc-web+proto", "application/proto"}

// mediaTypes are the media types of other bodies. curl -d uses the last one for every body.
var mediaTypes = []string{"application/json", "application/octet-stream", "application/x-www-form-urlencoded"}

func isCall(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/"+oip.GRPCInferenceServiceName+"/")
}

func isEnveloped(r *http.Request) bool {
	return isCall(r) && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc")
}

// checkKind refuses a body whose media type is not supported.
func checkKind(r *http.Request) error {
	unread := func(text string) error { return &problem{http.StatusUnsupportedMediaType, errors.New(text)} }
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		if e := r.Header.Get(name); e != "" && e != "identity" {
			return unread("the body must not be compressed")
		}
	}
	kind := r.Header.Get("Content-Type")
	if r.Method != http.MethodPost || kind == "" {
		return nil
	}
	media, _, err := mime.ParseMediaType(kind)
	switch {
	case isCall(r) && (err != nil || !slices.Contains(callTypes, media)):
		return unread("a call must be gRPC of protobuf; JSON is for /v2")
	case !isCall(r) && (err != nil || !slices.Contains(mediaTypes, media)):
		return unread("the body must be application/json or application/octet-stream")
	}
	return nil
}

// bodyProblem returns the reason why a body could not be read.
func bodyProblem(err error) error {
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return errTooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	}
	return refuse("the body must arrive whole")
}

// refuseRequest answers a request that did not reach its call, in the form of its protocol.
func (s *Server) refuseRequest(w http.ResponseWriter, r *http.Request, err error) {
	protocol := "rest"
	if isCall(r) {
		protocol = "grpc"
	}
	s.note(r.Context(), protocol, "", "", 0, 0, err)
	answerProblem(w, r, err)
}

// answerProblem answers a request with an error, in the form of its protocol.
func answerProblem(w http.ResponseWriter, r *http.Request, err error) {
	if e := connect.NewErrorWriter(); statusOf(err) != http.StatusUnsupportedMediaType && isCall(r) && e.IsSupported(r) {
		if statusOf(err) == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "1")
		}
		_ = e.Write(w, r, callError(err)) // the caller has gone
		return
	}
	writeProblem(w, err)
}

// pacedWriter writes an answer that must be read in time.
type pacedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	grace   time.Duration
}

// Write implements http.ResponseWriter.
func (w *pacedWriter) Write(b []byte) (int, error) {
	// Where there is no deadline the listener's holds.
	_ = w.control.SetWriteDeadline(time.Now().Add(w.grace + time.Duration(len(b))*time.Second/answerRate))
	return w.ResponseWriter.Write(b)
}

// Unwrap supports http.ResponseController.
func (w *pacedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher.
func (w *pacedWriter) Flush() { _ = w.control.Flush() }
