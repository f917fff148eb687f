// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/cloudflare/circl/group"
)

// An owner proves to each of Shamir's holders that the shares of all of them lie on
// polynomials of degree quorum-1, so that every quorum opens the same sum, and binds
// each holder to the sum that it answers with. It commits to the polynomials, degree by
// degree: with blind, one more polynomial, uniform like the f that share the vector,
//
//	C_k = blind_k·G_0 + f_1,k·G_1 + ... + f_n,k·G_n,
//
// so that C_0 + x·C_1 + x²·C_2 + ... is the one commitment to all points at x. A holder
// sees whether its own points open it; a collector adds up the C of all owners, and sees
// whether a holder's sums of points open that. Claims G-SECSUM-4 and G-SECSUM-5.
//
// Bytes of a share: the proof (the number of holders, 1 byte; salted hashes of their
// parts, 32 each; the C, lowest degree first, 32 each, as many as a quorum), which all
// holders are told alike, and the holder's part: a salt, its point of blind and its
// points of f_1 to f_n, 32 bytes each. What an owner signs is the proof: the hashes make
// a holder able to show, by its part, that the owner has sent what contradicts it.

// ErrInconsistent reports that a share matches its owner's commitment but contradicts its proof. No
// honest owner makes such a share, and no one else can make one in its name.
var ErrInconsistent = errors.New("the share contradicts its owner's proof")

const partLabel = "discreet secsum part 1\x00"

// quorumOf is two thirds of Shamir's holders, rounded up.
func quorumOf(holders int) int { return holders - holders/3 }

// ProofOf splits a share's body into the part that all holders receive and the part for one holder
// alone.
func ProofOf(body []byte) (proof, part []byte, err error) {
	if len(body) > 0 {
		if n := proofBytes(int(body[0])); len(body) >= n {
			return body[:n], body[n:], nil
		}
	}
	return nil, nil, refuseMessage("a share ends before its proof does")
}

func proofBytes(holders int) int {
	return 1 + sha256.Size*(holders+1) + elementBytes*quorumOf(holders)
}

// commitTo is an owner's commitment to one holder's part.
func (s *shamir) commitTo(owner, holder int, part []byte) [sha256.Size]byte {
	return s.hashFor(partLabel, owner, holder, part)
}

// proveShares returns the bytes for each holder, given the polynomials by coordinate and degree; the
// first polynomial is the blinding one. statement is about ranges, and empty if they are not proven.
func (s *shamir) proveShares(owner int, polynomials [][]group.Scalar, parts [][]byte, statement []byte) ([][]byte,
	error) {
	proof := []byte{byte(len(parts))}
	for holder, part := range parts {
		c := s.commitTo(owner, holder, part)
		proof = append(proof, c[:]...)
	}
	stated := sha256.Sum256(statement)
	proof = append(proof, stated[:]...)
	for k := range s.quorum() {
		coefficients := make([]group.Scalar, len(polynomials))
		for i, f := range polynomials {
			coefficients[i] = f[k]
		}
		c, err := addMultiples(coefficients, listGenerators(len(coefficients)))
		if err != nil {
			return nil, fmt.Errorf("secsum: shamir: %w", err)
		}
		b, err := c.MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("secsum: shamir: %w", err)
		}
		proof = append(proof, b...)
	}
	out := make([][]byte, len(parts))
	for i, part := range parts {
		out[i] = append(proof[:len(proof):len(proof)], part...)
	}
	return out, nil
}

// verify returns the points in a share, the blinding one first, and its proof.
func (s *shamir) verify(owner, holder int, body []byte) (points []group.Scalar, proof []byte, err error) {
	bare := s.bare(body)
	proof, part, err := s.parseShare(owner, holder, bare)
	if err != nil {
		return nil, nil, err
	}
	points, err = readScalars(part[sha256.Size:])
	if err != nil {
		return nil, nil, inconsistentShare(owner, ErrInconsistent)
	}
	if ok, err := s.opensAt(s.coefficientsIn(proof), holder, points); err != nil || !ok { // 4.2
		return nil, nil, inconsistentShare(owner, ErrInconsistent)
	}
	return points, proof, s.checkRanges(owner, holder, proof, part, body[len(bare):])
}

