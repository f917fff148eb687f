// SPDX-License-Identifier: Apache-2.0

// Package commands contains the commands and flags that the programs share: the flags for a learner
// and its price, a table and the budget to charge, and the commands about learners.
//
// Beside it: flags, streams, exit codes and progress (cli), and the demo (demo). What only one program has is in
// cmd/NAME.
//
// To change here: a flag has a line in docs/commands.md (go test ./cmd/discreet -run TestCommandReference -update), and
// one that names a file is in cmd/discreet/swapped_test.go.
//
// Judged by: go test ./internal/commands/... ./cmd/discreet.
package commands
