// SPDX-License-Identifier: Apache-2.0

// Package kernel adds up over coded rows what a table is asked: the loops that an engine runs
// where rows lie, and learners over the distinct public rows that an engine has counted.
package kernel
