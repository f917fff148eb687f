// SPDX-License-Identifier: Apache-2.0

// Package helper serves one holder of shares of secret sums, regardless of what is added up: it
// receives signed sums from collectors and signed shares from their participants, and adds up the
// shares of one set of participants, once.
//
// Everything is stored before it is acknowledged, and the answer to a collector's only request before
// it is sent: after a crash, the next process gives the same answer or none. A store has a name, which
// every sum contains. A store that was created again answers no earlier sum, because its history is
// unknown. (A store that was restored from an old copy cannot detect this: copies must not be
// restored.)
//
// Shares are deleted as soon as the sum is opened, or when it has ended.
package helper
