// SPDX-License-Identifier: Apache-2.0

// Package privacy is the room of noise: the discrete mechanisms and their exit (mech), the laws of reports
// that people perturb themselves (response), the secure generator (rng), and the composition of prices
// (accounting). It does not know what its numbers mean.
//
// # To change here
//
// A new mechanism is one file of mech: a value made by NameFor(ε, sensitivity, ...) that knows its Loss and its
// Sensitivity or Spread, and draws in integers on the public grid. Only Exit can make it draw. Its claim in
// evidence/guarantees/mech.md is exact for the arithmetic used, rounding included. Its tests: the inequality in
// closed form from the probability function; the sampler against it with stattest.Cells; every output on the
// grid; ε at both ends of its range; refusal of 0, negative, NaN and infinite parameters.
// To be used by learners it needs a measurement in guard, to be audited a pair in train/audit/mechanisms.go.
//
// A change of noise or of accounting changes what was promised: ask first, and change the claim in the same commit.
//
// Judged by: go test ./internal/privacy/... ./internal/guard/... ./internal/check/noninterference.
package privacy
