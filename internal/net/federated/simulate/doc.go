// SPDX-License-Identifier: Apache-2.0

// Package simulate simulates data owners and their aggregator in one process, so that a planner can
// see which accuracy a population of a given size gives.
//
// It runs the real code: owners and aggregator exchange the bytes of federated/wire. Only the owners'
// books are left out, because every owner is asked once, in the slot that its name determines.
package simulate
