// SPDX-License-Identifier: Apache-2.0

// Package answer is the owner's side of a task: it decides whether to take part, computes its own
// weight from the broadcast, and releases one perturbed report.
//
// An owner trusts no one. It refuses a task whose ε exceeds its own limit. Ranges, weights and the
// question that it answers follow from the task's bytes and its own name, and it refuses a broadcast
// that demands more. Once it has reported for a task, it repeats the same report and gives no other,
// so that no server can query it twice.
package answer
