// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const gridRows = 9000 // several blocks

// gridTable is rows of two columns and a label of so many levels.
func gridTable(levels int) (cols []column.Column, labels []uint8, a, b []uint32) {
	r := rand.New(rand.NewPCG(2, uint64(levels)))
	a, b, labels = make([]uint32, gridRows), make([]uint32, gridRows), make([]uint8, gridRows)
	for i := range labels {
		a[i], b[i], labels[i] = uint32(r.IntN(3)), uint32(r.IntN(5)), uint8(r.IntN(levels))
	}
	return []column.Column{{Codes: column.Narrow(a, 3)}, {Codes: column.Narrow(b, 5)}}, labels, a, b
}

// slopesOf adds up all rows in one run, labels of so many classes, and returns the adder.
func slopesOf(of GridSlopes, cols []column.Column, labels []uint8, classes int) (*gridAdder, []GridSums) {
	s := &schema.Schema{Label: schema.Label{Levels: make([]schema.Level, classes), Positive: 1}}
	run := &engine.Run{View: engine.NewView(s, engine.WholeLabel), Cols: cols, Labels: labels,
		Scores: make([]int32, len(labels)*len(of.Under.Start))}
	of.Under.Scorer(run, 0)()
	a := of.Adder(run).(*gridAdder)
	a.Add()
	n, err := of.Size(run.View)
	if err != nil {
		panic(err)
	}
	all := make([]int64, n)
	a.AddTo(all)
	var sums []GridSums
	for k := range of.Grids {
		var one GridSums
		one, all = of.cutSums(all, &of.Grids[k])
		sums = append(sums, one)
	}
	return a, sums
}

func identity(n int) (of []uint32) {
	for i := range n {
		of = append(of, uint32(i))
	}
	return of
}

// The slopes of a cell add up its rows' derivatives of the log-likelihood, by
// central differences and shortened to 1; a coarser grid adds up the same.
func TestGridSlopesAreDerivatives(t *testing.T) {
	for _, levels := range []int{2, 4} {
		cols, labels, a, b := gridTable(levels)
		width := levels
		if levels == 2 {
			width = 1
		}
		start, steps := make([]float64, width), make([]float64, 15*width)
		for k := range start {
			start[k] = 0.3 * float64(k+1)
		}
		for i := range steps {
			steps[i] = math.Round(1e3*math.Sin(float64(3*i))) / 1e3
		}
		g := feature.Grid{Axes: []feature.Bins{feature.NewGroups(0, identity(3), 3), feature.NewGroups(1, identity(5), 5)}}
		f := NewStepScore(start)
		f.AddGrid(g, steps)
		of := GridSlopes{Under: f, Limit: SlopeLimit{Most: 1, Norm: SlopesL2}, Grids: []feature.Grid{{Axes: g.Axes[1:]}, g}}
		_, sums := slopesOf(of, cols, labels, levels)
		want := make([]float64, len(steps))
		for i, y := range labels {
			c := int(a[i] + 3*b[i])
			z := make([]float64, width)
			for k := range z {
				z[k] = start[k] + steps[c*width+k]
			}
			slope, length := make([]float64, width), 0.0
			for k := range z {
				const h = 1e-4
				z[k] += h
				slope[k] = likelihood(z, y)
				z[k] -= 2 * h
				slope[k] = (slope[k] - likelihood(z, y)) / (2 * h)
				z[k] += h
				length = math.Hypot(length, slope[k])
			}
			for k := range z {
				want[c*width+k] += slope[k] / math.Max(1, length)
			}
		}
		for i := range want {
			if got := float64(sums[1].Slopes[i]) / engine.WeightOne; math.Abs(got-want[i]) > 1e-2 {
				t.Errorf("%d levels, number %d: slopes add up to %g, by differences %g", levels, i, got, want[i])
			}
		}
		for bin := range 5 { // a coarser grid adds up the finer one's cells
			for k := range width {
				fine := int64(0)
				for x := range 3 {
					fine += sums[1].Slopes[(x+3*bin)*width+k]
				}
				if fine != sums[0].Slopes[bin*width+k] {
					t.Errorf("%d levels, bin %d: %d, its cells add up to %d", levels, bin, sums[0].Slopes[bin*width+k], fine)
				}
			}
		}
	}
}

// likelihood is the logarithm of the probability of label y at scores z.
func likelihood(z []float64, y uint8) float64 {
	if len(z) == 1 {
		if y == 1 {
			return -math.Log1p(math.Exp(-z[0]))
		}
		return -math.Log1p(math.Exp(z[0]))
	}
	all := 0.0
	for _, x := range z {
		all += math.Exp(x)
	}
	return z[y] - math.Log(all)
}

// No row's slopes are longer than they may be, by either norm, and no curve is
// larger than 1; a row that is as wrong as can be reaches the bound. Shortening
// keeps the direction.
func TestGridSlopesAreShortened(t *testing.T) {
	for _, levels := range []int{2, 5} {
		for _, norm := range []SlopeNorm{SlopesL1, SlopesL2} {
			for _, most := range []float64{1, 0.6, 0.01} {
				width := levels
				if levels == 2 {
					width = 1
				}
				longest := 0.0
				for _, z := range []float64{0, 0.5, 3, 40, 900, -900} {
					start := make([]float64, width)
					start[0] = z
					labels := identityLabels(levels)
					of := GridSlopes{Under: NewStepScore(start), Limit: SlopeLimit{most, norm},
						Grids: []feature.Grid{{Axes: []feature.Bins{feature.NewGroups(0, identity(2), 2)}}}}
					s, _ := slopesOf(of, []column.Column{{Codes: column.Narrow(make([]uint32, levels), 2)}}, labels, levels)
					for i := range labels {
						l1, l2 := 0.0, 0.0
						for k, x := range s.slope[i*width:][:width] {
							f := float64(x) / engine.WeightOne
							l1, l2 = l1+math.Abs(f), l2+f*f
							if own := width > 1 && k == int(labels[i]); own && x < 0 || width > 1 && !own && x > 0 {
								t.Errorf("%d levels, row %d: slope %d points the wrong way", levels, i, k)
							}
						}
						length := math.Sqrt(l2)
						if norm == SlopesL1 {
							length = l1
						}
						if !(length <= most) || s.curve[i] > engine.WeightOne {
							t.Errorf("%d levels, score %g: slopes %g long, bound %g; curve %d", levels, z, length, most, s.curve[i])
						}
						longest = math.Max(longest, length)
					}
				}
				if longest < 0.99*most {
					t.Errorf("%d levels: the longest slopes are %g, the bound %g is never reached", levels, longest, most)
				}
			}
		}
	}
}

func identityLabels(levels int) (out []uint8) {
	for k := range levels {
		out = append(out, uint8(k))
	}
	return out
}
