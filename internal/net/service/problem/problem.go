// SPDX-License-Identifier: Apache-2.0

// Package problem defines refusals in a federation. It uses RFC 9457's problem details: as the body of
// a plain answer, as a detail of a Connect error, or for one report among many. It also contains the
// retry loop of clients.
//
// A problem has a kind for programs and a text for readers. It never contains any content of a report.
package problem

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"connectrpc.com/connect"

	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/rpc"
)

// urn is the prefix of the names of kinds.
const urn = "urn:discreet:problem:"

// Kind is one kind of problem. Kinds are compared with ==; the list is Kinds.
type Kind struct{ *kind }

type kind struct {
	name, title string
	code        connect.Code
	status      int
	again       bool
}

// The kinds. A retry can help only if the title says so.
var (
	Malformed = newKind("malformed", "the bytes are not a message of this protocol", connect.CodeInvalidArgument,
		400, false)
	OutOfRange = newKind("out-of-range", "the report holds a number that no honest owner sends",
		connect.CodeInvalidArgument, 422, false)
	Inconsistent = newKind("inconsistent", "the share contradicts the proof that its sender has signed",
		connect.CodeInvalidArgument, 422, false)
	BadSignature = newKind("bad-signature", "the signature is not of these bytes by this key",
		connect.CodeUnauthenticated, 401, false)
	Forbidden = newKind("forbidden", "the caller's role may not do this", connect.CodePermissionDenied,
		403, false)
	Reconnect = newKind("reconnect", "the connection's certificate is no longer valid: connect again",
		connect.CodeUnavailable, 503, true)
	UnknownTask  = newKind("unknown-task", "there is no such task here", connect.CodeNotFound, 404, false)
	UnknownOwner = newKind("unknown-owner", "the owner is not on the task's list", connect.CodePermissionDenied,
		403, false)
	Crowded = newKind("too-many-owners", "the certificate has brought as many owners to the task as it may",
		connect.CodePermissionDenied, 403, false)
	TaskClosed = newKind("task-closed", "the task is closed", connect.CodeFailedPrecondition,
		410, false)
	UnsafeTask = newKind("unsafe-task", "the task asks for what would not protect its owners",
		connect.CodeInvalidArgument, 422, false)
	Infeasible = newKind("infeasible", "the task cannot succeed as it is set up", connect.CodeInvalidArgument,
		422, false)
	WrongGroup = newKind("wrong-group", "the owner belongs to another round", connect.CodeFailedPrecondition,
		409, false)
	WrongRound = newKind("wrong-round", "the report answers another broadcast", connect.CodeFailedPrecondition,
		409, false)
	Early = newKind("too-early", "the round has not begun: try again later", connect.CodeFailedPrecondition,
		425, true)
	Late = newKind("too-late", "the round was collected, and is collected once",
		connect.CodeFailedPrecondition, 410, false)
	Replayed = newKind("replayed", "the owner has sent another report for this task", connect.CodeAlreadyExists,
		409, false)
	Opened = newKind("opened", "the sum was opened for others, and is opened once", connect.CodeAlreadyExists,
		409, false)
	Forgot = newKind("forgot", "the memory that the sum names is lost: this helper does not answer",
		connect.CodeFailedPrecondition, 410, false)
	NotAllowed = newKind("not-allowed", "the operator of this process has not allowed that",
		connect.CodePermissionDenied, 403, false)
	UnknownTable = newKind("unknown-table", "the auxiliary table is not here: send it", connect.CodeNotFound,
		404, false)
	Spent = newKind("spent", "it would cost more than what is left of the budget here",
		connect.CodeResourceExhausted, 409, false)
	Unable      = newKind("unable", "the party could not vote on this", connect.CodeFailedPrecondition, 422, false)
	UnknownCall = newKind("unknown-call", "there is no such call here", connect.CodeUnimplemented, 404, false)
	WrongMethod = newKind("wrong-method", "the call is not made by this method", connect.CodeUnimplemented,
		405, false)
	UnknownType = newKind("unknown-type", "the message's type or encoding is not understood",
		connect.CodeUnimplemented, 415, false)
	Timeout = newKind("timeout", "it took longer than it may: try again later", connect.CodeDeadlineExceeded,
		504, true)
	TooLarge = newKind("too-large", "the message is larger than any of this task",
		connect.CodeResourceExhausted, 413, false)
	TooMany = newKind("too-many", "too many requests: try again later", connect.CodeResourceExhausted,
		429, true)
	Overloaded = newKind("overloaded", "the service is busy: try again later", connect.CodeUnavailable, 503, true)
	Storage    = newKind("storage", "the service could not store this: try again later", connect.CodeUnavailable,
		507, true)
	Internal = newKind("internal", "the service failed", connect.CodeInternal, 500, false)
)

var kinds []Kind // in the order above

func newKind(name, title string, code connect.Code, status int, again bool) Kind {
	kinds = append(kinds, Kind{&kind{name, title, code, status, again}})
	return kinds[len(kinds)-1]
}

