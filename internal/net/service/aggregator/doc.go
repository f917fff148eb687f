// SPDX-License-Identifier: Apache-2.0

// Package aggregator serves the collector's side of tasks: it receives signed tasks from operators and
// signed reports from owners, stores both, moves tasks from slot to slot, and serves the finished
// model.
//
// Everything that must persist is in a store: if a process dies, another one can continue, and several
// may serve the same store. A broadcast is computed from stored reports alone, so that every process
// computes the same one. In mode aggregate the aggregator sees no owner's numbers: it decides which
// owners are in a slot's secret sum, has helpers open it, and continues from the sum.
package aggregator
