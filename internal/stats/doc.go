// SPDX-License-Identifier: Apache-2.0

// Package stats is exact statements about counts: tails of the binomial law,
// Clopper-Pearson limits, and the bound on ε that two counts prove. Nothing
// here is an approximation that holds for large samples only.
package stats
