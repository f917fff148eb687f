// SPDX-License-Identifier: Apache-2.0

// Package flp implements fully linear proofs. They prove that a secret-shared vector satisfies an
// arithmetic circuit. The verifiers hold shares of the vector and of the proof. Each applies the same
// linear queries to its own shares, and the sum of their answers, or the polynomial through them,
// decides.
//
//	Prove ── proof ──► shares ──► Query, at each verifier ── verifier's shares ──► Decide
//
// It is the proof system of Boneh, Boyle, Corrigan-Gibbs, Gilboa and Ishai (ZK proofs on secret-shared
// data via fully linear PCPs, CRYPTO 2019, theorem 4.3) as specified in draft-irtf-cfrg-vdaf-18,
// section 7.3, over any field, for circuits with one gadget. A Grid supplies the points for the
// interpolation of polynomials: roots of unity for VDAF's fields, and 0, 1, 2, ... for the scalars of
// ristretto255, whose field has too few roots of unity.
//
// Ranges is the circuit that secret sums use: each number of a vector is between 0 and a bound,
// exactly. The caller must draw joint randomness after the vector is committed to and query randomness
// after the proof is, and the prover must not be able to predict either. Claim G-SECSUM-6;
// evidence/guarantees/secsum.md.
package flp
