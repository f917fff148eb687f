// SPDX-License-Identifier: Apache-2.0

// Package wire is what data owners and an aggregator say to each other: the
// task that all of them agree on, the round that asks, the report that answers.
// Each message has one canonical sequence of bytes; parsing accepts that and
// nothing else.
//
// A task places every owner, by a public hash, in one slot of one round; within
// the slot the same hash picks the question. So no one is asked twice, and which
// owner is asked what depends on no data.
package wire
