// SPDX-License-Identifier: Apache-2.0

// Package stattest tests random outputs with both errors declared: how often
// the check may reject something correct, and which defect it is sure to see.
//
// Every bound holds at every sample size: the DKW inequality with Massart's
// constant for distribution functions, exact binomial tails for counts and
// Clopper-Pearson limits for probabilities. Nothing here is a normal
// approximation. A declared rate covers the whole call; a claim used in a loop
// divides by the number of turns (FalsePositive: 1e-9 / float64(len(cases)))
// and then covers the loop. All rates of a run are added up as it goes, and it
// fails if they are too many.
//
// The second error is shown, not stated: wrap the same check over a sabotaged
// sampler in Rejects.
package stattest
