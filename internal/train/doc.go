// SPDX-License-Identifier: Apache-2.0

// Package train trains models on request. It contains the table of learners and their options and the
// pricing of a request, and fixes the order in which a training is checked, charged, fitted, stored
// and published. The library and the command line both use it.
//
// Beside it, what is done with a model and a table: predict, evaluation (private figures of what was held back),
// heldout (the split), forecast (what a training would give) and audit (attacks on a learner's claim).
//
// To change here: an option of a learner is in its file learner_NAME.go. A training is read in run.go, from Training.Run
// down; the order in Purchase.Run changes with its claim in evidence/guarantees/ledger.md.
//
// Judged by: go test ./internal/train/... ./internal/check/noninterference ./cmd/discreet.
package train
