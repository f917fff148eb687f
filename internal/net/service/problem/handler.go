// SPDX-License-Identifier: Apache-2.0

package problem

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
)

// Handler passes calls on. Some requests are refused by Connect before their call is reached, for
// example if the message is invalid, too large or too late, or has an unknown encoding. Handler
// answers these with a problem in the caller's protocol, without Connect's own text, which may quote
// the message. If refused is not nil, it is called with the problem. Interceptors must call Reached,
// and Status with the problem that a call ends with.
func Handler(calls http.Handler, refused func(*http.Request, *Problem)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := &held{ResponseWriter: w}
		calls.ServeHTTP(h, r.WithContext(context.WithValue(r.Context(), heldKey{}, h)))
		if h.reached {
			return
		}
		if kind := h.refusalKind(); kind != (Kind{}) {
			h.dropHeld()
			p := New(kind, "")
			if refused != nil {
				refused(r, p)
			}
			p.Answer(w, r)
			return
		}
		h.releaseHeld() // a plain answer of ours
	})
}

// Reached records that a call has reached our code, whose errors are problems.
func Reached(ctx context.Context) {
	if h, ok := ctx.Value(heldKey{}).(*held); ok {
		h.releaseHeld()
	}
}

// Status records the problem with which the call of ctx ends. The HTTP status of the answer is then
// the problem's own, whereas Connect uses one status for several codes.
func Status(ctx context.Context, p *Problem) {
	if h, ok := ctx.Value(heldKey{}).(*held); ok {
		h.failed = p.Kind.status
	}
}

// Answer answers a request with the problem in the request's protocol, or in plain HTTP if it has
// none.
func (p *Problem) Answer(w http.ResponseWriter, r *http.Request) {
	Reached(r.Context())
	e := connect.NewErrorWriter()
	if e.IsSupported(r) && (r.Method != http.MethodGet || r.URL.Query().Has("encoding")) {
		// the caller has gone: no one to tell
		_ = e.Write(&held{ResponseWriter: w, reached: true, failed: p.Kind.status}, r, p.Connect())
		return
	}
	p.Write(w)
}

type heldKey struct{}

// held holds back an answer until its call is reached. Answers of Connect itself are small.
type held struct {
	http.ResponseWriter
	reached bool
	failed  int // HTTP status of an error answer, if known; 0: Connect's
	status  int
	body    bytes.Buffer
}

// Unwrap supports http.ResponseController.
func (h *held) Unwrap() http.ResponseWriter { return h.ResponseWriter }

// WriteHeader implements http.ResponseWriter.
func (h *held) WriteHeader(status int) {
	if h.reached {
		if h.failed != 0 && status >= http.StatusBadRequest {
			status = h.failed
		}
		h.ResponseWriter.WriteHeader(status)
	} else if h.status == 0 {
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *held) Write(b []byte) (int, error) {
	if h.reached {
		return h.ResponseWriter.Write(b)
	}
	h.WriteHeader(http.StatusOK)
	return h.body.Write(b)
}

// Flush implements http.Flusher.
func (h *held) Flush() {
	if f, ok := h.ResponseWriter.(http.Flusher); ok && h.reached {
		f.Flush()
	}
}

// releaseHeld sends what was held back, and holds back nothing from then on.
func (h *held) releaseHeld() {
	if h.reached {
		return
	}
	h.reached = true
	if h.status != 0 {
		h.ResponseWriter.WriteHeader(h.status)
		_, _ = h.ResponseWriter.Write(h.body.Bytes()) // the caller has gone: no one to tell
	}
}

// dropHeld discards what was held back, except the headers that list the accepted requests.
func (h *held) dropHeld() {
	for name := range h.Header() {
		if name != "Allow" && name != "Accept-Post" {
			h.Header().Del(name)
		}
	}
}

// refusalKind returns the kind of Connect's refusal, or the zero Kind if the answer is not one.
func (h *held) refusalKind() Kind {
	switch h.status {
	case http.StatusNotFound:
		return UnknownCall
	case http.StatusMethodNotAllowed:
		return WrongMethod
	case http.StatusUnsupportedMediaType:
		return UnknownType
	}
	code, failed := h.refusalCode()
	if !failed {
		return Kind{}
	}
	return refusalKind(code)
}

// OfLibrary returns the problem in the error that ended a stream. If there is none, it returns a
// problem for Connect's own refusal, without its text.
func OfLibrary(err error) *Problem {
	if p := Of(err); p.Kind != Internal {
		return p
	}
	if e := (*connect.Error)(nil); errors.As(err, &e) && len(e.Details()) == 0 {
		return New(refusalKind(e.Code()), "")
	}
	return New(Internal, "")
}

// refusalKind returns the kind of Connect's refusal with the given code.
func refusalKind(code connect.Code) Kind {
	switch code {
	case connect.CodeInvalidArgument:
		return Malformed
	case connect.CodeResourceExhausted:
		return TooLarge
	case connect.CodeUnimplemented:
		return UnknownType
	case connect.CodeDeadlineExceeded, connect.CodeCanceled, connect.CodeUnknown: // a message that did not come
		return Timeout
	}
	return Internal
}

// refusalCode returns the code of Connect's own refusal, in any protocol.
func (h *held) refusalCode() (code connect.Code, failed bool) {
	for _, name := range []string{"Grpc-Status", http.TrailerPrefix + "Grpc-Status"} {
		if v := h.Header()[name]; len(v) > 0 && v[0] != "0" {
			n, err := strconv.ParseUint(v[0], 10, 32)
			return connect.Code(n), err == nil
		}
	}
	if h.status < http.StatusBadRequest || h.Header().Get("Content-Type") != "application/json" {
		return 0, false
	}
	var wire struct {
		Code *connect.Code `json:"code"`
	}
	if err := json.Unmarshal(h.body.Bytes(), &wire); err != nil || wire.Code == nil {
		return 0, false
	}
	return *wire.Code, true
}
