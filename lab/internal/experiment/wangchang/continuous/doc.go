// SPDX-License-Identifier: Apache-2.0

// Package continuous holds the local mechanisms that Wang and Chang compare, with
// real numbers as the paper prints them: Laplace, Duchi et al. for several
// dimensions, and the piecewise mechanism (Algorithms 3 and 4).
//
// They exist to measure the paper's figures and protect no one. Their outputs
// are floating-point numbers from seeded generators; which of them can come out
// depends on the input beyond what ε allows (Mironov 2012). What ships draws on
// a public grid from secure bits: package mech.
package continuous
