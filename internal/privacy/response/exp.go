// SPDX-License-Identifier: Apache-2.0

package response

import (
	"math/big"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// expBits is the number of fractional bits of expFixed.
const expBits = 160

// expFixed returns an integer slightly below 2^expBits·e^{ε/div}: the terms of the exponential series
// are positive and each is rounded down. It uses integers and not math.Exp, because owner and
// collector must agree exactly on different machines.
func expFixed(eps dp.Epsilon, div int64) *big.Int {
	term := new(big.Int).Lsh(big.NewInt(1), expBits)
	sum := new(big.Int).Set(term)
	num, den := big.NewInt(int64(eps)), new(big.Int)
	for k := int64(1); ; k++ {
		den.SetInt64(k)
		den.Mul(den, big.NewInt(dp.Nano)).Mul(den, big.NewInt(div))
		if term.Mul(term, num).Quo(term, den).Sign() == 0 {
			return sum
		}
		sum.Add(sum, term)
	}
}

// weightsFor returns weights whose quotient a/b is at most e^ε, and at most a relative 2^-12 below it.
// All laws for cells get their guarantee from it. b is a power of two, and a, b·e^ε and b·2^others are
// below 2^60.
func weightsFor(eps dp.Epsilon, others int) (a, b uint64) {
	e := expFixed(eps, 1)
	shift := 60 - max(e.BitLen()-expBits, others)
	return new(big.Int).Rsh(e, uint(expBits-shift)).Uint64(), 1 << shift
}

// whole is 2^62, the denominator of the probabilities of coins.
const whole = 1 << 62

// lieCoin returns the least p with (2^62 - p)/p ≤ e^ε.
func lieCoin(eps dp.Epsilon) uint64 {
	one := new(big.Int).Lsh(big.NewInt(1), expBits)
	den := new(big.Int).Add(one, expFixed(eps, 1))
	p, r := new(big.Int).QuoRem(one.Lsh(one, 62), den, new(big.Int))
	if r.Sign() > 0 {
		p.Add(p, big.NewInt(1))
	}
	return p.Uint64()
}

// nearestRatio returns a/b as the nearest float64, with a single rounding that is the same on every
// machine.
func nearestRatio(a, b *big.Int) float64 {
	f, _ := new(big.Rat).SetFrac(a, b).Float64()
	return f
}

func bigOf(x uint64) *big.Int { return new(big.Int).SetUint64(x) }
