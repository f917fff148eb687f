// SPDX-License-Identifier: Apache-2.0

// Package secsum adds up vectors that no one shows: each owner splits a vector
// into one share for each holder, holders add up shares, and a collector learns
// the sum of the vectors and which owners it is of, nothing else.
//
// Vectors are split by Shamir's scheme: any quorum of two thirds of the holders
// opens the sum, fewer learn nothing, and a third of them may drop out; each owner
// commits to what it shares, so that shares that do not belong together convict it, and a
// holder's wrong answer is told from a right one, even if only a quorum answers. If the task
// says so, each owner proves that its numbers are in range as well.
//
// The protocol is a set of state machines: Owner.Split, Holder and Collector
// take messages and return messages; Close says that a wait is over. Whoever
// carries the messages keeps them in confidence and authenticates them.
//
//	owner ── Share ──► holder ── Held ──► collector ── Show ──► one holder ── Shown ──► collector
//	                                      collector ── Open ──► holder ── Sum ──► collector
//
// What this hides are summands. That the sum itself tells little about any one
// of them is a matter of noise in the summands: response.Addend.
//
// Claims G-SECSUM-1, G-SECSUM-2 and G-SECSUM-4 to 6; evidence/guarantees/secsum.md.
package secsum
