// SPDX-License-Identifier: Apache-2.0

// Package stattest tests random outputs with both errors declared: how often the check may reject a
// correct sample, and which defect it reliably detects.
//
// Every bound holds at every sample size: the DKW inequality with Massart's constant for distribution
// functions, exact binomial tails for counts and Clopper-Pearson limits for probabilities. Nothing
// here is a normal approximation. A declared rate covers the whole call; a claim used in a loop
// divides by the number of turns (FalsePositive: 1e-9 / float64(len(cases))) and then covers the loop.
// The rates of a run are added up, and the run fails if their sum is too large.
//
// The second error must be demonstrated: wrap the same check of a sabotaged sampler in Rejects.
package stattest
