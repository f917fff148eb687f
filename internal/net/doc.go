// SPDX-License-Identifier: Apache-2.0

// Package net is the product for data that cannot be pooled: people who report (federated/answer, collect,
// simulate), parties that vote (federated/multiparty), sites that train together (federated/sites), secret
// sums (federated/secsum, flp), the services that carry them (service) and the commands of discreet-net
// (commands). Packages of federated compute and use no network; packages of service have one daemon each.
//
// To change here: a message between sites is in service/site and federated/sites, a message of people in
// federated/wire, a call in service/rpc (make proto); each with its lines in docs/protocol.md or
// docs/sites-protocol.md. No room of the core imports this one: without it the rest builds.
//
// Judged by: go test ./internal/net/... ./cmd/discreet ./internal/check/noninterference.
package net
