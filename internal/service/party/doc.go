// SPDX-License-Identifier: Apache-2.0

// Package party is votes over the network: the service of a party, which votes
// with a model that stays with it, and the client of a combiner, which asks many.
//
// A combiner signs a query: about which auxiliary table, for which combination,
// at which ε, until when. A party answers what its operator has allowed and
// nothing else, writes what it gave into its state before it gives it, and gives
// the same query the same votes again. It may be killed at any moment.
//
// Where the query is for a secret sum, the party gives the combiner nothing: it
// turns its votes into one short vector with its share of the noise, and hands
// shares of that to helpers.
//
// Claims G-MULTI-1, G-MULTI-5 and G-MULTI-6 hold over the network: tags 1.7, 5.4 to 5.7 and 6.2 of
// evidence/guarantees/multiparty.md.
//
// What votes, and on what rows, is not this room's: it hands files to a function
// and takes a votes file.
package party
