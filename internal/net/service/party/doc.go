// SPDX-License-Identifier: Apache-2.0

// Package party implements votes over the network: the part of a site's service that votes with a private
// model, and the client of a combiner, which asks many parties.
//
// A combiner signs a query, which states the auxiliary table, the combination, the ε and the deadline.
// A party answers only what its policy allows (Terms), charges its ledger before it votes, commits the digest of an
// answer there before it sends it, and repeats the same votes for the same query. It may be killed at any moment:
// the steps are listed at makeVotes.
//
// If the query is for a secret sum, the party sends nothing to the combiner: it converts its votes to
// one short vector with its share of the noise, and sends shares of the vector to helpers.
//
// Claims G-MULTI-1, G-MULTI-5 and G-MULTI-6 hold over the network: tags 1.7, 5.4 to 5.7 and 6.2 of
// evidence/guarantees/multiparty.md.
//
// This package does not depend on the voting model or the rows: it passes files to a function and
// receives a votes file.
package party
