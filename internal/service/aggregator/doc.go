// SPDX-License-Identifier: Apache-2.0

// Package aggregator serves the side that asks: it takes signed tasks from
// operators and signed reports from owners, keeps both, moves tasks from slot to
// slot, and gives the finished model to readers.
//
// All that it must not forget is in a store: a process may die at any moment and
// another one goes on from there, or several may serve the same store. What a
// broadcast says is computed from stored reports alone, so it comes out the same
// whoever computes it. In mode aggregate it sees no owner's numbers: it fixes who is
// in a slot's secret sum, has helpers open it, and computes from that.
package aggregator
