// SPDX-License-Identifier: Apache-2.0

// Package card writes what someone who signs for a model has to know of it: what is
// protected, from whom and what not, what it cost and who counted it. The words are for
// readers who do not know differential privacy. It is made of a model file, of the ledger
// that was charged and of what the publisher adds, and of no row.
//
// The order of the sections is that of the evaluation pyramid of NIST SP 800-226, from
// the numbers of the guarantee down to what no program can see.
package card
