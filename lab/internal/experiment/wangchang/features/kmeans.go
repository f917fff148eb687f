// SPDX-License-Identifier: Apache-2.0

package features

import (
	"math"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// maxSweeps bounds Lloyd's iteration; it mostly ends earlier.
const maxSweeps = 40

// kMeans returns k centres of the points (len(points)/dim of them, row-major):
// k-means++ seeding (Arthur and Vassilvitskii 2007), then Lloyd's iteration
// until no point moves or maxSweeps are done. A centre that loses all its
// points stays where it is. There must be at least k points.
func kMeans(points []float32, dim, k int, src rng.Source) []float32 {
	centres := seedCentres(points, dim, k, src)
	n := len(points) / dim
	of := make([]int, n)
	sums, counts := make([]float64, k*dim), make([]int, k)
	for range maxSweeps {
		half := halfNorms(centres, dim)
		moved := false
		clear(sums)
		clear(counts)
		for i := range n {
			p := points[i*dim : (i+1)*dim]
			j := nearestCentre(p, centres, half)
			moved = moved || j != of[i]
			of[i] = j
			counts[j]++
			for c, v := range p {
				sums[j*dim+c] += float64(v)
			}
		}
		for j, m := range counts {
			if m == 0 {
				continue
			}
			for c := range dim {
				centres[j*dim+c] = float32(sums[j*dim+c] / float64(m))
			}
		}
		if !moved {
			break
		}
	}
	return centres
}

// seedCentres draws each next centre with a chance that is proportional to a
// point's squared distance to the nearest one so far, or evenly if every
// point is a centre.
func seedCentres(points []float32, dim, k int, src rng.Source) []float32 {
	n := len(points) / dim
	var centres []float32
	add := func(i int) { centres = append(centres, points[i*dim:(i+1)*dim]...) }
	add(int(rng.Below(src, uint64(n))))
	far := make([]float64, n)
	for i := range far {
		far[i] = math.Inf(1)
	}
	for len(centres) < k*dim {
		last := centres[len(centres)-dim:]
		total := 0.0
		for i := range n {
			d := 0.0
			for c, v := range points[i*dim : (i+1)*dim] {
				d += float64(v-last[c]) * float64(v-last[c])
			}
			far[i] = min(far[i], d)
			total += far[i]
		}
		if total == 0 {
			add(int(rng.Below(src, uint64(n))))
			continue
		}
		u := float64(src.Uint64()>>11) * 0x1p-53 * total
		pick := 0
		for i := range n {
			if far[i] > 0 {
				pick = i
				if u -= far[i]; u < 0 {
					break
				}
			}
		}
		add(pick)
	}
	return centres
}

// nearestCentre returns the centre closest to p, the first of equally close ones:
// the one with the least ‖c‖²/2 - p·c.
func nearestCentre(p, centres, half []float32) int {
	best, least := 0, float32(math.Inf(1))
	dim := len(p)
	for j, h := range half {
		if d := h - dot(p, centres[j*dim:(j+1)*dim]); d < least {
			best, least = j, d
		}
	}
	return best
}

func halfNorms(centres []float32, dim int) []float32 {
	out := make([]float32, len(centres)/dim)
	for j := range out {
		c := centres[j*dim : (j+1)*dim]
		out[j] = dot(c, c) / 2
	}
	return out
}

// dot adds four products at a time, which keeps the processor busy.
func dot(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return s0 + s1 + s2 + s3
}
