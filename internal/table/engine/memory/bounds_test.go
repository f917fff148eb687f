// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/solver"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// totals are the numbers of all answers about a table, by question and place.
type totals map[string]*big.Int

func (a totals) add(name string, x *big.Int) {
	if a[name] == nil {
		a[name] = new(big.Int)
	}
	a[name].Add(a[name], x)
}

func addAll[N int64 | uint64](a totals, name string, numbers []N) {
	for i, n := range numbers {
		x := big.NewInt(int64(n))
		if n > 0 {
			x.SetUint64(uint64(n))
		}
		a.add(fmt.Sprint(name, " ", i), x)
	}
}

func (a totals) addWide(name string, numbers []engine.Wide) {
	for i, w := range numbers {
		x := new(big.Int).Lsh(big.NewInt(w.High), 64)
		a.add(fmt.Sprint(name, " ", i), x.Add(x, new(big.Int).SetUint64(w.Low)))
	}
}

// addAnswers adds the answer to every question that adds up over rows. Of rows that weigh less than
// one, those about weights alone.
func (a totals) addAnswers(t *testing.T, m *Table, weighed bool) {
	t.Helper()
	ctx, must := t.Context(), func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	s := m.whole
	bins := []feature.Bins{feature.NewBins(s, 0, []float64{0, 2}), feature.NewBins(s, 1, nil), feature.NewBins(s, 4, nil)}
	bins = append(bins, feature.Cross(bins[0], bins[1]))
	f := &feature.Additive{Intercept: -0.5}
	for k, b := range bins {
		sh := feature.Shape{Bins: b, Steps: make([]float64, b.Len())}
		for i := range sh.Steps {
			sh.Steps[i] = math.Sin(float64(7*k + 3*i))
		}
		f.Shapes = append(f.Shapes, sh)
	}
	for name, score := range map[string]*feature.Additive{"unscored": nil, "scored": f} {
		cells, err := statistic.Cells{Under: score, Bins: bins, Caps: statistic.FullCaps}.Of(ctx, m)
		must(err)
		for k := range cells {
			addAll(a, fmt.Sprint(name, k, "+"), cells[k].Positive)
			addAll(a, fmt.Sprint(name, k, "-"), cells[k].Negative)
		}
	}
	classes, err := statistic.ClassCells{Bins: bins[:3]}.Of(ctx, m)
	must(err)
	for k := range classes {
		for label := range classes[k] {
			addAll(a, fmt.Sprint("classes", k, label), classes[k][label])
		}
	}
	// Keys of 14 bits, of two fields of 9, of more than 32, and of two words.
	for _, cols := range [][]int{{0, 1, 4}, {4, 4}, {4, 3, 4, 4, 4}, slices.Repeat([]int{4, 1}, 7)} {
		g, err := m.Groups(ctx, cols)
		must(err)
		for i := range g.Len {
			name := fmt.Sprint("group", len(cols))
			for _, j := range cols {
				name += fmt.Sprint(" ", g.Cols[j].Codes.At(i))
			}
			addAll(a, name, []uint64{g.Counts[0][i], g.Counts[1][i]})
		}
	}
	score := statistic.NewStepScore([]float64{0.5, -0.25})
	score.AddShape(&feature.LevelShape{Bins: bins[1], Steps: [][]float64{make([]float64, bins[1].Len()),
		slices.Repeat([]float64{1. / 3}, bins[1].Len())}}, 1)
	rest, err := statistic.ClassResiduals{Under: score, Bins: bins[2]}.Of(ctx, m)
	must(err)
	steps := make([]float64, bins[2].Len())
	for i := range steps {
		steps[i] = math.Cos(float64(i))
	}
	slope, err := statistic.ClassSlope{Under: score, Along: &feature.LevelShape{Bins: bins[2], Steps: [][]float64{steps, make([]float64, len(steps))}}, Most: 0.5}.Of(ctx, m)
	must(err)
	addAll(a, "slope", []int64{slope.Gain, slope.HalfCurve})
	for label := range rest {
		addAll(a, fmt.Sprint("residuals", label), rest[label])
	}
	if weighed {
		return
	}
	grid := statistic.NewStepScore([]float64{0.25})
	grids := []feature.Grid{{Axes: bins[:2]}, {Axes: bins[2:3]}}
	slopes, err := statistic.GridSlopes{Under: grid, Limit: statistic.SlopeLimit{Most: 1, Norm: statistic.SlopesL2}, Grids: grids}.Of(ctx, m)
	must(err)
	for k := range slopes {
		addAll(a, fmt.Sprint("slopes", k), slopes[k].Slopes)
		addAll(a, fmt.Sprint("curves", k), slopes[k].Curves)
	}
	// The second space has so few features that most rows are equal.
	for k, cols := range [][]int{{4, 0, 1, 3}, {3}} {
		sp, err := feature.NewSpace(s, feature.OneHot, cols)
		must(err)
		for _, n := range []int{18, 31, 65} {
			p, err := m.Mistakes(ctx, sp, thresholds(uint64(n), sp, n))
			must(err)
			for i, times := range p.Count {
				addAll(a, fmt.Sprint("mistakes", n, cols, p.Bits[i*p.Words:][:p.Words]), []uint64{times})
			}
		}
		coef := append(slices.Clone(thresholds(1, sp, 1)[0].Coef), 0.25)
		q := &engine.LossQuestion{Space: sp, Rows: engine.Rows{Scale: 0.9, Norm: 1}, Coef: coef, Value: true, Hess: k == 1}
		sums, err := solver.Losses(*q).Of(ctx, m)
		must(err)
		a.add(fmt.Sprint("rows", cols), new(big.Int).SetUint64(sums.Rows))
		a.addWide(fmt.Sprint("loss", cols), []engine.Wide{sums.Whole, sums.Part})
		a.addWide(fmt.Sprint("gradient", cols), sums.Grad)
		a.addWide(fmt.Sprint("hessian", cols), sums.Hess)
		right, err := solver.Right{Space: sp, Coef: coef, Cuts: engine.Cuts{First: -1, Step: 0.25, Count: 9}}.Of(ctx, m)
		must(err)
		addAll(a, fmt.Sprint("right", cols), right)
		laid, err := m.Margins(ctx, sp, q.Rows)
		must(err)
		own, err := laid.Sums(ctx, q.Loss, coef, q.Hess)
		must(err)
		asked := sums.Floats(q, engine.UnitsOf(sp, q.Loss, q.Rows, 1))
		for f, x := range asked.Grad {
			if math.Abs(own.Grad[f]-x) > 1e-9*float64(m.Rows()) {
				t.Errorf("%d rows, %v: laid out the gradient %d is %g, want %g", m.Rows(), cols, f, own.Grad[f], x)
			}
		}
		for f, x := range asked.Hess {
			if math.Abs(own.Hess[f]-x) > 1e-9*float64(m.Rows()) {
				t.Errorf("%d rows, %v: laid out the Hessian %d is %g, want %g", m.Rows(), cols, f, own.Hess[f], x)
			}
		}
	}
}

