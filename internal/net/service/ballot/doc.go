// SPDX-License-Identifier: Apache-2.0

// Package ballot casts a party's votes on the rows of a public table. The votes come from a discreet
// model, from another program, which it runs, or from a file.
package ballot
