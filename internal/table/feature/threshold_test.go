// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// One row at a time answers as the Scorer does, on scores that are often zero
// but for rounding, or near it; and where a floating-point score is further from zero than
// Slack, its sign is the answer.
func TestAnswersEqualTheScorers(t *testing.T) {
	const rows = 2000
	r := rand.New(rand.NewPCG(5, 5))
	s := sample()
	for _, enc := range []Encoding{Ordinal, OneHot} {
		sp, err := NewSpace(s, enc, []int{0, 2, 4})
		if err != nil {
			t.Fatal(err)
		}
		cols := make([]column.Column, len(s.Columns))
		for _, j := range sp.Columns {
			n := s.Columns[j].Codes()
			if s.Columns[j].Kind == schema.Number {
				cols[j].Values = []float64{20, 30, 40, 50, 60, 40 + 1e-7, 40 - 1e-6}
				for range 1000 {
					cols[j].Values = append(cols[j].Values, 20+40*r.Float64())
				}
				n = len(cols[j].Values)
			}
			codes := make([]uint32, rows)
			for i := range codes {
				codes[i] = uint32(r.IntN(n))
			}
			cols[j].Codes = column.Narrow(codes, n)
		}
		var cs []Threshold
		for k := range 70 { // three blocks of lanes
			c := Threshold{Coef: make([]float64, sp.Width()), Bias: float64(r.IntN(3)-1) / 2}
			for f := range c.Coef {
				c.Coef[f] = float64(r.IntN(5)-2) / 2
				if k%2 == 1 {
					c.Coef[f] = 2*r.Float64() - 1
				}
			}
			if k%2 == 1 { // scores of any size, many about zero
				c.Bias = 0.01 * r.NormFloat64()
			}
			cs = append(cs, c)
		}
		want := make([]uint64, 2*rows)
		NewScorer(sp, cs).Bind(cols).Answers(0, want)
		close := 0
		for k, c := range cs {
			for i := range rows {
				answer := want[2*i+k/64]>>(k%64)&1 == 1
				if got := sp.Answers(c, cols, i); got != answer {
					t.Fatalf("%s: row %d answers %v, scorer %v", enc, i, got, answer)
				}
				z := c.Bias
				for k, j := range sp.Columns {
					f, v := sp.Cell(k, &cols[j], int(cols[j].Codes.At(i)))
					z += c.Coef[f] * v
				}
				if math.Abs(z) <= sp.Slack() {
					close++
				} else if (z > 0) != answer {
					t.Fatalf("%s: score %g answers %v", enc, z, answer)
				}
			}
		}
		if close == 0 {
			t.Error("no score within Slack of zero: the test is too easy")
		}
	}
}
