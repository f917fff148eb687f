// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"cmp"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
)

// bits are rows of d binary attributes with one of two classes.
type bits struct {
	d  int
	is []uint8 // rows×d, 0 or 1
	y  []uint8
}

// bitsAbove says which numbers of each row exceed 0, the declared cut.
func bitsAbove(l labelled) bits {
	b := bits{l.Dim(), make([]uint8, l.Len()*l.Dim()), l.y}
	row := make([]float64, l.Dim())
	for i := range l.Len() {
		l.Row(i, row)
		for j, x := range row {
			if x > 0 {
				b.is[i*b.d+j] = 1
			}
		}
	}
	return b
}

// crossDifferences writes, for each attribute, (s00 - s01) and (s10 - s11) of the
// given rows to out, of length 2d: weights of class 0 less those of class 1
// where the attribute is 0, then where it is 1 (section 3.5.3).
func (b bits) crossDifferences(rows []int, weight, out []float64) {
	clear(out)
	for _, i := range rows {
		w := weight[i]
		if b.y[i] == 1 {
			w = -w
		}
		for j, v := range b.is[i*b.d : (i+1)*b.d] {
			out[int(v)*b.d+j] += w
		}
	}
}

// splitGains are equation 5's for each attribute.
func splitGains(differences []float64) []float64 {
	d := len(differences) / 2
	out := make([]float64, d)
	for j := range out {
		out[j] = math.Abs(differences[j]) + math.Abs(differences[d+j])
	}
	return out
}

// rankAttributes lists attributes by falling gain, the first of equal ones first.
func rankAttributes(gain []float64) []int {
	out := upTo(len(gain))
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(gain[b], gain[a]) })
	return out
}

// reportedShares are what owners report, one owner a row: their differences per row
// held, over the largest weight sent, so that all lie in [-1, 1]. Weights have
// a mean of 1; an owner whose own mean exceeds most is clamped.
func (b bits) reportedShares(order []int, owners int, weight []float64, most float64) matrix {
	out := matrix{2 * b.d, make([]float32, owners*2*b.d)}
	n := len(order) / owners
	eachInParallel(owners, func(l int) {
		own := make([]float64, 2*b.d)
		b.crossDifferences(order[l*n:(l+1)*n], weight, own)
		for j, v := range own {
			out.cells[l*2*b.d+j] = float32(v / float64(n) / most)
		}
	})
	return out
}

// stump asks for one attribute.
type stump struct {
	attribute int
	leaf      [2]uint8 // the class if it is 0, and if it is 1
}

func (s stump) predictRows(b bits) []uint8 {
	out := make([]uint8, len(b.y))
	for i := range out {
		out[i] = s.leaf[b.is[i*b.d+s.attribute]]
	}
	return out
}

// exactStump is that of all given rows without perturbation: class 1 if its
// weights exceed those of class 0.
func (b bits) exactStump(rows []int, weight []float64) stump {
	all := make([]float64, 2*b.d)
	b.crossDifferences(rows, weight, all)
	s := stump{attribute: feature.ArgMax(splitGains(all))}
	for v := range s.leaf {
		if all[v*b.d+s.attribute] < 0 {
			s.leaf[v] = 1
		}
	}
	return s
}

// impurities are the measures that section 3.5.3 names beside the error, of a leaf whose rows of
// the two classes weigh a and b.
var impurities = []struct {
	series, long string
	of           func(a, b float64) float64
}{
	{"gini", "Gini index", func(a, b float64) float64 { return 2 * a * b / (a + b) }},
	{"information", "information gain", func(a, b float64) float64 { return -a*math.Log(a/(a+b)) - b*math.Log(b/(a+b)) }},
}

// purestStump is exactStump with another impurity in place of the error.
func (b bits) purestStump(rows []int, weight []float64, impurity func(a, b float64) float64) stump {
	difference, total := make([]float64, 2*b.d), make([]float64, 2*b.d)
	b.crossDifferences(rows, weight, difference)
	same := bits{b.d, b.is, make([]uint8, len(b.y))}
	same.crossDifferences(rows, weight, total) // of rows of one class: sums
	purity := make([]float64, b.d)
	for k, all := range total {
		if one, other := (all+difference[k])/2, (all-difference[k])/2; one > 0 && other > 0 {
			purity[k%b.d] -= impurity(one, other)
		}
	}
	s := stump{attribute: feature.ArgMax(purity)}
	for v := range s.leaf {
		if difference[v*b.d+s.attribute] < 0 {
			s.leaf[v] = 1
		}
	}
	return s
}

// printedStump is section 3.5.3: the attribute from perturbed shares; each
// owner then says in clear which class has the most weight in each branch, and
// the answer more owners give is the leaf. Owners without rows in a branch say
// nothing about it.
func (b bits) printedStump(order []int, owners int, weight []float64, most float64, m continuous.Mechanism,
	src rng.Source) stump {
	sent := b.reportedShares(order, owners, weight, most)
	s := stump{attribute: feature.ArgMax(splitGains(m.Sum(sent, 0, owners, src)))}
	for v := range s.leaf {
		ones := 0
		for l := range owners {
			switch d := sent.cells[l*2*b.d+v*b.d+s.attribute]; {
			case d < 0:
				ones++
			case d > 0:
				ones--
			}
		}
		if ones > 0 {
			s.leaf[v] = 1
		}
	}
	return s
}
