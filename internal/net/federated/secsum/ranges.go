// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/net/federated/flp"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Where a task is Proven an owner shows each holder that the numbers that it shares are
// in range, and nothing else of them. It shares their digits, of which the numbers are a
// linear function, and a fully linear proof that each digit is one (package flp). Holders
// do not talk to each other for that: the owner commits to each holder's points, draws
// from the commitments all that verifiers would draw, and shows what they would answer
// together. A holder sees whether that is an answer that a valid vector gives, and whether
// its own answer is a part of it. Claim G-SECSUM-6.
//
// The bytes that follow a share are the statement, which all holders are told alike and
// of which the share's proof has the SHA-256: a hash of each holder's salt and digits, a
// hash of each holder's salt and the rest, then scalars: the wires at the query's point, and
// the coefficients of opening but the lowest; and the holder's own part: a salt, its points
// of the digits and of the proof.

const (
	digitsLabel   = "discreet secsum digits 1\x00"
	argumentLabel = "discreet secsum argument 1\x00"
	rangeLabel    = "discreet secsum range 1\x00"
)

// The challenges that are derived from an owner's commitments, in this order.
const (
	forDigits  = iota // weights of digits in a gadget, from the hashes of digits
	forPoint          // point at which polynomials are compared, from both hashes, like the next
	forOutputs        // weights of outputs
	forOpening        // weights of answers, also from the wires
)

// ErrOutOfRange reports that a share matches its owner's commitment, but that the proof does not show
// its numbers to be in range. It is an ErrInconsistent.
var ErrOutOfRange = fmt.Errorf("%w: its numbers are not shown to be in range", ErrInconsistent)

// ranges proves the ranges of one task.
type ranges struct {
	*shamir
	circuit *flp.Ranges[flp.Scalar, *flp.Scalar]
	system  *flp.System[flp.Scalar, *flp.Scalar]
	shift   flp.Scalar // 2^lane
}

// rangesOf prepares a task's proofs on first use.
func rangesOf(s *shamir) func() *ranges {
	return sync.OnceValue(func() *ranges {
		r := &ranges{shamir: s, circuit: flp.NewRanges[flp.Scalar](s.task.Length, s.task.Range)}
		r.system = flp.New(r.circuit, flp.Consecutive[flp.Scalar, *flp.Scalar]{})
		r.shift = smallScalar(1 << s.lane)
		return r
	})
}

func smallScalar(n uint64) (z flp.Scalar) {
	if err := z.SetUint64(n); err != nil {
		panic(err) // every such number is a scalar
	}
	return z
}

// statementBytes and ownBytes are the sizes of the data that follow a share.
func (r *ranges) statementBytes() int {
	arity, _, _ := r.circuit.Shape()
	return 2*sha256.Size*r.task.Holders + scalarBytes*(r.quorum()-1+arity)
}

func (r *ranges) ownBytes() int {
	return sha256.Size + scalarBytes*(r.circuit.Inputs()+r.system.ProofLen())
}

// drawScalars draws uniform scalars.
func drawScalars(src rng.Source, n int) []flp.Scalar {
	out := make([]flp.Scalar, n)
	var b [64]byte
	for i := range out {
		for j := 0; j < len(b); j += 8 {
			binary.LittleEndian.PutUint64(b[j:], src.Uint64())
		}
		out[i].SetUniform(&b)
	}
	return out
}

// shared is a vector of polynomials: coefficients by degree, then by coordinate.
type shared [][]flp.Scalar

// share draws uniform polynomials with the given values at 0 (6.3).
func (r *ranges) share(src rng.Source, values []flp.Scalar) shared {
	out := shared{values}
	for len(out) < r.quorum() {
		out = append(out, drawScalars(src, len(values)))
	}
	return out
}

// at returns the values at a holder's point.
func (f shared) at(holder int) []flp.Scalar {
	x := smallScalar(uint64(holder + 1))
	out := append([]flp.Scalar(nil), f[len(f)-1]...)
	for k := len(f) - 2; k >= 0; k-- {
		for i := range out {
			out[i].Mul(&out[i], &x)
			out[i].Add(&out[i], &f[k][i])
		}
	}
	return out
}

// pointsOf returns the values at each holder's point.
func (r *ranges) pointsOf(f shared) (points [][]flp.Scalar) {
	for h := range r.task.Holders {
		points = append(points, f.at(h))
	}
	return points
}

// horner evaluates a polynomial at x; coefficients start with the lowest degree.
func horner(coefficients []flp.Scalar, x *flp.Scalar) (y flp.Scalar) {
	for i := len(coefficients) - 1; i >= 0; i-- {
		y.Mul(&y, x)
		y.Add(&y, &coefficients[i])
	}
	return y
}

