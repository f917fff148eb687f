// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"errors"
	"fmt"
	"net/http"

	"connectrpc.com/connect"
)

// problem is the reason why a request is not answered. It never repeats a cell, nor a name that the
// model does not have.
type problem struct {
	status int // HTTP status
	error
}

func (p *problem) Unwrap() error { return p.error }

// refuse is the problem of an invalid request.
func refuse(format string, args ...any) error {
	return &problem{http.StatusBadRequest, fmt.Errorf(format, args...)}
}

var (
	errUnknownModel = &problem{http.StatusNotFound, errors.New("no model of this name and version is served here")}
	errTooLarge     = &problem{http.StatusRequestEntityTooLarge, errors.New("the request must not be larger than this " +
		"server takes")}
	errBusy = &problem{http.StatusTooManyRequests, errors.New("as many requests as this server takes at a time, " +
		"or as much memory as it has for them, are in use; try again")}
	errSlow  = &problem{http.StatusRequestTimeout, errors.New("the body must arrive faster")}
	errToken = &problem{http.StatusUnauthorized, errors.New("a known token must be given: Authorization: Bearer TOKEN")}
)

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	var p *problem
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &p):
		return p.status
	}
	return http.StatusInternalServerError
}

// describeError returns the status of an error, and the text that a caller may see.
func describeError(err error) (status int, said string) {
	if status = statusOf(err); status == http.StatusInternalServerError {
		return status, "the server failed; its log says why"
	}
	return status, err.Error()
}

// codeOf returns the gRPC code that corresponds to an HTTP status.
func codeOf(status int) connect.Code {
	switch status {
	case http.StatusBadRequest, http.StatusUnsupportedMediaType:
		return connect.CodeInvalidArgument
	case http.StatusNotFound:
		return connect.CodeNotFound
	case http.StatusUnauthorized:
		return connect.CodeUnauthenticated
	case http.StatusRequestEntityTooLarge, http.StatusTooManyRequests:
		return connect.CodeResourceExhausted
	case http.StatusRequestTimeout:
		return connect.CodeDeadlineExceeded
	case http.StatusServiceUnavailable:
		return connect.CodeUnavailable
	}
	return connect.CodeInternal
}
