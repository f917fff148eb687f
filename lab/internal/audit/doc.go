// SPDX-License-Identifier: Apache-2.0

// Package audit tries to break privacy claims from outside. It runs the real
// code on two tables that the claim calls neighbours, looks for something that
// happens often on one and rarely on the other, and turns what it counted into
// a lower bound on ε.
//
// Claim G-AUDIT-1. If what is audited is (ε, δ)-DP for the pair and its runs
// are independent, Report.LowerBound exceeds ε with probability at most alpha,
// whatever was searched: the event is chosen on one half of the runs and
// counted on the other. So "REFUTED" is wrong with probability at most alpha,
// while "not refuted" proves nothing. Argument: evidence/guarantees/audit.md.
//
// AttackMembership plays the same game with the rows of a table one has, and
// says what an attacker who wants to know who is in it achieves (G-AUDIT-2).
package audit
