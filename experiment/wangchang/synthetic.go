// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"math/rand/v2"

	"github.com/discreet-dp/discreet/rng"
)

// The paper names ten meaningful attributes and ten that are linear
// combinations of them, in the words of scikit-learn's make_classification,
// whose law and defaults these are: two clusters a class, centred on corners of
// a cube of half side 1, each stretched by a random matrix; one label in a
// hundred is drawn anew.
const (
	meaningful  = 10
	dependent   = 10
	syntheticD  = meaningful + dependent
	clusters    = 4
	redrawLabel = 0.01
)

// corners are different corners of the cube.
func corners(r *rand.Rand) [clusters][meaningful]float64 {
	var out [clusters][meaningful]float64
	for c, corner := range r.Perm(1 << meaningful)[:clusters] {
		for j := range meaningful {
			out[c][j] = float64(2*(corner>>j&1) - 1)
		}
	}
	return out
}

// synthetic draws n rows, as many of each class, with each attribute cut at 0.
func synthetic(n int, src rng.Source) bits {
	r := rand.New(src)
	centre := corners(r)
	mix := func() (m [meaningful][meaningful]float64) {
		for i := range m {
			for j := range m[i] {
				m[i][j] = 2*r.Float64() - 1
			}
		}
		return m
	}
	var stretch [clusters][meaningful][meaningful]float64
	for c := range stretch {
		stretch[c] = mix()
	}
	combine := mix() // ten into ten
	b := bits{syntheticD, make([]uint8, n*syntheticD), make([]uint8, n)}
	var z, x [meaningful]float64
	for i := range n {
		c := i % clusters
		for j := range z {
			z[j] = r.NormFloat64()
		}
		x = centre[c]
		for k, by := range z {
			for j := range x {
				x[j] += by * stretch[c][k][j]
			}
		}
		row := b.is[i*syntheticD : (i+1)*syntheticD]
		for j := range x {
			if x[j] > 0 {
				row[j] = 1
			}
			sum := 0.0
			for k, v := range x {
				sum += v * combine[k][j]
			}
			if sum > 0 {
				row[meaningful+j] = 1
			}
		}
		b.y[i] = uint8(c % 2)
		if r.Float64() < redrawLabel {
			b.y[i] = uint8(r.IntN(2))
		}
	}
	return b
}
