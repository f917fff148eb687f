// SPDX-License-Identifier: Apache-2.0

package accounting

import (
	"github.com/discreet-dp/discreet/internal/privacy/dp"
)

// Poisson samples rows: each is taken with the same probability, independently
// of all others. Amplification is a method of the sampler and of nothing else:
// whoever takes rows another way (a shuffled batch, a fixed number without
// replacement) has no Poisson to ask and pays the full price.
//
// Relation: add-remove only. The zero value takes no row.
type Poisson struct{ taken, of uint64 }

// PoissonOf samples with probability taken/of.
func PoissonOf(taken, of uint64) (Poisson, error) {
	if taken < 1 || taken >= of || of > 1<<32 || of/taken > 1<<24 {
		return Poisson{}, &dp.ParamError{Op: "poisson sampling", Param: "rate",
			Want: "must be a fraction above 2^-24 and below 1 whose denominator is at most 2^32", Got: [2]uint64{taken, of}}
	}
	return Poisson{taken, of}, nil
}

// Takes decides about one row. below draws a whole number from 0..n-1
// uniformly, as rng.Below does; it must be called afresh for every row of every
// step.
func (p Poisson) Takes(below func(n uint64) uint64) bool { return below(p.of) < p.taken }

// Gaussian is the pair of Gaussian noise of price ρ, sensitivity counted for the
// presence of one row, on a sum over the rows that p takes (Zhu, Dong, Wang
// 2022, Theorem 11).
func (p Poisson) Gaussian(rho dp.Rho) (Pair, error) {
	if err := checkRho("subsampled gaussian", rho); err != nil {
		return Pair{}, err
	}
	if p.taken == 0 {
		return Pair{}, &dp.ParamError{Op: "subsampled gaussian", Param: "sampler", Want: "must come from PoissonOf"}
	}
	rate := float64(p.taken) / float64(p.of) * (1 + 2*unit)
	mu := meanShift(rho)
	return Pair{remove: normals{mu, rate, true}, add: normals{mu, rate, false}}, nil
}
