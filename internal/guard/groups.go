// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/deepcopy"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard/internal/inside"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Groups are the distinct rows of public columns, and the number of rows in each. Their Counts are nil
// unless the label is public, too.
type Groups struct {
	engine.Groups
	Rows   []float64 // by group: number, or weight, of rows of any label
	of     reading
	counts inside.Sealed[[][]uint64] // by class, then group; sealed if the label is protected
	open   bool                      // the counts of classes are public
}

// DistinctRows are the distinct rows of some columns: see engine.Groups.
type DistinctRows = engine.Groups

// Groups counts the rows that agree in all of cols, which must be public. It takes one pass.
func (g *Guard) Groups(cols []int) (*Groups, error) {
	cols = slices.Clone(cols)
	if err := feature.CheckColumns(g.schema(), cols); err != nil {
		return nil, err
	}
	for _, j := range cols {
		if g.private && g.protects.column(j) {
			return nil, fmt.Errorf("guard: rows can be grouped by public columns only")
		}
	}
	if g.private && g.protects.all {
		return nil, fmt.Errorf("guard: rows can be grouped if their number is public only")
	}
	if err := g.refuseRemote("groups of rows"); err != nil {
		return nil, err
	}
	r := g.read()
	all, err := r.table().Groups(g.context(), cols)
	if err != nil {
		return nil, err
	}
	out := &Groups{Rows: make([]float64, all.Len), of: r, counts: inside.Seal(all.Counts), open: !g.private || !g.protects.label}
	shown := *all
	if !out.open {
		shown.Counts = nil
	}
	out.Groups = deepcopy.Of(shown)
	units := float64(r.units)
	for _, counts := range all.Counts {
		for i, n := range counts {
			out.Rows[i] += float64(n) / units
		}
	}
	return out, nil
}

// groups is their number; who holds Groups may write to Len.
func (gr *Groups) groups() int { return len(gr.counts()[0]) }

// Classes returns the number, or weight, of rows of each class in each group. The label must be
// public.
func (gr *Groups) Classes() ([][]float64, error) {
	if !gr.open {
		return nil, fmt.Errorf("guard: rows by class must be measured, since the label is protected")
	}
	units := 1 / float64(gr.of.units)
	out := make([][]float64, len(gr.counts()))
	for class, counts := range gr.counts() {
		out[class] = make([]float64, len(counts))
		for i, n := range counts {
			out[class][i] = float64(n) * units
		}
	}
	return out, nil
}

// ClassBins returns the rows of one class by bin, for each of some partitions of the groups: bins[q]
// holds the bin of each group, in a partition of sizes[q] bins. Groups with other numbers are not
// counted. A neighbour changes the label of one row, and so one bin of each partition by 1.
func (gr *Groups) ClassBins(class int, bins [][]uint32, sizes []int) *Sum {
	bins, sizes = deepcopy.Of(bins), slices.Clone(sizes)
	var rows []int64
	for q, of := range bins {
		first := len(rows)
		rows = append(rows, make([]int64, sizes[q])...)
		for i, b := range of {
			if int(b) < sizes[q] { // else it would be counted in another partition, too
				rows[first+int(b)] += int64(gr.counts()[class][i])
			}
		}
	}
	parts := float64(len(bins))
	return gr.of.sum(ratios(rows, gr.of.units), Toggled(parts, math.Sqrt(parts)).Times(gr.of.most), gr.open)
}

// ClassVectors adds up vectors of the rows of one class, each of Euclidean length at most 1. It is safe
// for concurrent use.
type ClassVectors struct {
	of    Groups // a copy: a learner may write other groups over its own
	class int
	one   int64 // units of a number

	mu    sync.Mutex
	sum   inside.Sealed[[]int64]
	units []int64 // of the last vector
	seen  []bool  // by group
}

// ClassVectors begins the sum of the vectors of the rows of one class, of so many numbers. A number has
// 20 bits, or fewer where so many rows could overflow (1.7).
func (gr *Groups) ClassVectors(class, size int) *ClassVectors {
	total := uint64(0)
	for _, counts := range gr.counts() { // rows of any class, whose number in each group is public
		for _, n := range counts {
			total += n
		}
	}
	one := int64(1) << min(vectorBits, sumBits-bits.Len64(total))
	return &ClassVectors{of: *gr, class: class, one: one, sum: inside.Seal(make([]int64, size)), units: make([]int64, size),
		seen: make([]bool, gr.groups())}
}

