// SPDX-License-Identifier: Apache-2.0

package stattest

import (
	"math/rand/v2"
	"testing"
)

// The check accepts independent coins and sees dependence of two, of three of which any
// two are independent, and a probability that is off.
func TestIndependent(t *testing.T) {
	probs := []float64{0.5, 0.1, 0.3, 0.5, 0.9, 0.5}
	sample := func(spoil func(f []bool)) [][]bool {
		src := rand.New(rand.NewPCG(3, 3))
		flips := make([][]bool, 3000)
		for i := range flips {
			for _, p := range probs {
				flips[i] = append(flips[i], src.Float64() < p)
			}
			spoil(flips[i])
		}
		return flips
	}
	c := Claim{FalsePositive: 1e-9, Detects: "a coin made of others, or off by a third"}
	Independent(t, c, sample(func([]bool) {}), probs)
	for _, spoil := range []func(f []bool){
		func(f []bool) { f[3] = f[0] },
		func(f []bool) { f[3] = !f[0] },
		func(f []bool) { f[5] = f[0] != f[3] }, // each two are independent
		func(f []bool) { f[4] = f[4] && f[2] },
	} {
		Rejects(t, func(t T) { Independent(t, c, sample(spoil), probs) })
	}
	Rejects(t, func(t T) {
		Independent(t, c, sample(func([]bool) {}), []float64{0.5, 0.1, 0.4, 0.5, 0.9, 0.5})
	})
}
