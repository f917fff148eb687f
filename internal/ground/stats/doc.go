// SPDX-License-Identifier: Apache-2.0

// Package stats contains exact statistics of counts: tails of the binomial distribution,
// Clopper-Pearson limits, and the bound on ε that two counts prove. It uses no large-sample
// approximation.
package stats