// Answers about many rows are the sums of those about a few at a time, which twins check row by
// row: on either side of every size at which rows are cut into pieces, and of two that come in no
// code.
func TestAnswersAddUpBeyondEverySize(t *testing.T) {
	sizes := []int{runRows - 1, runRows, runRows + 1, chunkRows - 1, chunkRows, chunkRows + 1, 5001, 1<<15 - 1, 1 << 15,
		1<<15 + 1, 1<<16 + 1, 150_001}
	sizes = sizes[:size.Of(7, len(sizes))]
	all := personTable(11, sizes[len(sizes)-1], 40_000)
	plain := *all
	s := *all.Schema
	s.Person = nil
	plain.Schema, plain.Persons = &s, nil
	for i := range all.Persons {
		if i%100 == 0 {
			all.Persons[i] = 1 // who has more rows than any other by far
		}
	}
	var counts PersonCounts
	counts.Add(all.Persons)
	weights := counts.Weights(3)
	for _, weighed := range []bool{false, true} {
		open := func(from, to int) *Table {
			rows := make([]int, to-from)
			for i := range rows {
				rows[i] = from + i
			}
			if weighed {
				return NewWeighed(all.Subset(rows), weights)
			}
			return open(t, plain.Subset(rows))
		}
		sum, from := totals{}, 0
		for _, n := range sizes {
			whole, few := totals{}, 500 // below every size of a piece
			if n > 5001 {
				few = 5000 // which is checked by then
			}
			for ; from+few <= n; from += few {
				sum.addAnswers(t, open(from, from+few), weighed)
			}
			for name, x := range sum {
				whole.add(name, x)
			}
			if from < n {
				whole.addAnswers(t, open(from, n), weighed)
			}
			got := totals{}
			got.addAnswers(t, open(0, n), weighed)
			if len(got) != len(whole) {
				t.Errorf("%d rows, weighed %v: %d numbers, a few rows at a time %d", n, weighed, len(got), len(whole))
			}
			for name, x := range whole {
				if got[name] == nil || got[name].Cmp(x) != 0 {
					t.Fatalf("%d rows, weighed %v: %s is %d, a few rows at a time %d", n, weighed, name, got[name], x)
				}
			}
		}
	}
}

