// SPDX-License-Identifier: Apache-2.0

package aggregator

import "time"

// SetWatch sets the watch that quiet time goes by, before the server runs.
func (s *Server) SetWatch(now func() time.Time) { s.clock.now = now }

// LookedAt is when the clock was looked at last, by that watch.
func (s *Server) LookedAt() time.Time {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	return s.clock.last
}
