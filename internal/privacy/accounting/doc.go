// SPDX-License-Identifier: Apache-2.0

// Package accounting computes what releases cost together: exact sums of pure ε, Gaussian releases in
// closed form, and privacy-loss distributions for any mix of mechanisms.
//
// Every number it returns errs on the safe side: a δ or an ε is never below the true one, and a noise
// budget is never above it. Discretisation, truncation of tails, wrap-around of the Fourier transform
// and float64 rounding are each bounded and added (claims G-ACC-1 to G-ACC-6,
// evidence/guarantees/accounting.md).
//
// A Pair stands for one mechanism at one price, and Compose combines several:
//
//	c, err := accounting.Compose(
//		accounting.Use{Pair: gauss, Times: 1000},
//		accounting.Use{Pair: laplace, Times: 20})
//	delta := c.Delta(1)
//
// Composing takes a few Fourier transforms, regardless of Times.
package accounting
