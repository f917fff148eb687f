// SPDX-License-Identifier: Apache-2.0

// Package owner takes part in a task over the network, for one owner or for the
// many whose data one machine keeps.
//
// It trusts no one it talks to. The task must be signed by an operator and stay
// below the owner's own cap; what is asked, and the range of a weight, it works
// out again from the task's and the broadcast's bytes; a report is in the book,
// and paid for, before it is sent; and what has been sent once for a task is all
// that is ever sent for it. In mode aggregate, where the owner has agreed to it, that
// is its shares of one secret sum, whose roster and helpers it has checked.
package owner
