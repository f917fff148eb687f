// SPDX-License-Identifier: Apache-2.0

// Package answer is the side that holds data: it decides whether to take part,
// computes its own weight from what was broadcast, and lets one perturbed
// report out.
//
// An owner trusts no one. The task's ε must be within its own cap; ranges,
// weights and the question it is asked follow from the task's bytes and its own
// name, and a broadcast that reaches for more is refused; what it has reported
// once for a task it repeats, and nothing else, so no server can ask it twice.
package answer
