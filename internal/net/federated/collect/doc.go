// SPDX-License-Identifier: Apache-2.0

// Package collect is the collector's side of a task: it broadcasts rounds, counts reports, and builds
// a boosted classifier from their sums. It only post-processes reports, so that it cannot weaken an
// owner's guarantee, and owners need not trust it.
package collect
