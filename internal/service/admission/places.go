// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/internal/service/identity"
	"github.com/discreet-dp/discreet/internal/service/places"
	"github.com/discreet-dp/discreet/internal/service/problem"
)

const (
	// part of all places, and of their memory, is the most that one certificate
	// holds: the others' calls never wait for it alone.
	part = 4
	// Memory is the memory that the calls of a service's places take together, in bytes: four
	// certificates' largest messages of 4 MiB.
	Memory = part * cost * 4 << 20
	// cost is the number of bytes of memory a byte of a message takes at most while it
	// is read, parsed and answered; see bytesPerPart.
	cost = 8
	// patience is the longest time that a call waits for a place.
	patience = 10 * time.Second
)

// Places are those of certificates.
type Places = places.Places[identity.Caller]

// NewPlaces makes places for so many calls at a time, at least one, that take so
// many bytes of memory together; 0: as many as there are. No certificate holds more
// than a quarter.
func NewPlaces(calls int, memory int64) *Places {
	return places.New[identity.Caller](calls, memory, part, patience)
}

// placeProblem is the problem of a call without a place; nil if the caller has gone.
func placeProblem(err error) *problem.Problem {
	switch {
	case errors.Is(err, places.ErrTooMany):
		return problem.New(problem.TooMany, "as many calls of this certificate wait as may")
	case errors.Is(err, places.ErrBusy):
		return problem.New(problem.Overloaded, "")
	}
	return nil
}

// memoryOf is the memory that a call takes at most whose message has up to most
// bytes: known by what it announces, unless it is packed or does not say.
func memoryOf(r *http.Request, most int64) int64 {
	if r.ContentLength < 0 || isCompressed(r) {
		return cost * most
	}
	return cost * r.ContentLength
}

// isCompressed reports whether a request's message may be compressed.
func isCompressed(r *http.Request) bool {
	for _, name := range []string{"Content-Encoding", "Connect-Content-Encoding", "Grpc-Encoding"} {
		if e := r.Header.Get(name); e != "" && e != "identity" {
			return true
		}
	}
	return false
}
