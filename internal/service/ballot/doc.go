// SPDX-License-Identifier: Apache-2.0

// Package ballot casts a party's votes about the rows of a public table: those of a
// model of ours, of another program, which it runs, or of a file.
package ballot
