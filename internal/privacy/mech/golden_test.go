// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
)

// The twin is Algorithms 1 and 2 of Canonne, Kamath and Steinke (2020) as SampCert proves
// them, word by word in whole numbers without end: slow, and plain to read. It draws from
// the same tape of words in the same order, so that every sample is the same.
type twin struct{ rng.Source }

// below is uniform over 0..n-1: the words of which as many are left out as keep the rest
// from being even.
func (s twin) below(n *big.Int) *big.Int {
	all := new(big.Int).Lsh(big.NewInt(1), 64)
	for {
		product := new(big.Int).Mul(new(big.Int).SetUint64(s.Uint64()), n)
		hi, lo := new(big.Int).DivMod(product, all, new(big.Int))
		if lo.Cmp(new(big.Int).Mod(all, n)) >= 0 {
			return hi
		}
	}
}

// expCoin is true with probability exp(-a/b).
func (s twin) expCoin(a, b *big.Int) bool {
	one := big.NewInt(1)
	if a.Cmp(b) > 0 {
		return s.expCoin(one, one) && s.expCoin(new(big.Int).Sub(a, b), b)
	}
	k := big.NewInt(1)
	for s.below(k).Sign() == 0 && s.below(b).Cmp(a) < 0 { // Bernoulli(a/(bk))
		k.Add(k, one)
	}
	return k.Bit(0) == 1
}

// laplace is the discrete Laplace law of a whole scale.
func (s twin) laplace(scale *big.Int) *big.Int {
	for {
		u := s.below(scale)
		if !s.expCoin(u, scale) {
			continue
		}
		x := new(big.Int).Set(u)
		for s.expCoin(big.NewInt(1), big.NewInt(1)) {
			x.Add(x, scale)
		}
		if minus := s.Uint64()&1 == 1; !minus {
			return x
		} else if x.Sign() != 0 {
			return x.Neg(x)
		}
	}
}

func TestSamplersAreTheirTwin(t *testing.T) {
	for _, scale := range []uint64{1, 2, 3, 7, 1000, 1 << 31, 1<<40 + 1, 1<<62 + 12345} {
		name := fmt.Sprint("scale ", scale)
		ours, plain := replay.Seeded(31, name), twin{replay.Seeded(31, name)}
		short, own := replay.Seeded(32, name), twin{replay.Seeded(32, name)}
		big1 := new(big.Int).SetUint64(scale)
		for k := range 300 {
			if x, y := discreteLaplace(ours, scale), plain.laplace(big1); x.Cmp(y) != 0 {
				t.Fatalf("scale %d, sample %d: %s, and %s by the book", scale, k, x, y)
			}
			if scale > 1<<32 {
				continue
			}
			if x, y := shortLaplace(short, scale), own.laplace(big1); !y.IsInt64() || x != y.Int64() {
				t.Fatalf("scale %d, sample %d: %d, and %s by the book", scale, k, x, y)
			}
		}
	}
}

// What the samplers make of a fixed tape, kept: it was made by this test, with those of
// the Laplace law checked by the twin. A change shows that noise is drawn in another way.
func TestSamplesOfAFixedTape(t *testing.T) {
	src := replay.Seeded(33, "golden")
	var laplace, gaussian []string
	for range 8 {
		laplace = append(laplace, discreteLaplace(src, 1000).String())
		gaussian = append(gaussian, discreteGaussian(src, 1000).String())
	}
	wantLaplace := []string{"-5377", "-2333", "-669", "628", "-579", "-1865", "-151", "4111"}
	wantGaussian := []string{"-929", "2861", "624", "987", "634", "1014", "-214", "1390"}
	if !slices.Equal(laplace, wantLaplace) || !slices.Equal(gaussian, wantGaussian) {
		t.Errorf("%q, %q", laplace, gaussian)
	}
}
