// SPDX-License-Identifier: Apache-2.0

// Package table is the room of rows: what columns are declared to be (schema, column, feature), how cells of
// files, databases and object stores become codes (read), and engines that answer questions about rows with
// sums (engine). The table of the demo is here, too (census). It knows neither noise nor prices.
//
// To change here: a key of a schema is in schema, schema.schema.json and docs/schema.md, in explorer/draft (which
// edits it) and, if models keep it, in model/allow_test.go. A kind of column reaches every package that switches on its
// Kind: try one that is derived from another first (schema/date.go). A format of files is in read/dataset and
// read/pages, a sum in one file of engine/statistic.
// Reading is total: whatever a protected cell holds, a record is a row.
//
// Judged by: go test ./internal/table/... ./internal/check/noninterference ./cmd/discreet.
package table
