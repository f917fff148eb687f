// SPDX-License-Identifier: Apache-2.0

// Package aggregator is the side that asks: it broadcasts rounds, counts
// reports, and builds a boosted classifier from what they add up to. All it
// computes is post-processing of reports, so nothing here can weaken an owner's
// guarantee, and nobody has to trust it.
//
// Room rules. Owns: rounds, tallies, the ensemble. Imports: local/wire,
// local/response, model and what these speak, gonum. Must never see: rows,
// mechanisms, randomness, owners' code, sockets, files, the clock.
package aggregator
