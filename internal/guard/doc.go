// SPDX-License-Identifier: Apache-2.0

// Package guard is all that a learner gets of a table.
//
// A Guard is opened for one training: it charges the training's price before any row is read, and
// keeps what is left of it in a purse. A learner asks it for statistics of the rows. The answers are
// sealed: a Sum has no method that shows a value. Measure pays a share of the price for a noisy copy
// of a Sum, Select pays for the index of a high score, and Exact shows what is public in the
// training's scope. How far a neighbouring table moves a Sum follows from the statistic alone
// (Moves), never from what the learner claims. So a learner that is wrong costs accuracy, never
// privacy.
//
// Claim G-GUARD-1 (evidence/guarantees/guard.md). Whatever a learner asks, in whatever order and
// depending on whatever it has been given, its whole view is (ε, δ)-DP at the price that Open
// charged, in the scope and relation of its Terms.
//
// Not covered: time, memory, and the moment at which a training is cancelled.
package guard