// String returns the kind's name, e.g. "too-late".
func (k Kind) String() string { return k.name }

// Title describes the kind in words.
func (k Kind) Title() string { return k.title }

// Status returns the HTTP status of an answer. It does not apply to gRPC, which always uses the same
// one.
func (k Kind) Status() int { return k.status }

// Again reports whether the same request may succeed later.
func (k Kind) Again() bool { return k.again }

// Problem is one refusal. It is an error.
type Problem struct {
	Kind   Kind
	Detail string // the subject, e.g. "round 3, the open one is 4"; no content of a report
}

// New makes a problem.
func New(k Kind, format string, args ...any) *Problem {
	return &Problem{k, fmt.Sprintf(format, args...)}
}

// Error is the title and the detail.
func (p *Problem) Error() string {
	if p.Detail == "" {
		return p.Kind.title
	}
	return p.Kind.title + ": " + p.Detail
}

// Of finds the problem in err. If there is none, it returns an internal problem without the error's
// text, which may contain internal information.
func Of(err error) *Problem {
	if p := (*Problem)(nil); errors.As(err, &p) {
		return p
	}
	if c := (*connect.Error)(nil); errors.As(err, &c) {
		for _, d := range c.Details() {
			if v, err := d.Value(); err == nil {
				if m, ok := v.(*rpc.Problem); ok {
					return FromProto(m)
				}
			}
		}
	}
	return &Problem{Kind: Internal}
}

// Named returns what a failed call says to readers: the problem or the *identity.MisfitError in err, without its
// wrappers; else what another program answered, quoted, or why it could not be reached, without the address that was called.
// It returns err itself if it is of none of these kinds.
func Named(err error) error {
	if misfit := (*identity.MisfitError)(nil); errors.As(err, &misfit) {
		return misfit
	}
	if p := Of(err); p.Kind != Internal || p.Detail != "" {
		return p
	}
	answer, lost := (*connect.Error)(nil), (*url.Error)(nil)
	switch {
	case errors.As(err, &answer) && connect.IsWireError(answer):
		return &reworded{fmt.Sprintf("it answered %s: %s", answer.Code(), quote(answer.Message())), err}
	case errors.As(err, &lost):
		return &reworded{lost.Err.Error(), err}
	}
	return err
}

// reworded is an error in other words.
type reworded struct {
	text string
	err  error
}

func (e *reworded) Error() string { return e.text }
func (e *reworded) Unwrap() error { return e.err }

// Passing reports whether the same call may succeed later: because the problem's kind allows it, or
// because there was no answer. A *identity.MisfitError counts as an answer.
func Passing(err error) bool {
	if errors.As(err, new(*identity.MisfitError)) {
		return false
	}
	if p := Of(err); p.Kind != Internal {
		return p.Kind.again
	}
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded, connect.CodeUnknown, connect.CodeCanceled:
		return true
	}
	return false
}

// Proto is the problem as a message.
func (p *Problem) Proto() *rpc.Problem {
	return &rpc.Problem{Type: urn + p.Kind.name, Title: p.Kind.title, Status: int32(p.Kind.status), Detail: p.Detail}
}

// maxWords is the number of bytes that are kept of a text of another program.
const maxWords = 2000

// quote quotes a text of another program, cut to one line: it may look like words of this program.
func quote(text string) string {
	if text == "" {
		return ""
	}
	return strconv.Quote(text[:min(len(text), maxWords)])
}

// FromProto reads the message of Proto; its detail is quoted. A kind unknown to this version becomes an internal problem
// with the same text.
func FromProto(m *rpc.Problem) *Problem {
	for _, k := range kinds {
		if m.GetType() == urn+k.name {
			return &Problem{k, quote(m.GetDetail())}
		}
	}
	return New(Internal, "%s: %s", quote(m.GetTitle()), quote(m.GetDetail()))
}

// Connect returns the problem as an error of a call, with the problem as its detail.
func (p *Problem) Connect() *connect.Error {
	e := connect.NewError(p.Kind.code, p)
	if d, err := connect.NewErrorDetail(p.Proto()); err == nil {
		e.AddDetail(d)
	}
	return e
}

// Write answers a plain request with the problem.
func (p *Problem) Write(w http.ResponseWriter) {
	body, err := json.Marshal(struct {
		Type   string `json:"type"`
		Title  string `json:"title"`
		Status int    `json:"status"`
		Detail string `json:"detail,omitempty"`
	}{urn + p.Kind.name, p.Kind.title, p.Kind.status, p.Detail})
	if err != nil {
		panic(err) // four strings and a number
	}
	w.Header().Set("Content-Type", "application/problem+json")
	if p.Kind.again {
		w.Header().Set("Retry-After", "1")
	}
	w.WriteHeader(p.Kind.status)
	_, _ = w.Write(append(body, '\n')) // the caller has gone: no one to tell
}
