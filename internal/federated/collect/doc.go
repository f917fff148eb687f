// SPDX-License-Identifier: Apache-2.0

// Package collect is the side that asks: it broadcasts rounds, counts
// reports, and builds a boosted classifier from what they add up to. All it
// computes is post-processing of reports, so nothing here can weaken an owner's
// guarantee, and no one has to trust it.
package collect
