// SPDX-License-Identifier: Apache-2.0

// Package train holds the laboratory's learners to the bytes that they have always made, with the
// product's own test: the other file is a link to it.
package train_test

import "github.com/discreet-dp/discreet/lab/internal/learners"

func init() {
	learners.Register()
	golden = learners.All
}
