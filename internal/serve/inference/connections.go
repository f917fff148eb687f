// SPDX-License-Identifier: Apache-2.0

package inference

import (
	"net"
	"net/http"
	"sync"
)

// connections bounds the number of open connections. If there is one too many, it closes the
// connection that has been without a request for longest, or the new one if all have a request. A
// client that opens many idle connections therefore cannot keep others out.
type connections struct {
	most int

	mu    sync.Mutex
	all   map[net.Conn]struct{}
	quiet []net.Conn // connections without a request, in order
}

func newConnections(most int) *connections {
	return &connections{most: most, all: map[net.Conn]struct{}{}}
}

// note implements http.Server.ConnState.
func (c *connections) note(conn net.Conn, state http.ConnState) {
	if closed := c.noteState(conn, state); closed != nil {
		closed.Close()
	}
}

// noteState returns the connection to close, if there is one.
func (c *connections) noteState(conn net.Conn, state http.ConnState) (closed net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, q := range c.quiet {
		if q == conn {
			c.quiet = append(c.quiet[:i], c.quiet[i+1:]...)
			break
		}
	}
	switch state {
	case http.StateClosed, http.StateHijacked:
		delete(c.all, conn)
		return nil
	case http.StateActive:
		return nil
	}
	if c.all[conn] = struct{}{}; len(c.all) > c.most {
		closed = conn
		if len(c.quiet) > 0 {
			closed, c.quiet = c.quiet[0], c.quiet[1:]
		}
		delete(c.all, closed)
	}
	if closed != conn {
		c.quiet = append(c.quiet, conn)
	}
	return closed
}
