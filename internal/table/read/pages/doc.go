// SPDX-License-Identifier: Apache-2.0

// Package pages decodes the pages of Parquet files, one batch of values at a time. It knows neither
// schemas nor codes. It trusts no claim of a file before the file has shown it: every length, count and
// expansion has a limit, and no memory is allocated because a file claims to need it.
package pages

// Batch is the largest number of rows of a run.
const Batch = 1024
