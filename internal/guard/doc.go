// SPDX-License-Identifier: Apache-2.0

// Package guard is a learner's only access to a table.
//
// A Guard is opened for one training. It charges the training's price before any row is read, and
// keeps the remainder in a purse. A learner asks it for statistics of the rows. The answers are
// sealed: a Sum has no method that returns a value. Measure pays a share of the price for a noisy copy
// of a Sum, Select pays for the index of a high score, and Exact returns what is public in the
// training's scope. The sensitivity of a Sum follows from the statistic alone (Moves), never from a
// claim of the learner. A mistake in a learner can therefore reduce accuracy, but not privacy.
//
// Claim G-GUARD-1 (evidence/guarantees/guard.md). For any sequence of questions, each of which may
// depend on earlier answers, a learner's whole view is (ε, δ)-DP at the price that Open charged, in
// the scope and relation of its Terms.
//
// Not covered: time, memory, and the moment at which a training is cancelled.
//
// To change here: a question that a learner may ask, with what one row or person can move it by, its claim and the
// hostile learner's attack on it. Its sum is in table/engine/statistic; across.go says whether sites answer it
// (net/federated/sites). It needs a privacy review.
//
// Judged by: go test ./internal/guard/... ./internal/check/noninterference, with DISCREET_LONG=1 before you stop.
package guard
