// SPDX-License-Identifier: Apache-2.0

// Package net is the product for data that cannot be pooled: people who report (federated/answer, collect,
// simulate), parties that vote (federated/multiparty), sites that train together (federated/sites), secret
// sums (federated/secsum, flp), the services that carry them (service) and the commands of discreet-net
// (commands). Packages of federated compute and use no network; packages of service have one daemon each.
//
// To change here: a message between sites is a struct of federated/sites (a field that both must agree on is in its
// signed text, its Check and its Version), and service/site sends it. A message of people is in federated/wire, with who
// writes it (federated/answer, service/owner) and who reads it (federated/collect), its lines in docs/protocol.md, the
// client of lab/peers/client and the vectors of testkit/protocol. A call is in service/rpc (make proto). No room of the
// core imports this one: without it the rest builds.
//
// Judged by: go test ./internal/net/... ./cmd/discreet ./internal/check/noninterference.
package net
