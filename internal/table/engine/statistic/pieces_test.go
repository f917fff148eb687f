// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Many grids at once have the sums that each has row by row: over columns of few and of
// many codes, with marks, in any order of the axes, the same cuts more than once, and
// grids whose pieces are too many to be shared.
func TestGridsShareOnePass(t *testing.T) {
	for _, levels := range []int{2, 3} {
		r := rand.New(rand.NewPCG(7, uint64(levels)))
		const blockRows = 1 << 12
		const rows = 2*blockRows + 77
		var values []float64
		for i := range 700 {
			values = append(values, float64(i)/7)
		}
		marks := make([]uint8, len(values))
		marks[3], marks[699] = 1, 2
		sch := &schema.Schema{Columns: []schema.Column{
			{}, {Kind: schema.Number, Missing: true, Special: []float64{96}}, {}, {},
		}}
		codes := func(n int) column.Codes {
			c := make([]uint32, rows)
			for i := range c {
				c[i] = uint32(r.IntN(n))
			}
			return column.Narrow(c, n)
		}
		cols := []column.Column{
			{Codes: codes(3)}, {Codes: codes(700), Values: values, Marks: marks}, {Codes: codes(40)}, {Codes: codes(1)},
		}
		labels := make([]uint8, rows)
		for i := range labels {
			labels[i] = uint8(r.IntN(levels))
		}
		axisOf := func(col int) feature.Bins {
			switch n := []int{3, 0, 40, 1}[col]; {
			case col == 1:
				edges := []float64{math.Floor(r.Float64() * 90), 95}
				return feature.NewBins(sch, 1, edges[:1+r.IntN(2)])
			case r.IntN(4) == 0:
				return feature.NewGroups(col, identity(n), n)
			default:
				of := make([]uint32, n)
				for i := range of {
					of[i] = uint32(r.IntN(2))
				}
				return feature.NewGroups(col, of, 2)
			}
		}
		var grids []feature.Grid
		for range 300 {
			g := feature.Grid{}
			for _, col := range r.Perm(4)[:1+r.IntN(4)] {
				g.Axes = append(g.Axes, axisOf(col))
			}
			grids = append(grids, g)
		}
		width := levels
		if levels == 2 {
			width = 1
		}
		start := make([]float64, width)
		start[0] = 0.4
		s, got := slopesOf(GridSlopes{NewStepScore(start), SlopeLimit{Most: 1, Norm: SlopesL2}, grids}, cols, labels, levels)
		cells, spare := make([]uint32, rows), make([]uint32, rows)
		for g := range grids {
			want := GridSums{make([]int64, grids[g].Cells()*width), make([]int64, grids[g].Cells())}
			grids[g].Bind(cols).Read(0, cells, spare)
			for i, c := range cells {
				want.Curves[c] += int64(s.curve[i])
				for k := range width {
					want.Slopes[int(c)*width+k] += int64(s.slope[i*width+k])
				}
			}
			if !slices.Equal(got[g].Slopes, want.Slopes) || !slices.Equal(got[g].Curves, want.Curves) {
				t.Fatalf("%d levels, grid %d of %d axes: other sums than row by row", levels, g, len(grids[g].Axes))
			}
		}
		cut := newCuts(cols, grids)
		bundles := cut.bundle(grids)
		largest := 0
		for _, b := range bundles {
			if len(b.grids) > 1 {
				largest = max(largest, b.size())
			}
		}
		if len(bundles) >= len(grids)/20 || len(bundles) < 4 || largest > mostPieces {
			t.Errorf("%d levels: %d bundles of %d grids, of up to %d pieces", levels, len(bundles), len(grids), largest)
		}
	}
}
