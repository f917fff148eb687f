// SPDX-License-Identifier: Apache-2.0

// Package ground is the lowest room: what every other room stands on and nothing about tables, models
// or noise. It holds prices and refusals (dp), the only doors to files (openfile, atomicfile), to printed text
// (plaintext), to YAML (yamltext) and to JSON of others (jsontext), SQLite (sqldb, anchor), keys (edkey,
// keyfile), and small mathematics (optimize, stats, sheet).
//
// To change here: how a file is opened or written, how a value is printed, what a refusal holds. A new
// package belongs here only if two rooms need it and it knows none of them.
//
// Judged by: go test ./internal/ground/... ./internal/check/lint. A door that lets more through is found by
// the tests of its callers, too: ./cmd/discreet for files and text, ./internal/ledger for SQLite.
package ground
