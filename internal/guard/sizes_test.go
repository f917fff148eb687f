// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// alike is a table of so many equal rows for each person, or of equal rows without persons.
func alike(relation dp.Relation, persons bool, rows ...int) *dataset.Table {
	level := func(names ...string) (out []schema.Level) {
		for _, n := range names {
			out = append(out, schema.Level{Value: n})
		}
		return out
	}
	s := &schema.Schema{Name: "alike", Unit: "one row", Relation: relation,
		Columns: []schema.Column{{Name: "c", Role: schema.Private, Kind: schema.Category, Levels: level("x", "y")}},
		Label:   schema.Label{Name: "l", Role: schema.Private, Levels: level("no", "yes"), Positive: 1}}
	t := &dataset.Table{Schema: s}
	for person, n := range rows {
		t.Rows += n
		for range n {
			t.Persons = append(t.Persons, uint32(person+1))
		}
	}
	if persons {
		s.Person = &schema.Person{Column: "p", Rows: 1}
	} else {
		t.Persons = nil
	}
	t.Labels = make([]uint8, t.Rows)
	t.Cols = []column.Column{{Codes: column.Narrow(make([]uint32, t.Rows), s.Columns[0].Codes())}}
	return t
}

// passed returns what leaves if so many joined counts of a table's rows are measured. A person counts
// for most rows.
func passed(t *testing.T, tab *dataset.Table, share guard.Share, most, vectors int) mechtest.Passage {
	t.Helper()
	tape := &mechtest.Recorder{}
	price := dp.Price{Epsilon: share.Epsilon}
	if share.Rho > 0 {
		price = dp.Price{Epsilon: 100 * dp.Nano, Delta: dp.Femto / 100}
	}
	g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, price, share.Line("counts")), learntest.Engine(t, tab), guard.Uncounted{},
		mech.NewTapedExit(replay.Seeded(1, "sizes"), tape))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.WeighPersons(most); err != nil {
		t.Fatal(err)
	}
	cells, err := g.ClassCells(slices.Repeat([]feature.Bins{feature.NewBins(tab.Schema, 0, nil)}, vectors))
	if err != nil {
		t.Fatal(err)
	}
	sums := make([]*guard.Sum, vectors)
	for i := range sums {
		sums[i] = cells.Rows(i)
	}
	sum := sums[0]
	if vectors > 1 {
		if sum, err = g.Join(sums...); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := g.Measure("counts", share, sum); err != nil {
		t.Fatal(err)
	}
	return tape.Passages[0]
}

// sizesTo are all numbers up to 9, and those about each power of two up to 2^last.
func sizesTo(last int) (out []int) {
	for n := 1; n < 10; n++ {
		out = append(out, n)
	}
	for k := 4; k <= last; k++ {
		out = append(out, 1<<k-1, 1<<k, 1<<k+1)
	}
	return out
}

// A row moves each of joined counts, however many they are, and the noise is for all of them.
func TestJoinedCountsAreSizedForEach(t *testing.T) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, persons := range []bool{false, true} {
			for _, share := range []guard.Share{{Epsilon: dp.Nano}, {Rho: 1_000_000_000}} {
				for _, n := range sizesTo(size.Of(9, 14)) {
					for _, most := range []int{1, 3} {
						if most > 1 && !persons {
							continue
						}
						whole, moves := alike(relation, persons, 4, 2), float64(most*n)
						p := passed(t, whole, share, most, n)
						if relation == dp.ReplaceOne {
							moves *= 2
						}
						if share.Rho > 0 {
							moves = float64(most) * math.Sqrt(moves/float64(most))
						}
						what := fmt.Sprintf("%s, persons %t, of %d rows, %s, %d counts", relation, persons, most, share, n)
						if p.Bound < moves || p.Bound > moves*(1+1e-12) {
							t.Fatalf("%s: the noise is for %g, want %g", what, p.Bound, moves)
						}
						if relation == dp.ReplaceOne {
							continue
						}
						rest := alike(relation, persons, 4, 1)
						if persons {
							rest = alike(relation, persons, 2) // the person of four rows is gone
						}
						if moved := p.Moved(passed(t, rest, share, most, n)); moved != p.Bound && share.Rho == 0 || moved > p.Bound {
							t.Fatalf("%s: a unit moves them by %g, the noise is for %g", what, moved, p.Bound)
						}
					}
				}
			}
		}
	}
}

