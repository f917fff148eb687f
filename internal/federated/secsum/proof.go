// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cloudflare/circl/group"
)

// An owner proves to each of Shamir's holders that the shares of all of them lie on
// polynomials of degree quorum-1, so that every quorum opens the same sum. It
// commits to each holder's part by a salted hash, draws a challenge c from the
// commitments, and shows the polynomial
//
//	mix(x) = mask(x) + c·f_1(x) + c²·f_2(x) + ... + c^n·f_n(x)
//
// where the f are those that share the vector and mask is one more, uniform like
// them, which hides the others. A holder sees whether the commitment is to its part
// and whether its points are on mix. Claim G-SECSUM-4.
//
// Bytes of a share: the proof (the number of holders, 1 byte; their commitments, 32
// each; mix's coefficients, lowest first, 32 each, as many as a quorum), which all
// holders are told alike, and the holder's part: a salt, its point of mask and its
// points of f_1 to f_n, 32 bytes each.

// ErrInconsistent says that a share is bound to its owner's proof and contradicts it:
// no honest owner makes such a share, and nobody else can make one for it.
var ErrInconsistent = errors.New("the share contradicts its owner's proof")

const (
	partLabel      = "discreet secsum part 1\x00"
	challengeLabel = "discreet secsum challenge 1\x00"
)

// quorumOf is two thirds of Shamir's holders, rounded up.
func quorumOf(holders int) int { return holders - holders/3 }

// ProofOf returns the front of a share's body that all holders are told alike, and
// the part that is one holder's alone.
func ProofOf(body []byte) (proof, part []byte, err error) {
	if len(body) > 0 {
		if n := proofBytes(int(body[0])); len(body) >= n {
			return body[:n], body[n:], nil
		}
	}
	return nil, nil, refuseMessage("a share ends before its proof does")
}

func proofBytes(holders int) int { return 1 + sha256.Size*holders + scalarBytes*quorumOf(holders) }

// commitTo binds an owner to one holder's part.
func (s *shamir) commitTo(owner, holder int, part []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(partLabel))
	h.Write(s.tag[:])
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(owner)))
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(holder)))
	h.Write(part)
	return [sha256.Size]byte(h.Sum(nil))
}

// challenge is drawn from all commitments, so nobody knows it who can still choose
// a share (4.1).
func (s *shamir) challenge(owner int, commitments []byte) group.Scalar {
	b := append(s.tag[:len(s.tag):len(s.tag)], binary.BigEndian.AppendUint32(nil, uint32(owner))...)
	return group.Ristretto255.HashToScalar(append(b, commitments...), []byte(challengeLabel))
}

// proveShares returns what each holder is sent, given the polynomials, by coordinate and
// degree: the mask is the first.
func (s *shamir) proveShares(owner int, polynomials [][]group.Scalar, parts [][]byte) ([][]byte, error) {
	proof := []byte{byte(len(parts))}
	for holder, part := range parts {
		c := s.commitTo(owner, holder, part)
		proof = append(proof, c[:]...)
	}
	c := s.challenge(owner, proof[1:])
	for k := range s.quorum() {
		mix := group.Ristretto255.NewScalar()
		for i := len(polynomials) - 1; i >= 0; i-- {
			mix.Mul(mix, c).Add(mix, polynomials[i][k])
		}
		b, err := mix.MarshalBinary()
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

// verify returns the points of f_1 to f_n in a share, and its proof.
func (s *shamir) verify(owner, holder int, body []byte) (points []group.Scalar, proof []byte, err error) {
	proof, part, err := ProofOf(body)
	if err != nil {
		return nil, nil, err
	}
	n := s.task.Holders
	if int(proof[0]) != n || len(part) != scalarBytes*(2+s.countScalars()) {
		return nil, nil, refuseMessage("a share of %d bytes for %d holders is not one of this task", len(body), proof[0])
	}
	commitments := proof[1:][:sha256.Size*n]
	if [sha256.Size]byte(commitments[sha256.Size*holder:]) != s.commitTo(owner, holder, part) {
		return nil, nil, refuseMessage("a share is not the one that its proof is about")
	}
	mix, err := readScalars(proof[1+len(commitments):])
	if err != nil {
		return nil, nil, inconsistentShare(owner)
	}
	points, err = readScalars(part[sha256.Size:])
	if err != nil {
		return nil, nil, inconsistentShare(owner)
	}
	x := group.Ristretto255.NewScalar().SetUint64(uint64(holder + 1))
	if !evaluatePolynomial(points, s.challenge(owner, commitments)).IsEqual(evaluatePolynomial(mix, x)) { // 4.2
		return nil, nil, inconsistentShare(owner)
	}
	return points[1:], proof, nil
}

func inconsistentShare(owner int) error {
	return fmt.Errorf("secsum: %w: %w: owner %d", ErrRefused, ErrInconsistent, owner)
}

// evaluatePolynomial is the value at x of the polynomial that has these coefficients, lowest
// first.
func evaluatePolynomial(coefficients []group.Scalar, x group.Scalar) group.Scalar {
	y := group.Ristretto255.NewScalar()
	for i := len(coefficients) - 1; i >= 0; i-- {
		y.Mul(y, x).Add(y, coefficients[i])
	}
	return y
}

// readScalars parses scalars in their canonical form.
func readScalars(b []byte) ([]group.Scalar, error) {
	out := make([]group.Scalar, len(b)/scalarBytes)
	for i := range out {
		out[i] = group.Ristretto255.NewScalar()
		if err := out[i].UnmarshalBinary(b[i*scalarBytes : (i+1)*scalarBytes]); err != nil {
			return nil, refuseMessage("the bytes are no scalars")
		}
	}
	return out, nil
}
