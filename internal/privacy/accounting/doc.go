// SPDX-License-Identifier: Apache-2.0

// Package accounting says what releases cost together: exact sums of pure ε,
// Gaussian releases in closed form, and privacy-loss distributions for any mix of
// mechanisms.
//
// Every number it returns errs towards "less private". A δ or an ε is never
// below the true one, a noise budget never above it: discretisation, truncation
// of tails, wrap-around of the Fourier transform and float64 rounding are each
// bounded and charged (claims G-ACC-1 to G-ACC-6, evidence/guarantees/accounting.md).
//
// A Pair stands for one mechanism at one price, Compose for a list of them:
//
//	c, err := accounting.Compose(
//		accounting.Use{Pair: gauss, Times: 1000},
//		accounting.Use{Pair: laplace, Times: 20})
//	delta := c.Delta(1)
//
// Composing costs a few Fourier transforms whatever Times is.
package accounting
