// SPDX-License-Identifier: Apache-2.0

// Package dp is the vocabulary every other room speaks: what a unit of privacy
// loss is, which tables count as neighbours, what one private release is
// called on a bill, and how a refused parameter is reported.
package dp
