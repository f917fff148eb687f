// SPDX-License-Identifier: Apache-2.0

package continuous

import (
	"math"
	"math/bits"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
)

// duchi answers with a corner of a cube (Duchi, Jordan, Wainwright 2018, as
// Algorithm 3 of Wang et al. 2019).
type duchi struct {
	d     int
	bound float64 // B: each coordinate is -B or B
	keep  float64 // chance of the half that points the input's way
}

// Duchi is the mechanism for d dimensions.
func Duchi(d int, eps float64) Mechanism {
	e := math.Exp(eps)
	return duchi{d, cornerSize(d) * (e + 1) / (e - 1), e / (e + 1)}
}

// cornerSize is C_d: 1 over the mean agreement, per coordinate, of a corner with a
// random one that does not point away from it. For even d the corners at a
// right angle belong to both halves.
func cornerSize(d int) float64 {
	half := float64(d-1) * math.Ln2 // ln 2^(d-1)
	if d%2 == 1 {
		return math.Exp(half - lnChoose(d-1, (d-1)/2))
	}
	return math.Exp(half-lnChoose(d-1, d/2)) + math.Exp(lnChoose(d, d/2)-math.Ln2-lnChoose(d-1, d/2))
}

func lnChoose(n, k int) float64 {
	ln := func(m int) float64 { v, _ := math.Lgamma(float64(m) + 1); return v }
	return ln(n) - ln(k) - ln(n-k)
}

func (m duchi) Sum(rows Rows, from, to int, src rng.Source) []float64 {
	row := make([]float64, m.d)
	words := (m.d + 63) / 64
	v, t := make([]uint64, words), make([]uint64, words)
	ups := make([]int, m.d) // how often a coordinate was +B
	for i := from; i < to; i++ {
		rows.Row(i, row)
		roundToCorner(row, v, src)
		m.answer(v, t, src)
		for j := range ups {
			ups[j] += int(t[j/64] >> (j % 64) & 1)
		}
	}
	sum := make([]float64, m.d)
	for j, up := range ups {
		sum[j] = m.bound * float64(2*up-(to-from))
	}
	return sum
}

// roundToCorner draws a corner whose mean is the row.
func roundToCorner(row []float64, v []uint64, src rng.Source) {
	clear(v)
	for j, t := range row {
		switch t = clamp(t); {
		case t == 1:
			v[j/64] |= 1 << (j % 64)
		case t > -1 && drawUnit(src) < (1+t)/2:
			v[j/64] |= 1 << (j % 64)
		}
	}
}

// answer draws a corner t, evenly from those with t·v ≥ 0 or, less often, from
// those with t·v ≤ 0. Corners at a right angle are in both halves.
func (m duchi) answer(v, t []uint64, src rng.Source) {
	along := drawUnit(src) < m.keep
	for {
		same := m.d
		for w := range t {
			t[w] = src.Uint64()
			differ := t[w] ^ v[w]
			if w == len(t)-1 && m.d%64 != 0 {
				differ &= 1<<(m.d%64) - 1
			}
			same -= bits.OnesCount64(differ)
		}
		if along && 2*same >= m.d || !along && 2*same <= m.d {
			return
		}
	}
}

func (m duchi) Variance(t float64) float64 { return m.bound*m.bound - t*t }
