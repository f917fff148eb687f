// SPDX-License-Identifier: Apache-2.0

// Package response defines the reports by which a data owner can answer privately: which reports
// exist, how likely each is for each true value, how to estimate from many of them, and with which
// error. Everything here is public arithmetic. Owners draw reports in package mech. The collector of
// reports needs only this package, and need not trust the senders.
//
// A Law is one way to answer, for a given ε and number of coordinates or cells. Its probabilities are
// quotients of integers, equal on every machine. Hence (ε, 0)-DP between any two true values, and the
// absence of bias, are facts about integers: G-LOCAL-1 to 6, evidence/guarantees/local.md. An Addend
// is designed for a secret sum, instead of a report that the collector reads: G-SECSUM-3.
package response
