// SPDX-License-Identifier: Apache-2.0

// Package flp is fully linear proofs: that a vector which no one sees as a whole
// satisfies an arithmetic circuit. The verifiers hold shares of the vector and of the
// proof, each asks its own shares the same linear questions, and the sum of their
// answers, or the polynomial through them, decides.
//
//	Prove ── proof ──► shares ──► Query, at each verifier ── verifier's shares ──► Decide
//
// It is the proof system of Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai (ZK proofs on
// secret-shared data via fully linear PCPs, CRYPTO 2019, theorem 4.3) as
// draft-irtf-cfrg-vdaf-18, section 7.3, writes it down, over any field, for circuits with
// one gadget. It holds no field of its own: a Grid gives the points between which
// polynomials are interpolated, roots of unity for VDAF's fields, 0, 1, 2, ... for the
// scalars of ristretto255, whose order has no roots to speak of.
//
// Ranges is the circuit that secret sums use: each number of a vector is between 0 and a
// bound, exactly. Anyone who uses the system draws joint randomness once the vector is
// committed to and the query's once the proof is, and sees to it that the prover
// foresees neither. Claim G-SECSUM-6; evidence/guarantees/secsum.md.
package flp