// packDigits returns the scalars that pack the numbers whose digits are given. It is linear, so that
// it also applies to points.
func (r *ranges) packDigits(digits []flp.Scalar) []flp.Scalar {
	numbers := r.circuit.Decode(digits)
	out := make([]flp.Scalar, 0, r.countScalars())
	for at := 0; at < len(numbers); at += r.lanes {
		out = append(out, horner(numbers[at:min(at+r.lanes, len(numbers))], &r.shift))
	}
	return out
}

// draw derives a challenge for one owner.
func (r *ranges) draw(owner int, what byte, committed []byte) (z flp.Scalar) {
	b := append(r.tag[:len(r.tag):len(r.tag)], binary.BigEndian.AppendUint32(nil, uint32(owner))...)
	c, err := group.Ristretto255.HashToScalar(append(append(b, what), committed...), []byte(rangeLabel)).MarshalBinary()
	if err == nil {
		err = z.SetBytes(c)
	}
	if err != nil {
		panic(err) // a scalar of one library is one of the other
	}
	return z
}

// challenges are the verifiers' random numbers, derived from the hashes of a statement.
type challenges struct{ joint, query []flp.Scalar }

// drawQuery derives challenges from hashes. An owner cannot predict them when it makes the hashes
// (6.4).
func (r *ranges) drawQuery(owner int, hashes []byte) (c challenges) {
	c.joint = []flp.Scalar{r.draw(owner, forDigits, hashes[:sha256.Size*r.task.Holders])}
	one, weight := smallScalar(1), r.draw(owner, forOutputs, hashes)
	for range r.system.Queries() - 1 {
		one.Mul(&one, &weight)
		c.query = append(c.query, one)
	}
	c.query = append(c.query, r.draw(owner, forPoint, hashes))
	return c
}

// query applies all queries of a verifier to points, or to the coefficients of one degree.
func (r *ranges) query(c challenges, digits, proof []flp.Scalar) []flp.Scalar {
	one := smallScalar(1) // of which this circuit makes no use
	return r.system.Query(digits, proof, c.joint, c.query, &one)
}