// Keys of every length about those at which a table counts otherwise: with a slot for each key, in
// words of 32 bits, in one or two words.
func TestGroupsOfEveryLengthOfKey(t *testing.T) {
	widths := []struct{ col, bits int }{{4, 9}, {0, 3}, {1, 2}, {3, 1}}
	for _, bits := range []int{1, 2, 16, 17, 18, 19, 30, shortBits - 1, shortBits, shortBits + 1, 34, 62, wordBits - 1, wordBits, 126, 127, 128, 129, 192} {
		var cols []int
		for left := bits; left > 0; {
			for _, w := range widths {
				if w.bits <= left {
					cols, left = append(cols, w.col), left-w.bits
					break
				}
			}
		}
		for _, rows := range []int{300, 1<<16 - 1, 1 << 16} { // from where on 18 bits have a slot each
			if rows > 300 && (bits < 17 || bits > 33) {
				continue
			}
			tab := random(uint64(bits), rows)
			m := open(t, tab)
			g, err := m.Groups(t.Context(), cols)
			if err != nil {
				t.Fatal(err)
			}
			key := func(of []column.Column, i int) (k [4]uint32) {
				for _, j := range cols {
					k[slices.Index([]int{4, 0, 1, 3}, j)] = of[j].Codes.At(i)
				}
				return k
			}
			want, got := map[[4]uint32][2]uint64{}, map[[4]uint32][2]uint64{}
			for i := range tab.Rows {
				k := key(tab.Cols, i)
				n := want[k]
				n[tab.Labels[i]]++
				want[k] = n
			}
			for i := range g.Len {
				got[key(g.Cols, i)] = [2]uint64{g.Counts[0][i], g.Counts[1][i]}
			}
			if len(got) != g.Len || !maps.Equal(got, want) {
				t.Errorf("%d bits, %d rows: %d groups, want %d", bits, rows, g.Len, len(want))
			}
		}
	}
}