// A label moves a bin of each of the partitions of public groups, however many they are.
func TestPartitionsAreSizedForEach(t *testing.T) {
	for _, share := range []guard.Share{{Epsilon: dp.Nano}, {Rho: 1_000_000_000}} {
		for _, n := range sizesTo(size.Of(11, 14)) {
			var passages []mechtest.Passage
			for label := range uint8(2) {
				tab := alike(dp.ReplaceOne, false, 3)
				tab.Schema.Columns[0].Role, tab.Labels[1] = schema.Public, label
				tape := &mechtest.Recorder{}
				price := dp.Price{Epsilon: 100 * dp.Nano, Delta: dp.Femto / 100}
				g, err := guard.Open(t.Context(), termsOf(dp.LabelOnly, price, share.Line("counts")), learntest.Engine(t, tab),
					guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "sizes"), tape))
				if err != nil {
					t.Fatal(err)
				}
				groups, err := g.Groups([]int{0})
				if err != nil {
					t.Fatal(err)
				}
				sum := groups.ClassBins(1, slices.Repeat([][]uint32{make([]uint32, groups.Len)}, n), slices.Repeat([]int{1}, n))
				if _, err := g.Measure("counts", share, sum); err != nil {
					t.Fatal(err)
				}
				passages = append(passages, tape.Passages...)
			}
			want := float64(n)
			if share.Rho > 0 {
				want = math.Sqrt(want)
			}
			if p := passages[0]; p.Bound < want || p.Bound > want*(1+1e-12) || math.Abs(p.Moved(passages[1])-want) > 1e-9*want {
				t.Errorf("%d partitions, %s: a label moves them by %g, and the noise is for %g", n, share, p.Moved(passages[1]), p.Bound)
			}
		}
	}
}

// A person counts for as many rows as the guard says, and no more, however many rows there are of one.
func TestPersonsOfAllSizesCountForMost(t *testing.T) {
	share := guard.Share{Epsilon: dp.Nano}
	for _, most := range []int{1, 2, 3, 64, 65, 1 << 16} {
		for _, rows := range sizesTo(size.Of(17, 20)) {
			p := passed(t, alike(dp.AddRemove, true, rows), share, most, 1)
			got, want := p.Values[0].Float(), float64(min(rows, most))
			if got > want || got < want-float64(rows)/guard.WeightOne || want > p.Bound {
				t.Errorf("%d rows of a person who counts for %d weigh %g, and the noise is for %g", rows, most, got, p.Bound)
			}
		}
	}
}

// Each person of a bin counts, however many persons are in it.
func TestBinsOfManyPersonsCountEach(t *testing.T) {
	for _, persons := range sizesTo(size.Of(16, 20)) {
		rows := make([]int, persons)
		for i := range rows {
			rows[i] = 1
		}
		for _, of := range []bool{false, true} {
			if p := passed(t, alike(dp.AddRemove, of, rows...), guard.Share{Epsilon: dp.Nano}, 1, 1); p.Values[0].Float() != float64(persons) {
				t.Errorf("%d persons (%t) are counted %g times", persons, of, p.Values[0].Float())
			}
		}
	}
}