// hashFor is an owner's salted commitment to the data for a holder.
func (s *shamir) hashFor(label string, owner, holder int, salted ...[]byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write([]byte(label))
	h.Write(s.tag[:])
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(owner)))
	h.Write(binary.BigEndian.AppendUint32(nil, uint32(holder)))
	for _, b := range salted {
		h.Write(b)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

func appendScalars(b []byte, s []flp.Scalar) []byte {
	for i := range s {
		b = s[i].Append(b)
	}
	return b
}

// prove returns the statement about digits, given the points that share them, and each holder's own
// part.
func (r *ranges) prove(src rng.Source, owner int, digits shared,
	points [][]flp.Scalar) (statement []byte, own [][]byte, err error) {
	n := r.task.Holders
	for h := range n {
		salted := make([]byte, sha256.Size, r.ownBytes())
		if _, err := (reader{src}).Read(salted); err != nil {
			return nil, nil, err
		}
		own = append(own, appendScalars(salted, points[h]))
		hash := r.hashFor(digitsLabel, owner, h, own[h])
		statement = append(statement, hash[:]...)
	}
	joint := []flp.Scalar{r.draw(owner, forDigits, statement)}
	proof := r.share(src, r.system.Prove(digits[0], joint, drawScalars(src, r.system.Seeds())))
	for h := range n {
		points := appendScalars(nil, proof.at(h))
		hash := r.hashFor(argumentLabel, owner, h, own[h][:sha256.Size], points)
		statement, own[h] = append(statement, hash[:]...), append(own[h], points...)
	}
	c := r.drawQuery(owner, statement)
	answers := make([][]flp.Scalar, r.quorum()) // by degree
	for k := range answers {
		answers[k] = r.query(c, digits[k], proof[k])
	}
	statement = appendScalars(statement, answers[0][1:len(answers[0])-1])
	opening := r.draw(owner, forOpening, statement)
	for _, answer := range answers[1:] {
		y := horner(answer, &opening)
		statement = y.Append(statement)
	}
	return statement, own, nil
}

// split shares numbers by their digits: the polynomials of the packed scalars are computed from those
// of the digits.
func (r *ranges) split(src rng.Source, owner int, values []flp.Scalar) ([][]byte, error) {
	digits := r.share(src, values)
	polynomials := make([][]group.Scalar, 1+r.countScalars())
	polynomials[0] = r.drawPolynomial(src, group.Ristretto255.RandomScalar(reader{src})) // blind
	for _, coefficients := range digits {
		packed, err := readScalars(appendScalars(nil, r.packDigits(coefficients)))
		if err != nil {
			return nil, err
		}
		for i, c := range packed {
			polynomials[1+i] = append(polynomials[1+i], c)
		}
	}
	statement, own, err := r.prove(src, owner, digits, r.pointsOf(digits))
	if err != nil {
		return nil, err
	}
	shares, err := r.sharePolynomials(src, owner, polynomials, statement)
	for h := range shares {
		shares[h] = append(append(shares[h], statement...), own[h]...)
	}
	return shares, err
}

// bare removes the statement and the own part from a share, if it has them.
func (s *shamir) bare(share []byte) []byte {
	return share[:min(len(share), proofBytes(s.task.Holders)+s.partBytes())]
}

// partBytes is the size of a holder's part.
func (s *shamir) partBytes() int { return scalarBytes * (2 + s.countScalars()) }

// checkRanges verifies the data that follow a share. part must be the one that the share's proof is
// about.
func (s *shamir) checkRanges(owner, holder int, proof, part, rest []byte) error {
	want := 0
	if s.task.Proven {
		want = s.ranges().statementBytes() + s.ranges().ownBytes()
	}
	if len(rest) != want {
		return refuseMessage("%d bytes about ranges follow a share, not %d", len(rest), want)
	}
	var statement []byte
	if s.task.Proven {
		statement = rest[:s.ranges().statementBytes()]
	}
	if digest := sha256.Sum256(statement); !bytes.Equal(digest[:], s.statedIn(proof)) {
		return refuseMessage("%v", errUnbound)
	}
	if !s.task.Proven {
		return nil
	}
	switch err := s.ranges().verify(owner, holder, statement, rest[len(statement):], part[2*scalarBytes:]); {
	case errors.Is(err, errUnbound):
		return refuseMessage("%v", err)
	case err != nil:
		return inconsistentShare(owner, err)
	}
	return nil
}

// errUnbound reports that the data after a share do not belong to it, which convicts no one.
var errUnbound = errors.New("what follows a share is not what it is about")

// verify checks that a holder's own part and the statement prove that the packed scalars, whose points
// it has, hold numbers in range. It returns errUnbound, or ErrOutOfRange if the owner is at fault.
func (r *ranges) verify(owner, holder int, statement, own, packed []byte) error {
	hashes := statement[:2*sha256.Size*r.task.Holders]
	salt, rest := own[:sha256.Size], own[sha256.Size:]
	inputs := r.circuit.Inputs()
	first := r.hashFor(digitsLabel, owner, holder, salt, rest[:scalarBytes*inputs])
	second := r.hashFor(argumentLabel, owner, holder, salt, rest[scalarBytes*inputs:])
	if !bytes.Equal(first[:], hashes[sha256.Size*holder:][:sha256.Size]) ||
		!bytes.Equal(second[:], hashes[sha256.Size*(r.task.Holders+holder):][:sha256.Size]) {
		return errUnbound
	}
	points, err := parsePoints(rest)
	if err != nil {
		return ErrOutOfRange
	}
	said, err := parsePoints(statement[len(hashes):])
	if err != nil {
		return ErrOutOfRange
	}
	digits, proof := points[:inputs], points[inputs:]
	arity, _, _ := r.circuit.Shape()
	wires, higher := said[:arity], said[arity:]
	if !bytes.Equal(appendScalars(nil, r.packDigits(digits)), packed) {
		return ErrOutOfRange
	}
	c := r.drawQuery(owner, hashes)
	opening := r.draw(owner, forOpening, statement[:len(hashes)+scalarBytes*arity])
	lowest := horner(r.system.Complete(wires, c.joint), &opening)
	x := smallScalar(uint64(holder + 1))
	want := horner(append([]flp.Scalar{lowest}, higher...), &x)
	answer := horner(r.query(c, digits, proof), &opening)
	if !answer.IsEqual(&want) { // 6.5
		return ErrOutOfRange
	}
	return nil
}

// parsePoints parses scalars in their canonical form.
func parsePoints(b []byte) ([]flp.Scalar, error) {
	out := make([]flp.Scalar, len(b)/scalarBytes)
	for i := range out {
		if err := out[i].SetBytes(b[i*scalarBytes : (i+1)*scalarBytes]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// ProvenBytes is the number of bytes that follow each share of a Proven task.
func ProvenBytes(t Task) int {
	c := flp.NewRanges[flp.Scalar](max(1, t.Length), max(2, t.Range))
	arity, degree, calls := c.Shape()
	statement := 2*sha256.Size*t.Holders + scalarBytes*(quorumOf(t.Holders)-1+arity)
	return statement + sha256.Size + scalarBytes*(c.Inputs()+arity+degree*calls+1)
}