// Tables of keys count like a map about every size at which they grow or look ahead, and list keys
// whose bits lie about the digits that they sort by in their order.
func TestTablesOfKeysAtEverySize(t *testing.T) {
	for _, n := range []int{1, ahead - 1, ahead, ahead + 1, 2*ahead - 1, 2 * ahead, 2*ahead + 1, 510, 511, 512, 513, 2047, 2048, 2049, 8191, 8192, 8193, 131_073} {
		for _, bits := range []int{17, 18, packedBits, wordBits, wordBits + 1, 128} {
			if bits < 32 && n > 1<<bits-4 {
				continue
			}
			words, want := (bits+63)/64, map[[2]uint64]uint64{}
			var keys, narrow []uint64
			for i := range n {
				k := [2]uint64{uint64(i) * 0x9e3779b97f4a7c15 >> max(0, 64-bits), 0}
				if at := i % 200; at < 3*min(bits, 64) && i < 200 { // 2^b-1, 2^b and 2^b+1
					k[0] = (1<<(at/3) + uint64(at%3) - 1) & (1<<min(bits, 63) - 1)
				}
				if words == 2 {
					k[1] = uint64(i) & (1<<(bits-64) - 1)
				}
				for range 1 + i%2 {
					keys, narrow = append(keys, k[:words]...), append(narrow, k[0])
					want[k]++
				}
			}
			half := len(narrow) / 2
			tables := []*tally{newTally(bits, 1, 1<<20), newTally(bits, 1, 1<<20)}
			tables[0].addKeys(keys[:half*words], nil)
			tables[1].addKeys(keys[half*words:], nil)
			tables[0].mergeCounts(tables[1])
			got, before := map[[2]uint64]uint64{}, []uint64(nil)
			for _, at := range tables[0].sortedSlots() {
				key := tables[0].keyAt(at)
				if slices.Compare(before, key) >= 0 {
					t.Errorf("%d keys of %d bits: %v before %v", n, bits, before, key)
				}
				var k [2]uint64
				copy(k[:], key)
				got[k], before = tables[0].countsAt(at)[0], key
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d keys of %d bits: %d are counted, want %d", n, bits, len(got), len(want))
			}
			if bits > packedBits {
				continue
			}
			p, q := newPacked(), newPacked()
			p.addKeys(narrow[:half])
			q.addKeys(narrow[half:])
			p.mergeCounts(q)
			sorted, counts := p.sortedCounts()
			clear(got)
			for i, k := range sorted {
				got[[2]uint64{k, 0}] = counts[i]
			}
			if !maps.Equal(got, want) || !slices.IsSorted(sorted) {
				t.Errorf("%d packed keys of %d bits: %d are counted, want %d", n, bits, len(got), len(want))
			}
		}
	}
}

// A count of a packed table reaches 2^32-1, as many rows as it takes, and spoils no other. Those of
// other tables go beyond.
func TestCountsReachTheirBound(t *testing.T) {
	for _, keys := range [][2]uint64{{0, 1}, {1<<packedBits - 2, 1<<packedBits - 1}} {
		p, q := newPacked(), newPacked()
		p.addCount(keys[0], math.MaxUint32-3)
		q.addKeys([]uint64{keys[0], keys[1], keys[0]})
		p.mergeCounts(q)
		p.addKeys([]uint64{keys[0]})
		p.makeRoom(1 << 10)
		if got, counts := p.sortedCounts(); !slices.Equal(got, keys[:]) || !slices.Equal(counts, []uint64{math.MaxUint32, 1}) {
			t.Errorf("keys %d have counts %d", got, counts)
		}
	}
	for _, n := range []uint64{1<<16 - 1, 1 << 16, 1<<16 + 1, 1<<20 + 1} {
		keys := slices.Repeat([]uint64{5}, int(n))
		p, direct, hashed := newPacked(), newTally(8, 1, 1<<20), newTally(40, 1, 1<<20)
		p.addKeys(keys)
		direct.addKeys(keys, nil)
		hashed.addKeys(keys, nil)
		_, counts := p.sortedCounts()
		for _, x := range []*tally{direct, hashed} {
			counts = append(counts, x.countsAt(x.sortedSlots()[0])...)
		}
		if !slices.Equal(counts, []uint64{n, n, n}) {
			t.Errorf("one key %d times is counted %d times", n, counts)
		}
	}
	a, b := newTally(40, 1, 1), newTally(40, 1, 1)
	for _, x := range []*tally{a, b} {
		x.countsAt(x.findSlot(x.hashTag([]uint64{7}), []uint64{7}))[0] = math.MaxUint32
	}
	a.mergeCounts(b)
	if n := a.countsAt(a.sortedSlots()[0])[0]; n != 2*math.MaxUint32 {
		t.Errorf("a key of two tables is counted %d times", n)
	}
}