// A bill of any number of lines is paid line by line, and nothing beyond.
func TestBillsOfAllSizesAreSpentOnce(t *testing.T) {
	for _, n := range sizesTo(size.Of(10, 12)) {
		for _, share := range []guard.Share{{Epsilon: dp.Nano / 1000}, {Rho: 1_000_000}} {
			var bill []dp.Event
			for i := range n {
				bill = append(bill, share.Line(fmt.Sprint("line ", i)))
			}
			price := dp.Price{Epsilon: share.Epsilon * dp.Epsilon(n)}
			if share.Rho > 0 {
				price = dp.Price{Epsilon: 10 * dp.Nano, Delta: dp.Femto / 100}
			}
			g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, price, bill...), learntest.Engine(t, alike(dp.AddRemove, false, 3)),
				guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "bills")))
			if err != nil {
				t.Fatal(n, share, err)
			}
			cells, err := g.ClassCells([]feature.Bins{feature.NewBins(g.Schema(), 0, nil)})
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if _, err := g.Measure(fmt.Sprint("line ", i), share, cells.Rows(0)); err != nil {
					t.Fatalf("line %d of %d: %v", i, n, err)
				}
			}
			if _, err := g.Measure("beyond", share, cells.Rows(0)); err == nil {
				t.Errorf("a measurement beyond %d lines is paid by nobody", n)
			}
			if share.Rho == 0 { // ε adds up
				price.Epsilon--
				if _, err := guard.Open(t.Context(), termsOf(dp.WholeRow, price, bill...), learntest.Engine(t, alike(dp.AddRemove, false, 3)),
					guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "bills"))); err == nil {
					t.Errorf("a bill of %d lines is taken at less than they cost", n)
				}
			}
		}
	}
}

// A person counts for 1 to 2^16 rows, and one row at least is drawn of each.
func TestRowsOfPersonsAreBounded(t *testing.T) {
	open := func() *guard.Guard {
		price := dp.Price{Epsilon: dp.Nano}
		g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, price, guard.Share{Epsilon: dp.Nano}.Line("all")),
			learntest.Engine(t, alike(dp.AddRemove, true, 2, 3)), guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "bounds")))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	for most, ok := range map[int]bool{-1: false, 0: false, 1: true, 2: true, guard.MostOfPerson: true, guard.MostOfPerson + 1: false} {
		if err := open().WeighPersons(most); (err == nil) != ok {
			t.Errorf("a person may count for %d rows: %v", most, err)
		}
	}
	for rows, ok := range map[int]bool{-1: false, 0: false, 1: true, 2: true} {
		price := dp.Price{Epsilon: dp.Nano / 2}
		_, err := open().DrawGroup(rows, termsOf(dp.WholeRow, price, guard.Share{Epsilon: price.Epsilon}.Line("all")))
		if (err == nil) != ok {
			t.Errorf("%d rows are drawn of each person: %v", rows, err)
		}
	}
}

// The noise that a site adds is its share among as many honest sites as are said, for any number of
// numbers.
func TestSharesAreForTheHonestWhateverTheLength(t *testing.T) {
	tab := alike(dp.AddRemove, false, 3)
	for _, honest := range []int{1, 2, 3, mech.MaxHonest - 1, mech.MaxHonest} {
		for _, n := range []int{1, 2, 31, 65} {
			share := guard.Share{Epsilon: dp.Nano}
			g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, share.Line("counts")),
				learntest.Engine(t, tab), guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "shares")))
			if err != nil {
				t.Fatal(err)
			}
			bins := feature.NewBins(tab.Schema, 0, nil)
			cells, err := g.ClassCells([]feature.Bins{bins})
			if err != nil {
				t.Fatal(err)
			}
			sum, err := g.Join(slices.Repeat([]*guard.Sum{cells.Rows(0)}, n)...)
			if err != nil {
				t.Fatal(err)
			}
			got, err := extend.Open(g).Contribute("counts", share, sum, honest)
			if err != nil {
				t.Fatal(err)
			}
			values := slices.Repeat([]mech.Ratio{{Den: 1}}, bins.Len()*n)
			for i := range n {
				values[i*bins.Len()].Num = 3
			}
			m := mech.Sized(mech.SharedLaplace(dp.Nano, float64(n), len(values), honest))
			if want := mech.NewExit(replay.Seeded(1, "shares")).Share("counts", m, values...); !slices.Equal(got, want) {
				t.Fatalf("%d numbers, %d honest sites: another share than the twin's", n, honest)
			}
		}
	}
}
