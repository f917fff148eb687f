// SPDX-License-Identifier: Apache-2.0

package secsum

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"github.com/cloudflare/circl/group"
	"github.com/cloudflare/circl/secretsharing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// shamir shares vectors among holders; a quorum of two thirds of them, rounded up, can open sums.
// Shares are points of random polynomials of degree quorum-1 over the scalars of ristretto255, and so
// are sums of shares. A scalar packs several coordinates, each with enough bits for the sum over all
// owners.
//
// With two thirds, two disjoint sets of holders cannot answer two different requests unless 2·quorum -
// Holders of them answer both.
type shamir struct {
	task  Task
	tag   Tag
	lane  int // bits of a coordinate's sum
	lanes int // coordinates per scalar
	// ranges proves a Proven task's ranges. It is made on first use.
	ranges func() *ranges
}

const (
	scalarBytes  = 32
	elementBytes = 32
	scalarBits   = 252 // the order of the group exceeds 2^252
)

// Shamir shares among 3 to 255 holders; up to a third of them may drop out. An owner with inconsistent
// shares is excluded. In a Proven task, so is an owner with numbers out of range; otherwise only
// numbers that exceed the range of the whole sum are detected.
func Shamir(t Task) (*Protocol, error) {
	if err := t.checkTask("shamir", 3, 255); err != nil {
		return nil, err
	}
	lane, tag := bits.Len64(uint64(t.Owners)*(t.Range-1)), t.makeTag("shamir") // 2.1
	s := &shamir{task: t, tag: tag, lane: lane, lanes: scalarBits / lane}
	s.ranges = rangesOf(s)
	return &Protocol{s}, nil
}

// quorum is the number of holders required to open a sum.
func (s *shamir) quorum() int { return quorumOf(s.task.Holders) }

// proof is the size of the part of a share that all holders receive.
func (s *shamir) proof() int { return proofBytes(s.task.Holders) }

func (s *shamir) countScalars() int { return (s.task.Length + s.lanes - 1) / s.lanes }

// split makes each holder's share.
func (s *shamir) split(src rng.Source, owner int, values []uint64) ([][]byte, error) {
	if s.task.Proven {
		return s.ranges().split(src, owner, s.ranges().circuit.Encode(values))
	}
	polynomials := [][]group.Scalar{s.drawPolynomial(src, group.Ristretto255.RandomScalar(reader{src}))} // blind (4.3)
	packed := new(big.Int)
	for at := 0; at < len(values); at += s.lanes {
		packed.SetInt64(0)
		for _, v := range slices.Backward(values[at:min(at+s.lanes, len(values))]) {
			packed.Lsh(packed, uint(s.lane)).Add(packed, new(big.Int).SetUint64(v))
		}
		polynomials = append(polynomials, s.drawPolynomial(src, group.Ristretto255.NewScalar().SetBigInt(packed)))
	}
	return s.sharePolynomials(src, owner, polynomials, nil)
}

// drawPolynomial draws a uniform polynomial with the given value at 0.
func (s *shamir) drawPolynomial(src rng.Source, secret group.Scalar) []group.Scalar {
	f := []group.Scalar{secret}
	for range s.quorum() - 1 {
		f = append(f, group.Ristretto255.RandomScalar(reader{src})) // 1.1
	}
	return f
}

// sharePolynomials makes each holder's share of polynomials, the blinding one first.
func (s *shamir) sharePolynomials(src rng.Source, owner int, polynomials [][]group.Scalar,
	statement []byte) ([][]byte, error) {
	parts := make([][]byte, s.task.Holders)
	for h := range parts {
		parts[h] = make([]byte, sha256.Size, s.partBytes())
		if _, err := (reader{src}).Read(parts[h]); err != nil { // the salt
			return nil, err
		}
		x := group.Ristretto255.NewScalar().SetUint64(uint64(h + 1))
		for _, f := range polynomials {
			b, err := evaluatePolynomial(f, x).MarshalBinary()
			if err != nil {
				return nil, fmt.Errorf("secsum: shamir: %w", err)
			}
			parts[h] = append(parts[h], b...)
		}
	}
	return s.proveShares(owner, polynomials, parts, statement)
}

// parseScalars parses a sum of shares: the point of the blinding polynomial, and those of the vectors.
func (s *shamir) parseScalars(b []byte) ([]group.Scalar, error) {
	if want := scalarBytes * (1 + s.countScalars()); len(b) != want {
		return nil, refuseMessage("a sum has %d bytes, not %d", len(b), want)
	}
	return readScalars(b)
}

// ErrDeviation is final: the opened sum is not a sum of vectors in range. An owner has shared other
// numbers, and it is impossible to find out which one.
var ErrDeviation = errors.New("secsum: shamir: what was opened is no sum of vectors in range: a participant deviated " +
	"from the protocol")

// open returns the sum of the vectors of the given number of owners. sums has at least quorum entries,
// by holder, which have all passed isBound.
func (s *shamir) open(sums map[int][]byte, owners int) ([]uint64, error) {
	points := make([][]secretsharing.Share, s.countScalars()) // by scalar
	for _, holder := range slices.Sorted(maps.Keys(sums)) {
		scalars, err := s.parseScalars(sums[holder])
		if err != nil {
			return nil, err
		}
		for i, v := range scalars[1:] {
			points[i] = append(points[i], secretsharing.Share{ID: group.Ristretto255.NewScalar().SetUint64(uint64(holder + 1)),
				Value: v})
		}
	}
	out := make([]uint64, 0, s.task.Length)
	most := uint64(owners) * (s.task.Range - 1)
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(s.lane)), big.NewInt(1))
	for _, p := range points {
		secret, err := s.recoverScalar(p)
		if err != nil {
			return nil, err
		}
		for range min(s.lanes, s.task.Length-len(out)) {
			v := new(big.Int).And(secret, mask).Uint64()
			if v > most {
				return nil, ErrDeviation
			}
			out = append(out, v)
			secret.Rsh(secret, uint(s.lane))
		}
		if secret.Sign() != 0 {
			return nil, ErrDeviation
		}
	}
	return out, nil
}

// recoverScalar recovers a scalar from the first quorum of points. Further points have also passed
// isBound, and so are on the same polynomial.
func (s *shamir) recoverScalar(points []secretsharing.Share) (*big.Int, error) {
	q := s.quorum()
	secret, err := secretsharing.Recover(uint(q-1), points[:q])
	if err != nil {
		return nil, fmt.Errorf("secsum: shamir: %w", err)
	}
	b, err := secret.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("secsum: shamir: %w", err)
	}
	slices.Reverse(b) // ristretto255 writes the lowest byte first
	return new(big.Int).SetBytes(b), nil
}
