// SPDX-License-Identifier: Apache-2.0

// Package card writes a document about a model for the person who signs for it: what is protected and
// from whom, what is not, what it cost, and which ledger counted it. The words are for readers who do
// not know differential privacy. A card is made from a model file, the ledger that was charged and
// facts that the publisher adds, and never from rows.
//
// The sections follow the evaluation pyramid of NIST SP 800-226, from the numbers of the guarantee
// down to what no program can check.
package card
