// SPDX-License-Identifier: Apache-2.0

// Package frontier measures how accurate a private classifier can be: the
// default learner against this project's other learners and against floors and
// published bars. One file per protocol.
//
// Room rules. Owns: the frontier's protocols and bars. Imports: every room but
// cmd. Must never see: production accounts.
package frontier

import "github.com/discreet-dp/discreet/experiment/frame"

// Figures are protocol A on each of its tables, then protocol B.
func Figures() []*frame.Figure {
	var out []*frame.Figure
	for _, p := range partials {
		out = append(out, p.figure())
	}
	return append(out, wholeRow())
}
