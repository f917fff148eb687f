// SPDX-License-Identifier: Apache-2.0

// Package noninterference searches for a private row that shows in what the laboratory's learners
// release, with the product's own tests: the other files are links to them.
package noninterference

import "github.com/discreet-dp/discreet/lab/internal/learners"

func init() {
	learners.Register()
	searched = learners.All
}
