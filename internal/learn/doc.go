// SPDX-License-Identifier: Apache-2.0

// Package learn is the interface that every learner implements.
//
// A learner's Params.Plan checks every public choice and prices one fit without data. guard.Open
// charges the plan's Terms. Plan.Fit queries the guard, and post-processes its answers.
//
// # To change here
//
// A new learner is a folder, internal/train/learner_NAME.go with its options, and a line in internal/train/learners.go:
//
//  1. The package doc gives one sentence, the claim, the cost, when to prefer another learner, and a table from
//     the paper's symbols to ours.
//  2. Params (public choices, with ranges), Params.Plan (all validation, all noise, the bill; pure), Events, Facts,
//     and Fit: ask the guard, post-process. One function per step of the paper.
//  3. A sum that tables cannot answer yet is one file of table/engine/statistic, and a line in its test that
//     draws one.
//  4. evidence/guarantees/NAME.md has a heading "## G-NAME-n" per claim: statement, assumptions (checked by the
//     compiler, owed by the caller), argument, the tagged lines it leans on, the tests that exercise it,
//     idealisations. A learner without privacy says so through package nonprivate.
//  5. learntest.Run, the naive twin, a replay over neighbours, a planted bug for each claim (check/mutants); then
//     the row in the README's table, golden models (go test ./internal/train -update), docs/commands.md (go test
//     ./cmd/discreet -run TestCommandReference -update) and the explorer's list (explorer/web/index.html).
//
// A learner with an (ε, δ) mode has Params.Delta beside Epsilon. Its plan asks CheckDelta, writes a bill whose Gaussian
// lines have Epsilon: dp.Infinite and their Rho, and lets accounting.Afford find the largest part (a ρ, or an ε
// of many releases) whose bill is within the price; the guard checks the δ again with the table's rows. Its
// learner_NAME.go says Approximate. Package labeldp is the model.
//
// Judged by: go test ./internal/learn/... ./internal/train ./internal/check/noninterference, with DISCREET_LONG=1
// before you stop.
package learn
