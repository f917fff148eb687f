// SPDX-License-Identifier: Apache-2.0

// Package helper serves one holder of shares of secret sums, whatever they are
// sums of: it takes signed sums from collectors and signed shares from their
// participants, and adds up the shares of one set of participants, once.
//
// Everything is in a store before it is acknowledged, and the answer to a
// collector's one request before it leaves: a process may die at any moment, and
// the next one gives the same answer or none. A store has a name, which every sum
// gives; with a store that was made again no sum of before is answered, for no one
// can know what was. (A store that is restored from an old copy has forgotten in
// secret: copies of it must not be put back.)
//
// Shares are dropped as soon as the sum is opened, or when it has ended.
package helper
