// SPDX-License-Identifier: Apache-2.0

// Package audit tries to break privacy claims from outside. It runs the real code on two neighbouring
// tables, searches for an event that is frequent on one and rare on the other, and computes a lower
// bound on ε from its counts.
//
// Claim G-AUDIT-1. If the subject is (ε, δ)-DP for the pair and its runs are independent,
// Report.LowerBound exceeds ε with probability at most alpha for any search, because the event is
// chosen on one half of the runs and counted on the other. So "REFUTED" is wrong with probability at
// most alpha, while "not refuted" proves nothing. Argument: evidence/guarantees/audit.md.
package audit
