// SPDX-License-Identifier: Apache-2.0

// Package serve is the product that predicts over HTTP and gRPC (inference): the command discreet serve (commands) and the
// program discreet-serve. It reads released models, opens no table and no ledger.
//
// To change here: an endpoint is a handler of inference, its route in server.go and a path in its tests, docs/serving.md and, for calls,
// inference/oip (make proto). Requests are bounded before memory is taken for them, and no value is logged.
//
// Judged by: go test ./internal/serve/... ./cmd/discreet.
package serve
