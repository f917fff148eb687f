// SPDX-License-Identifier: Apache-2.0

// Package kernel computes sums over coded rows. Engines run its loops where the rows are, and learners
// use it on the distinct public rows that an engine has counted.
package kernel