// parsePoints is verify for a share that was verified before.
func (s *shamir) parsePoints(owner, holder int, body []byte) (points []group.Scalar, proof []byte, err error) {
	proof, part, err := s.parseShare(owner, holder, body)
	if err != nil {
		return nil, nil, err
	}
	points, err = readScalars(part[sha256.Size:])
	return points, proof, err
}

// parseShare returns a share's proof and the holder's part, after checking that they match.
func (s *shamir) parseShare(owner, holder int, body []byte) (proof, part []byte, err error) {
	proof, part, err = ProofOf(body)
	if err != nil {
		return nil, nil, err
	}
	n := s.task.Holders
	if int(proof[0]) != n || len(part) != scalarBytes*(2+s.countScalars()) {
		return nil, nil, refuseMessage("a share of %d bytes for %d holders is not one of this task", len(body), proof[0])
	}
	if [sha256.Size]byte(proof[1+sha256.Size*holder:]) != s.commitTo(owner, holder, part) {
		return nil, nil, refuseMessage("a share is not the one that its proof is about")
	}
	return proof, part, nil
}

// coefficientsIn returns the part of a proof that commits to the polynomials.
func (s *shamir) coefficientsIn(proof []byte) []byte { return proof[1+sha256.Size*(s.task.Holders+1):] }

// statedIn returns the SHA-256 of the statement about ranges that belongs to a proof.
func (s *shamir) statedIn(proof []byte) []byte {
	return proof[1+sha256.Size*s.task.Holders:][:sha256.Size]
}

// opensAt reports whether points, the blinding one first, open the commitments to coefficients at a
// holder: whether Σ point_i·G_i - Σ x^k·C_k is the identity.
func (s *shamir) opensAt(coefficients []byte, holder int, points []group.Scalar) (bool, error) {
	committed, err := readElements(coefficients)
	if err != nil {
		return false, err
	}
	x := group.Ristretto255.NewScalar().SetUint64(uint64(holder + 1))
	power := group.Ristretto255.NewScalar()
	power.Neg(power.SetUint64(1))
	scalars := points[:len(points):len(points)]
	for range committed {
		scalars = append(scalars, power.Copy())
		power.Mul(power, x)
	}
	generators := listGenerators(len(points))
	rest, err := addMultiples(scalars, append(generators[:len(points):len(points)], committed...))
	return err == nil && rest.IsIdentity(), err
}

// bindSums adds up the commitments in owners' proofs, degree by degree.
func (s *shamir) bindSums(proofs [][]byte) ([]byte, error) {
	sum := make([]group.Element, s.quorum())
	for k := range sum {
		sum[k] = group.Ristretto255.Identity()
	}
	for _, proof := range proofs {
		if len(proof) != s.proof() {
			return nil, refuseMessage("a proof of %d bytes is none of this task", len(proof))
		}
		committed, err := readElements(s.coefficientsIn(proof))
		if err != nil {
			return nil, err
		}
		for k, c := range committed {
			sum[k].Add(sum[k], c)
		}
	}
	return writeElements(sum)
}

// isBound reports whether a holder's sum of shares is the one determined by the owners' commitments
// (5.1).
func (s *shamir) isBound(bound []byte, holder int, sum []byte) (bool, error) {
	points, err := s.parseScalars(sum)
	if err != nil {
		return false, err
	}
	return s.opensAt(bound, holder, points)
}

func inconsistentShare(owner int, how error) error {
	return fmt.Errorf("secsum: %w: %w: owner %d", ErrRefused, how, owner)
}

// evaluatePolynomial evaluates a polynomial at x; coefficients start with the lowest degree.
func evaluatePolynomial(coefficients []group.Scalar, x group.Scalar) group.Scalar {
	y := group.Ristretto255.NewScalar()
	for i := len(coefficients) - 1; i >= 0; i-- {
		y.Mul(y, x).Add(y, coefficients[i])
	}
	return y
}

// readScalars parses scalars in their canonical form.
func readScalars(b []byte) ([]group.Scalar, error) {
	return readEach(b, scalarBytes, group.Ristretto255.NewScalar, "scalars")
}
