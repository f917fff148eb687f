// SPDX-License-Identifier: Apache-2.0

package multiparty

import (
	"math"
	"testing"

	"github.com/discreet-dp/discreet/internal/census"
)

// On either side of every number of rows at which files or tables are cut into pieces, every vote
// counts once: the statistic and the moments are those of rows one by one.
func TestEveryVoteCountsOnce(t *testing.T) {
	const distinct = 331 // no divisor of a piece
	base := census.Generate(1, distinct)
	scale := 0.0
	var features [][]float64
	for _, n := range []int{momentRows - 1, momentRows, momentRows + 1, stripRows, stripRows + 1, 2*stripRows - 1,
		2 * stripRows, 2*stripRows + 1, readRows - 1, readRows, readRows + 1, 2*readRows + 1, maxStrips*stripRows - 1,
		maxStrips * stripRows, maxStrips*stripRows + 1} {
		rows := make([]int, n)
		votes := [2][]uint8{make([]uint8, n), make([]uint8, n)}
		soft := make([]float64, 2*n)
		for i := range rows {
			rows[i] = i % distinct
			votes[0][i], votes[1][i] = uint8(i/7%2), uint8(min(1, i%3))
			soft[2*i+i%2] = 1
		}
		tab := base.Subset(rows)
		p := params(func(p *Params) { p.Shape, p.Parties = Ball, 3 })
		pl := plan(t, p, tab)
		ta := tally(t, pl, tab, labelFile(t, tab, "a", votes[0]), labelFile(t, tab, "b", votes[1]),
			probabilityFile(t, tab, "c", soft))
		pub := newPublic(pl, auxiliary(tab))
		d := pl.countCoefficients()
		if features == nil {
			scale = 1 / math.Sqrt(float64(len(pl.space.Columns)+1))
			for i := range distinct {
				row := make([]float64, d)
				for k, j := range pl.space.Columns {
					f, x := pl.space.Cell(k, &base.Cols[j], int(base.Cols[j].Codes.At(i)))
					row[f] = x * scale
				}
				row[d-1] = scale
				features = append(features, row)
			}
		}
		positive := tab.Schema.Label.Positive
		shares, times := make([]int, distinct), make([]int, distinct)
		for i, at := range rows {
			times[at]++
			for _, v := range [3]int{int(votes[0][i]), int(votes[1][i]), i % 2} {
				if v == positive {
					shares[at]++
				}
			}
		}
		s, err := pub.computeStatistic(t.Context(), ta)
		if err != nil {
			t.Fatal(err)
		}
		g, err := pub.computeMoments(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for f := range d {
			mean, moment := 0.0, make([]float64, d)
			for at, row := range features {
				mean += float64(shares[at]) / 3 * row[f] / float64(n)
				for h := range d {
					moment[h] += float64(times[at]) * row[f] * row[h] / float64(n)
				}
			}
			if !(math.Abs(s[f]-mean) < 1e-10) {
				t.Fatalf("%d rows: the statistic of feature %d is %.12g, want %.12g", n, f, s[f], mean)
			}
			for h, want := range moment {
				if !(math.Abs(g.At(f, h)-want) < 1e-10) {
					t.Fatalf("%d rows: the moment of features %d and %d is %.12g, want %.12g", n, f, h, g.At(f, h), want)
				}
			}
		}
	}
}