const (
	vectorBits = 20 // of a number of a vector
	sumBits    = 62 // of any sum
)

// Add adds the vector of the rows of a group. Numbers are truncated towards zero. A vector that is
// still longer than 1, and one of a group that has a vector, are not counted.
func (v *ClassVectors) Add(group int, vector []float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	length := int64(0)
	for i, x := range vector[:len(v.units)] {
		cut := x * float64(v.one)
		if !(math.Abs(cut) <= float64(v.one)) { // or not a number
			return
		}
		v.units[i] = int64(cut)
		if length += v.units[i] * v.units[i]; length > v.one*v.one {
			return
		}
	}
	if v.seen[group] {
		return
	}
	v.seen[group] = true
	rows, sum := int64(v.of.counts()[v.class][group]), v.sum()
	for i, x := range v.units {
		sum[i] += rows * x
	}
}

// Sum is the sum so far.
func (v *ClassVectors) Sum() *Sum {
	v.mu.Lock()
	defer v.mu.Unlock()
	r := v.of.of
	return r.sum(ratios(v.sum(), v.one*r.units), Toggled(math.Inf(1), 1).Times(r.most), v.of.open)
}

// FeatureBits is the number of fractional bits of a feature in ClassMeans.
const FeatureBits = 24

// ClassMeans adds up features of rows by class. It is safe for concurrent use.
type ClassMeans struct {
	of      Groups // a copy, as in ClassVectors
	classes []int
	size    int

	mu             sync.Mutex
	sum            inside.Sealed[[]int64]
	sizes, squares []float64 // by group, of its features
	next           []int     // by group
}

// ClassMeans begins the means over all rows of the features of the rows of some different classes, so
// many for each class.
func (gr *Groups) ClassMeans(classes []int, size int) (*ClassMeans, error) {
	if gr.of.Units() < 1 || gr.of.weighed() || gr.of.relation() != dp.ReplaceOne && gr.of.private {
		return nil, fmt.Errorf("guard: means need a public number of rows that count once")
	}
	classes = slices.Clone(classes)
	if different := slices.Compact(slices.Sorted(slices.Values(classes))); len(different) < len(classes) {
		return nil, fmt.Errorf("guard: means must be of different classes")
	}
	n := gr.groups()
	return &ClassMeans{of: *gr, classes: classes, size: size, sum: inside.Seal(make([]int64, len(classes)*size)),
		sizes: make([]float64, n), squares: make([]float64, n), next: make([]int, n)}, nil
}

// Add adds a feature of the rows of a group, of size at most 1. The features of a group are added in
// order; others are not counted.
func (m *ClassMeans) Add(group, feature int, x float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if feature < m.next[group] || feature >= m.size || !(math.Abs(x) <= 1) {
		return
	}
	m.next[group] = feature + 1
	q := math.RoundToEven(math.Ldexp(x, FeatureBits))
	m.sizes[group] += math.Abs(q)
	m.squares[group] += q * q
	for k, class := range m.classes {
		m.sum()[k*m.size+feature] += int64(q) * int64(m.of.counts()[class][group])
	}
}

// Sum is the means so far. A neighbour changes the label of one row, and so the mean of one or two
// classes, by at most the longest of the groups' feature vectors.
func (m *ClassMeans) Sum() *Sum {
	m.mu.Lock()
	defer m.mu.Unlock()
	l1, l2 := 0.0, 0.0
	for i := range m.sizes { // over rows that occur, whatever their labels
		l1, l2 = max(l1, m.sizes[i]), max(l2, math.Sqrt(m.squares[i]))
	}
	if len(m.classes) > 1 { // the row leaves one class for another
		l1, l2 = 2*l1, l2*(math.Sqrt2*(1+0x1p-50))
	}
	n := m.of.of.Units()
	mean := func(units float64) float64 { // the factor is past the rounding of a few operations
		return math.Ldexp(units, -FeatureBits) / float64(n) * (1 + 0x1p-39)
	}
	return m.of.of.sum(ratios(m.sum(), int64(n)<<FeatureBits), Toggled(mean(l1), mean(l2)), m.of.open)
}
