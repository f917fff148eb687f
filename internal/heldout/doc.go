// SPDX-License-Identifier: Apache-2.0

// Package heldout judges models on rows that they did not see. It divides a table's files
// into rows to train on and rows to judge by, and evaluates a model.
//
// NOTHING HERE IS PRIVATE. The scores are exact and tell about the held-out rows, and so
// choosing by them uses the table without limit: for public or synthetic tables, or to look
// back at a decision that was made without them.
package heldout
