// SPDX-License-Identifier: Apache-2.0

// Package secsum computes the sum of secret vectors. Each owner splits a vector into one share for
// each holder, holders add up shares, and a collector learns only the sum of the vectors and which
// owners are in it.
//
// Vectors are split by Shamir's scheme: any quorum of two thirds of the holders can open the sum,
// fewer learn nothing, and a third of them may drop out. Each owner commits to its shares.
// Inconsistent shares therefore convict their owner, and a holder's wrong answer is detected, even if
// only a quorum answers. If the task requires it, each owner also proves that its numbers are in
// range.
//
// The protocol is a set of state machines: Protocol.Split, Holder and Collector process messages and
// return messages; Close ends a wait. The transport must keep messages confidential and authenticate
// them.
//
//	owner ── Share ──► holder ── Held ──► collector ── Show ──► one holder ── Shown ──► collector
//	                                      collector ── Open ──► holder ── Sum ──► collector
//
// The protocol hides the terms of the sum. That the sum reveals little about any one of them is due to
// noise in the terms: response.Addend.
//
// Claims G-SECSUM-1, G-SECSUM-2 and G-SECSUM-4 to 6; evidence/guarantees/secsum.md.
package secsum
