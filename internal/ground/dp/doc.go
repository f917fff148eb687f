// SPDX-License-Identifier: Apache-2.0

// Package dp defines the terms that all other packages share: units of privacy loss, neighbouring
// tables, the lines of a bill, and errors for refused parameters.
package dp
