// SPDX-License-Identifier: Apache-2.0

package mech

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/stattest"
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

// gaussian is the discrete Gaussian law of a whole standard deviation: a sample of the Laplace law
// of that scale, kept with probability exp(-(|x|-dev)²/(2·dev²)) (Algorithm 3). With
// (|x|-dev)/dev = m + r/dev that is exp(-m/2)^m · exp(-r/dev)^m · exp(-r²/(2·dev²)), a coin for
// each factor; the last is expCoin with Bernoulli(a/(bk)) of a = r² and b = 2·dev², taken as one of
// r/dev and one of r/(2·dev).
func (s twin) gaussian(dev *big.Int) *big.Int {
	one, two := big.NewInt(1), big.NewInt(2)
draw:
	for {
		x := s.laplace(dev)
		m, r := new(big.Int).Abs(x), new(big.Int)
		m.Sub(m, dev).Abs(m).DivMod(m, dev, r)
		for i := new(big.Int); i.Cmp(m) < 0; i.Add(i, one) {
			if !s.expCoin(m, two) || !s.expCoin(r, dev) {
				continue draw
			}
		}
		k := big.NewInt(1)
		for s.below(k).Sign() == 0 && s.below(dev).Cmp(r) < 0 && s.below(new(big.Int).Mul(two, dev)).Cmp(r) < 0 {
			k.Add(k, one)
		}
		if k.Bit(0) == 1 {
			return x
		}
	}
}

// book is Algorithm 3 as it is printed and as SampCert proves it, for the standard deviation
// num/den: t = ⌊num/den⌋ + 1, and a coin of exp(-(|y|·t·den² - num²)²/(2·num²·t²·den²)) in one.
func (s twin) book(num, den *big.Int) *big.Int {
	t := new(big.Int).Div(num, den)
	t.Add(t, big.NewInt(1))
	square := new(big.Int).Mul(num, num)
	below := new(big.Int).Mul(t, den)
	below.Mul(below, below).Mul(below, square).Lsh(below, 1)
	for {
		y := s.laplace(t)
		a := new(big.Int).Abs(y)
		a.Mul(a, t).Mul(a, den).Mul(a, den).Sub(a, square)
		if s.expCoin(a.Mul(a, a), below) {
			return y
		}
	}
}

// The printed algorithm and ours, which takes the deviation itself as the scale, have one law.
func TestGaussianIsTheBooks(t *testing.T) {
	const dev, draws, reach = 3, 40_000, 9
	probs := make([]float64, 2*reach+2) // the last is all that lies further out
	sum := 0.0
	for x := -200; x <= 200; x++ {
		p := math.Exp(-float64(x*x) / (2 * dev * dev))
		sum += p
		if x >= -reach && x <= reach {
			probs[x+reach] += p
		} else {
			probs[2*reach+1] += p
		}
	}
	for i := range probs {
		probs[i] /= sum
	}
	for name, draw := range map[string]func(rng.Source) *big.Int{
		"ours": func(src rng.Source) *big.Int { return discreteGaussian(src, dev) },
		"book": func(src rng.Source) *big.Int { return twin{src}.book(big.NewInt(2*dev), big.NewInt(2)) },
	} {
		src := replay.Seeded(34, name)
		counts := make([]int, len(probs))
		for range draws {
			x := draw(src).Int64()
			if x < -reach || x > reach {
				x = reach + 1
			}
			counts[x+reach]++
		}
		c := stattest.Claim{FalsePositive: 1e-9 / 2, Detects: "a deviation off by 5%"}
		stattest.Cells(t, c, counts, probs)
	}
}

func TestSamplersAreTheirTwin(t *testing.T) {
	for _, scale := range []uint64{1, 2, 3, 7, 1000, 1 << 31, 1<<40 + 1, 1<<62 + 12345} {
		name := fmt.Sprint("scale ", scale)
		ours, plain := replay.Seeded(31, name), twin{replay.Seeded(31, name)}
		normal, plainNormal := replay.Seeded(35, name), twin{replay.Seeded(35, name)}
		short, own := replay.Seeded(32, name), twin{replay.Seeded(32, name)}
		big1 := new(big.Int).SetUint64(scale)
		for k := range 300 {
			if x, y := discreteLaplace(ours, scale), plain.laplace(big1); x.Cmp(y) != 0 {
				t.Fatalf("scale %d, sample %d: %s, and %s by the book", scale, k, x, y)
			}
			if x, y := discreteGaussian(normal, scale), plainNormal.gaussian(big1); x.Cmp(y) != 0 {
				t.Fatalf("deviation %d, sample %d: %s, and %s by the book", scale, k, x, y)
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

// What the samplers make of a fixed tape, kept: it was made by this test, and by the twin. A change
// shows that noise is drawn in another way.
func TestSamplesOfAFixedTape(t *testing.T) {
	src := replay.Seeded(33, "golden")
	var laplace, gaussian []string
	for range 8 {
		laplace = append(laplace, discreteLaplace(src, 1000).String())
		gaussian = append(gaussian, discreteGaussian(src, 1000).String())
	}
	book, dev := twin{replay.Seeded(33, "golden")}, big.NewInt(1000)
	for k := range laplace {
		if x, y := book.laplace(dev).String(), book.gaussian(dev).String(); x != laplace[k] || y != gaussian[k] {
			t.Errorf("sample %d: %s and %s by the book", k, x, y)
		}
	}
	wantLaplace := []string{"-5377", "-2333", "-669", "628", "-579", "-1865", "-151", "4111"}
	wantGaussian := []string{"-929", "2861", "624", "987", "634", "1014", "-214", "1390"}
	if !slices.Equal(laplace, wantLaplace) || !slices.Equal(gaussian, wantGaussian) {
		t.Errorf("%q, %q", laplace, gaussian)
	}
}
