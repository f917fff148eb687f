// SPDX-License-Identifier: Apache-2.0

// Package simulate plays data owners and their aggregator in one process, so
// that a planner sees what accuracy a population of a given size buys.
//
// It runs the real cores: what passes between them is local/wire's bytes. Only
// the owners' books are left out: every owner is asked once, in the slot that
// its name places it in.
package simulate
