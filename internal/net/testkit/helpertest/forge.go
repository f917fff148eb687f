// SPDX-License-Identifier: Apache-2.0

package helpertest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"math/big"
	"slices"

	"github.com/cloudflare/circl/group"

	"github.com/discreet-dp/discreet/internal/net/federated/secsum"
	"github.com/discreet-dp/discreet/internal/net/service/secretsum"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// Forge makes a participant's shares of random numbers with commitments to all of them. The share for
// the bad helper is not on the polynomials. An owner who wants the sum to fail sends such shares.
// Forge is written from docs/protocol.md, without the code of honest owners.
//
// If the task requires proofs of range, they are valid proofs for other numbers.
func Forge(s *secretsum.Sum, participant, bad int) ([]secsum.Message, error) {
	return forge(s, participant, bad, nil)
}

// ForgeNumber makes a participant's shares of zeros, except that the first coordinate is any number of
// the field. An owner who wants the sum to exceed its range sends such shares.
func ForgeNumber(s *secretsum.Sum, participant int, first *big.Int) ([]secsum.Message, error) {
	return forge(s, participant, -1, first)
}

func forge(s *secretsum.Sum, participant, bad int, first *big.Int) ([]secsum.Message, error) {
	protocol, err := s.Protocol()
	if err != nil {
		return nil, err
	}
	honest, err := protocol.Split(rng.System(), participant, make([]uint64, s.Length)) // for the tag and the size
	if err != nil {
		return nil, err
	}
	bare := protocol.Bare(honest[0]).Body
	proof, part, err := secsum.ProofOf(bare)
	if err != nil {
		return nil, err
	}
	g, n, quorum := group.Ristretto255, len(s.Helpers), protocol.Quorum()
	polynomials := make([][]group.Scalar, len(part)/32-1)
	for i := range polynomials {
		for range quorum {
			polynomials[i] = append(polynomials[i], g.RandomScalar(rand.Reader))
		}
		if i > 0 && first != nil {
			polynomials[i][0] = g.NewScalar()
		}
		if i == 1 && first != nil {
			polynomials[i][0].SetBigInt(first)
		}
	}
	number := func(i int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(i)) }
	name := append(honest[0].Task[:], number(participant)...)
	parts, commitments := make([][]byte, n), []byte{}
	for h := range parts {
		parts[h] = make([]byte, 32)
		for i, f := range polynomials {
			x, y := g.NewScalar().SetUint64(uint64(h+1)), g.NewScalar()
			for k := quorum - 1; k >= 0; k-- {
				y.Mul(y, x).Add(y, f[k])
			}
			if h == bad && i == len(polynomials)-1 {
				y.Add(y, g.NewScalar().SetUint64(1))
			}
			b, err := y.MarshalBinary()
			if err != nil {
				return nil, err
			}
			parts[h] = append(parts[h], b...)
		}
		b := append([]byte("discreet secsum part 1\x00"), name...)
		c := sha256.Sum256(append(append(b, number(h)...), parts[h]...))
		commitments = append(commitments, c[:]...)
	}
	proof = append(append([]byte{proof[0]}, commitments...), proof[1+32*n:][:32]...)
	for k := range quorum {
		c := g.Identity()
		for i, f := range polynomials {
			generator := g.HashToElement(number(i), []byte("discreet secsum generator 1\x00"))
			c.Add(c, generator.Mul(generator, f[k]))
		}
		b, err := c.MarshalBinary()
		if err != nil {
			return nil, err
		}
		proof = append(proof, b...)
	}
	for h := range honest {
		ranges := honest[h].Body[len(bare):]
		honest[h].Body = slices.Concat(proof, parts[h], ranges)
	}
	return honest, nil
}