// Rows of persons are drawn as by a sort of their lots, up to the most rows that a schema may name
// and across pieces of the table; persons are counted about every bound.
func TestPersonsBeyondEverySize(t *testing.T) {
	lots := NewLots(rand.New(rand.NewPCG(3, 4)).Uint64N)
	for _, n := range []int{4095, 4096, 4097, 8193} {
		of := make([]uint32, n)
		for i := range of {
			of[i] = uint32(i * i % 3) // two thirds of the rows are one person's, the rest no one's
		}
		var rows []int
		for i, person := range of {
			if person != dataset.Nobody {
				rows = append(rows, i)
			}
		}
		lot := lots.between(0, n)
		slices.SortFunc(rows, func(a, b int) int { return cmp.Compare(lot[a], lot[b]) })
		for _, most := range []int{63, 64, 65, 255, 256, 257, 1023, 1024, len(rows) + 1} {
			var want []int
			for k := range most {
				want = append(want, rows[k%len(rows)])
			}
			slices.Sort(want)
			d := NewDrawing(most, true)
			d.Add(&lots, 0, of)
			if !slices.Equal(d.Rows(), want) {
				t.Errorf("%d rows of %d: other rows than the twin's", most, len(rows))
			}
		}
	}
	for _, persons := range []int{254, 255, 256, 65_535, 65_536, 65_537} {
		c := make(PersonCounts, persons+1)
		want := 0
		for i := range c {
			if c[i] = uint32(i) % 3; i%1000 == 999 {
				c[i] = math.MaxUint32
			}
			if i > 0 && c[i] > 0 {
				want++
			}
		}
		if c.Count() != want {
			t.Errorf("%d persons: %d of them have rows, want %d", persons, c.Count(), want)
		}
	}
}

// Equal rows that are laid out as one, or as a few if they are very many, count as often as they
// occur.
func TestEqualRowsCountAsOftenAsTheyOccur(t *testing.T) {
	for _, n := range []int{1<<15 - 1, 1 << 15, 1<<15 + 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 3<<15 + 1} {
		tab := random(1, n)
		clear(tab.Labels)
		tab.Cols[3].Codes = column.Narrow(make([]uint32, n), 2)
		m := open(t, tab)
		sp, err := feature.NewSpace(tab.Schema, feature.OneHot, []int{3})
		if err != nil {
			t.Fatal(err)
		}
		r, coef := engine.Rows{Scale: 0.5, Norm: 1}, slices.Repeat([]float64{0.25}, sp.Width()+1)
		want, err := solver.Losses{Space: sp, Rows: r, Coef: coef, Value: true, Hess: true}.Floats(t.Context(), m)
		if err != nil {
			t.Fatal(err)
		}
		laid, err := m.Margins(t.Context(), sp, r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := laid.Sums(t.Context(), engine.Loss{}, coef, true)
		if err != nil {
			t.Fatal(err)
		}
		d := len(coef)
		bound := -1 / (1 + math.Exp(0.25)) * 0.5 * float64(n) // slope of one row at its score, times the scale
		if g := got.Grad[d-1]; !slices.Equal(got.Grad, want.Grad) || math.Abs(g-bound) > 1e-9*float64(n) ||
			!slices.Equal(got.Hess, want.Hess) {
			t.Errorf("%d equal rows have the slopes %v and curves %v, want %v and %v, the last %g", n, got.Grad, got.Hess,
				want.Grad, want.Hess, bound)
		}
	}
}
