// SPDX-License-Identifier: Apache-2.0

// Package response says what a data owner may answer when the question is
// private: which reports exist, how likely each is for each truth, what many of
// them add up to and how far off that is. It is all public arithmetic: owners
// draw reports in package mech, and whoever collects them needs this package
// only, and no trust in who sent them.
//
// A Law is one such way to answer, sized for ε and a number of coordinates or
// cells. Its probabilities are quotients of integers, the same on every
// machine, so that (ε, 0)-DP between any two truths and freedom from bias are
// facts about integers: G-LOCAL-1 to 6, evidence/guarantees/local.md. An Addend is
// sized for a secret sum instead of a single pair of eyes: G-SECSUM-3.
package response
