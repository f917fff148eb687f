// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"errors"
	"net/http"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/places"
	"github.com/discreet-dp/discreet/internal/net/service/identity"
	"github.com/discreet-dp/discreet/internal/net/service/problem"
)

const (
	// part is the divisor for the largest share of places, and of their memory, that one certificate
	// can hold. Calls of other certificates therefore never wait for it alone.
	part = 4
	// Memory is the total memory in bytes for the calls in a service's places: four certificates'
	// largest messages of 4 MiB.
	Memory = part * cost * 4 << 20
	// cost bounds the bytes of memory per byte of a message while it is read, parsed and answered; see
	// bytesPerPart.
	cost = 8
	// patience is the longest time that a call waits for a place.
	patience = 10 * time.Second
)

// Places are places that certificates hold.
type Places = places.Places[identity.Caller]

// NewPlaces makes places for the given number of simultaneous calls, at least one, with the given
// total memory in bytes; 0: no limit. No certificate holds more than a quarter.
func NewPlaces(calls int, memory int64) *Places {
	return places.New[identity.Caller](calls, memory, part, patience)
}

// placeProblem is the problem of a call that got no place; nil if the caller has disconnected.
func placeProblem(err error) *problem.Problem {
	switch {
	case errors.Is(err, places.ErrTooMany):
		return problem.New(problem.TooMany, "as many calls of this certificate wait as may")
	case errors.Is(err, places.ErrBusy):
		return problem.New(problem.Overloaded, "")
	}
	return nil
}

// memoryOf bounds the memory of a call whose message has up to most bytes. It uses the announced
// length, unless the message is compressed or announces none.
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
