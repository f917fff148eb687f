// SPDX-License-Identifier: Apache-2.0

package edkey

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"math/big"
	"slices"
	"testing"
)

var (
	p = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 255), big.NewInt(19))
	d = fraction(-121665, 121666)
)

func fraction(a, b int64) *big.Int {
	x := new(big.Int).ModInverse(big.NewInt(b), p)
	return x.Mul(x, big.NewInt(a)).Mod(x, p)
}

type point struct{ x, y *big.Int }

// add is the curve's addition law, in affine coordinates, as the RFC has it.
func add(a, b point) point {
	mul := func(f ...*big.Int) *big.Int {
		out := big.NewInt(1)
		for _, x := range f {
			out.Mul(out, x).Mod(out, p)
		}
		return out
	}
	t := mul(d, a.x, b.x, a.y, b.y)
	x := new(big.Int).Add(mul(a.x, b.y), mul(b.x, a.y))
	y := new(big.Int).Add(mul(a.y, b.y), mul(a.x, b.x))
	over := func(n, below *big.Int) *big.Int {
		return mul(n, new(big.Int).ModInverse(new(big.Int).Mod(below, p), p))
	}
	return point{over(x, new(big.Int).Add(big.NewInt(1), t)), over(y, new(big.Int).Sub(big.NewInt(1), t))}
}

// encode is the key of y and the sign of x, canonical or not.
func encode(y *big.Int, sign byte) []byte {
	b := y.FillBytes(make([]byte, 32))
	slices.Reverse(b)
	b[31] |= sign << 7
	return b
}

// decode is the naive twin: the point of a key, by square roots modulo p.
func decode(key []byte) (point, bool) {
	b := slices.Clone(key)
	sign := b[31] >> 7
	b[31] &= 0x7f
	slices.Reverse(b)
	y := new(big.Int).SetBytes(b)
	y.Mod(y, p)
	y2 := new(big.Int).Mul(y, y)
	n := new(big.Int).Sub(y2, big.NewInt(1))
	below := new(big.Int).Mul(d, y2)
	below.Add(below, big.NewInt(1)).Mod(below, p)
	n.Mul(n, new(big.Int).ModInverse(below, p)).Mod(n, p)
	x := new(big.Int).ModSqrt(n, p)
	if x == nil {
		return point{}, false
	}
	if byte(x.Bit(0)) != sign {
		x.Sub(p, x).Mod(x, p)
	}
	return point{x, y}, true
}

// TestSmallOrder finds the points of small order by the curve's law, and checks that
// every encoding of each is refused, and that each lets anyone sign.
func TestSmallOrder(t *testing.T) {
	neutral := point{big.NewInt(0), big.NewInt(1)}
	of := func(q point) bool {
		for range 3 {
			q = add(q, q)
		}
		return q.x.Sign() == 0 && q.y.Cmp(neutral.y) == 0
	}
	found := map[string]bool{}
	for _, y := range small {
		for sign := range byte(2) {
			key := slices.Clone(y)
			key[31] |= sign << 7
			q, ok := decode(key)
			if !ok || !of(q) {
				t.Errorf("%x is listed and not of small order", key)
			}
			if err := Check(key); !errors.Is(err, ErrOrder) {
				t.Errorf("%x: %v", key, err)
			}
			found[string(q.x.Bytes())+"|"+string(q.y.Bytes())] = true
		}
	}
	if len(found) != 8 {
		t.Errorf("%d points are listed, the group has 8", len(found))
	}
	// What such a key is good for: the signature R = neutral, S = 0 is by it of every
	// message, for those whose hash is a multiple of its order.
	signed := 0
	for i := range 64 {
		if ed25519.Verify(small[1], []byte{byte(i)}, append(bytes.Clone(small[1]), make([]byte, 32)...)) {
			signed++
		}
	}
	if signed != 64 {
		t.Errorf("the neutral key verifies %d of 64 messages: the attack this is about is gone", signed)
	}
}

// TestOneEncoding: above the prime there are second names for the lowest points.
func TestOneEncoding(t *testing.T) {
	for i := range int64(19) {
		for sign := range byte(2) {
			if err := Check(encode(new(big.Int).Add(p, big.NewInt(i)), sign)); !errors.Is(err, ErrCanonical) {
				t.Errorf("p + %d: %v", i, err)
			}
		}
	}
	if err := Check(make([]byte, 31)); !errors.Is(err, ErrLength) {
		t.Errorf("31 bytes: %v", err)
	}
	if err := Check(encode(new(big.Int).Sub(p, big.NewInt(2)), 0)); err != nil {
		t.Errorf("p - 2: %v", err)
	}
}

// TestOwnersKeysPass: whoever makes a key has one.
func TestOwnersKeysPass(t *testing.T) {
	for range 200 {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := Check(public); err != nil {
			t.Errorf("%x: %v", public, err)
		}
	}
}
