// SPDX-License-Identifier: Apache-2.0

package secsum

import (
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

// shamir shares vectors among holders of whom a quorum of two thirds, rounded
// up, opens sums. Shares are points of random polynomials of degree quorum-1
// over the scalars of ristretto255, and so are sums of shares. A scalar holds
// several coordinates side by side, each with room for the sum of all owners.
//
// With two thirds, two disjoint sets of holders cannot answer two different
// requests unless 2·quorum - Holders of them answer both.
type shamir struct {
	task  Task
	lane  int // bits of a coordinate's sum
	lanes int // coordinates to a scalar
}

const (
	scalarBytes = 32
	scalarBits  = 252 // the order of the group exceeds 2^252
)

// Shamir shares among 3 to 255 holders; up to a third of them may drop out.
// Anybody may share any number: only what exceeds the range of the whole sum
// is noticed.
func Shamir(t Task) (*Protocol, error) {
	if err := t.check("shamir", 3, 255); err != nil {
		return nil, err
	}
	lane := bits.Len64(uint64(t.Owners) * (t.Range - 1)) // 2.1
	return &Protocol{t, t.tag("shamir"), &shamir{t, lane, scalarBits / lane}}, nil
}

func (s *shamir) quorum() int  { return s.task.Holders - s.task.Holders/3 }
func (s *shamir) scalars() int { return (s.task.Length + s.lanes - 1) / s.lanes }

// Shares of one owner are random points: there is nothing to judge them by.
func (s *shamir) evidence() int                 { return 0 }
func (s *shamir) judge([][]byte) ([]byte, bool) { return nil, false }

func (s *shamir) split(src rng.Source, _ int, values []uint64) ([][]byte, error) {
	out := make([][]byte, s.task.Holders)
	packed := new(big.Int)
	for at := 0; at < len(values); at += s.lanes {
		packed.SetInt64(0)
		for _, v := range slices.Backward(values[at:min(at+s.lanes, len(values))]) {
			packed.Lsh(packed, uint(s.lane)).Add(packed, new(big.Int).SetUint64(v))
		}
		secret := group.Ristretto255.NewScalar().SetBigInt(packed)
		shares := secretsharing.New(reader{src}, uint(s.quorum()-1), secret).Share(uint(s.task.Holders)) // 1.1
		for i, share := range shares {
			b, err := share.Value.MarshalBinary()
			if err != nil {
				return nil, fmt.Errorf("secsum: shamir: %w", err)
			}
			out[i] = append(out[i], b...)
		}
	}
	return out, nil
}

func (s *shamir) keeper(int, Key) keeper { return &shamirKeeper{s, map[int][]group.Scalar{}} }

type shamirKeeper struct {
	s      *shamir
	shares map[int][]group.Scalar
}

func (k *shamirKeeper) take(owner int, share []byte) ([]byte, error) {
	scalars, err := k.s.read(share)
	if err != nil {
		return nil, err
	}
	k.shares[owner] = scalars
	return nil, nil
}

func (k *shamirKeeper) sum(owners []int, _ [][]byte) (out []byte, err error) {
	sum := make([]group.Scalar, k.s.scalars())
	for i := range sum {
		sum[i] = group.Ristretto255.NewScalar()
		for _, o := range owners {
			sum[i].Add(sum[i], k.shares[o][i])
		}
		b, err := sum[i].MarshalBinary()
		if err != nil {
			return nil, fmt.Errorf("secsum: shamir: %w", err)
		}
		out = append(out, b...)
	}
	return out, nil
}

// read parses a vector of scalars in their canonical form.
func (s *shamir) read(b []byte) ([]group.Scalar, error) {
	if len(b) != scalarBytes*s.scalars() {
		return nil, refused("a share has %d bytes, not %d", len(b), scalarBytes*s.scalars())
	}
	out := make([]group.Scalar, s.scalars())
	for i := range out {
		out[i] = group.Ristretto255.NewScalar()
		if err := out[i].UnmarshalBinary(b[i*scalarBytes : (i+1)*scalarBytes]); err != nil {
			return nil, refused("a share is not a vector of scalars")
		}
	}
	return out, nil
}

// errShares is final: which holder or owner deviated cannot be told.
var errShares = errors.New("secsum: shamir: the shares do not belong to one sum: somebody deviated from the protocol")

func (s *shamir) parses(sum []byte) error {
	_, err := s.read(sum)
	return err
}

func (s *shamir) open(sums map[int][]byte, owners int) ([]uint64, error) {
	points := make([][]secretsharing.Share, s.scalars()) // by scalar
	for _, holder := range slices.Sorted(maps.Keys(sums)) {
		scalars, err := s.read(sums[holder])
		if err != nil {
			return nil, err
		}
		for i, v := range scalars {
			points[i] = append(points[i], secretsharing.Share{ID: group.Ristretto255.NewScalar().SetUint64(uint64(holder + 1)), Value: v})
		}
	}
	out := make([]uint64, 0, s.task.Length)
	most := uint64(owners) * (s.task.Range - 1)
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(s.lane)), big.NewInt(1))
	for _, p := range points {
		secret, err := s.agree(p)
		if err != nil {
			return nil, err
		}
		for range min(s.lanes, s.task.Length-len(out)) {
			v := new(big.Int).And(secret, mask).Uint64()
			if v > most {
				return nil, errShares
			}
			out = append(out, v)
			secret.Rsh(secret, uint(s.lane))
		}
		if secret.Sign() != 0 {
			return nil, errShares
		}
	}
	return out, nil
}

// agree recovers a scalar from the first quorum of points, and wants every
// further point to lie on the same polynomial: with it in place of one of the
// first, the same scalar must come out.
func (s *shamir) agree(points []secretsharing.Share) (*big.Int, error) {
	q := s.quorum()
	secret, err := secretsharing.Recover(uint(q-1), points[:q])
	if err != nil {
		return nil, fmt.Errorf("secsum: shamir: %w", err)
	}
	for _, extra := range points[q:] {
		other, err := secretsharing.Recover(uint(q-1), append(slices.Clone(points[1:q]), extra))
		if err != nil {
			return nil, fmt.Errorf("secsum: shamir: %w", err)
		}
		if !other.IsEqual(secret) {
			return nil, errShares
		}
	}
	b, err := secret.MarshalBinary()
	if err != nil {
		return nil, fmt.Errorf("secsum: shamir: %w", err)
	}
	slices.Reverse(b) // ristretto255 writes the lowest byte first
	return new(big.Int).SetBytes(b), nil
}
