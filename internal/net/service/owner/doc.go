// SPDX-License-Identifier: Apache-2.0

// Package owner takes part in a task over the network, for one owner or for many whose data one
// machine holds.
//
// It trusts none of its peers. The task must be signed by an operator and have at most the owner's own
// maximum ε. The owner derives the question and the range of a weight from the bytes of the task and
// the broadcast. A report is in the book, and paid for, before it is sent, and the first report for a
// task is the only one ever sent. In mode aggregate, if the owner has agreed to it, the owner sends
// its shares of one secret sum, after checking the sum's roster and helpers.
package owner
