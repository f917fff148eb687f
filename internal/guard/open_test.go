// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/extend"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// A table of a relation and a role of the label, with private columns.
func tableOf(relation dp.Relation, label schema.Role, rows int) engine.Table {
	tab := censustest.Table(1, rows)
	s := *tab.Schema
	s.Relation, s.Label.Role = relation, label
	tab.Schema = &s
	return learntest.Engine(&testing.T{}, tab)
}

func termsOf(scope dp.Scope, price dp.Price, bill ...dp.Event) guard.Terms {
	return guard.Terms{Op: "test", Scope: scope, Price: price, Bill: bill}
}

// Terms that protect less than the schema declares, that cost more than they state, or at which a row
// may be published are refused, and nothing is charged.
func TestOpenRefuses(t *testing.T) {
	one, line := dp.Price{Epsilon: dp.Nano}, guard.Share{Epsilon: dp.Nano}.Line("all")
	exit := mech.NewExit(replay.Seeded(1, "open"))
	for name, c := range map[string]struct {
		tab   engine.Table
		terms guard.Terms
	}{
		"rows that come and go, columns alone": {tableOf(dp.AddRemove, schema.Public, 9), termsOf(dp.PrivateFeatures, one, line)},
		"rows that come and go, with labels":   {tableOf(dp.AddRemove, schema.Private, 9), termsOf(dp.FeaturesAndLabel, one, line)},
		"a private label":                      {tableOf(dp.ReplaceOne, schema.Private, 9), termsOf(dp.PrivateFeatures, one, line)},
		"a bill above its price":               {tableOf(dp.ReplaceOne, schema.Private, 9), termsOf(dp.WholeRow, one, line, line)},
		"no row":                               {tableOf(dp.ReplaceOne, schema.Private, 0), termsOf(dp.WholeRow, one, line)},
		"a delta at which a row is published": {tableOf(dp.ReplaceOne, schema.Private, 9),
			termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano, Delta: dp.Femto / 8}, line)},
		"a price without privacy": {tableOf(dp.ReplaceOne, schema.Private, 9),
			guard.Terms{Op: "test", Scope: dp.WholeRow, Price: one, NotPrivate: true}},
	} {
		if _, err := guard.Open(t.Context(), c.terms, c.tab, refusing{t}, exit); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	refusal := errors.New("no budget")
	if _, err := guard.Open(t.Context(), termsOf(dp.WholeRow, one, line), tableOf(dp.ReplaceOne, schema.Private, 9),
		broke{err: refusal}, exit); !errors.Is(err, refusal) {
		t.Errorf("error %v, want the account's", err)
	}
}

// refusing is an account that must not be charged.
type refusing struct{ t *testing.T }

func (r refusing) Counted() bool { return false }

func (r refusing) Charge(context.Context, dp.Price, []dp.Event) error {
	r.t.Error("charged")
	return nil
}

// broke is an account without a budget.
type broke struct {
	guard.Uncounted
	err error
}

func (b broke) Charge(context.Context, dp.Price, []dp.Event) error { return b.err }

// Who takes the door itself has paid all that was left: nothing else is measured, and no training is inside.
func TestTheDoorItselfCostsTheWholePrice(t *testing.T) {
	one, line := dp.Price{Epsilon: dp.Nano}, guard.Share{Epsilon: dp.Nano}.Line("all")
	g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, one, line), tableOf(dp.ReplaceOne, schema.Private, 9), guard.Uncounted{},
		mech.NewExit(replay.Seeded(1, "door")))
	if err != nil {
		t.Fatal(err)
	}
	in, m := extend.Open(g), mech.Sized(mech.LaplaceFor(dp.Nano, 1, 1))
	if in.SpendAll() == nil {
		t.Error("there is no door")
	}
	if _, err := in.Release("all", m, mech.Ratio{Den: 1}); err == nil {
		t.Error("a release is paid by what is spent")
	}
	if _, err := g.Part(termsOf(dp.WholeRow, one, line)); err == nil {
		t.Error("a training inside is paid by what is spent")
	}
}

// A training inside another must not protect less, nor cost more than is left.
func TestPartsAreWithinTheWhole(t *testing.T) {
	half := guard.Share{Epsilon: dp.Nano / 2}
	whole := termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, half.Line("a"), half.Line("b"))
	g, err := guard.Open(t.Context(), whole, tableOf(dp.ReplaceOne, schema.Public, 9), guard.Uncounted{},
		mech.NewExit(replay.Seeded(1, "parts")))
	if err != nil {
		t.Fatal(err)
	}
	price := dp.Price{Epsilon: dp.Nano / 2}
	if _, err := g.Part(termsOf(dp.PrivateFeatures, price, half.Line("a"))); err == nil {
		t.Error("a part may protect less")
	}
	if _, err := g.Part(guard.Terms{Op: "test", Scope: dp.WholeRow, NotPrivate: true}); err == nil {
		t.Error("a part may do without privacy")
	}
	for range 2 {
		if _, err := g.Part(termsOf(dp.WholeRow, price, half.Line("a"))); err != nil {
			t.Fatal(err)
		}
	}
	if part, err := g.Part(termsOf(dp.WholeRow, price, half.Line("a"))); err == nil || part != nil {
		t.Error("parts may cost more than the whole, or are given and not paid")
	}
}

// A training inside another has its rows as they were settled, and its relation: what it measures has
// the noise that the one around it would have had.
func TestPartsInherit(t *testing.T) {
	tab := learntest.WithPersons(censustest.Table(1, 40), replay.Seeded(1, "persons"), 3)
	half := guard.Share{Epsilon: dp.Nano / 2}
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, most := range []int{1, 3} {
			tab.Schema = tab.Schema.Clone()
			tab.Schema.Relation = relation
			tape := &mechtest.Recorder{}
			g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, half.Line("all"), half.Line("all")),
				learntest.Engine(t, tab), guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "inherit"), tape))
			if err != nil {
				t.Fatal(err)
			}
			if err := g.WeighPersons(most); err != nil {
				t.Fatal(err)
			}
			part, err := g.Part(termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano / 2}, half.Line("all")))
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range []*guard.Guard{g, part} {
				cells, err := g.ClassCells([]feature.Bins{feature.NewBins(tab.Schema, tab.Schema.Features()[0], nil)})
				if err != nil {
					t.Fatal(err)
				}
				if _, err := g.Measure("all", half, cells.Part(0)); err != nil {
					t.Fatal(err)
				}
			}
			if whole, inner := tape.Passages[0], tape.Passages[1]; whole.Bound != inner.Bound || !slices.Equal(whole.Values, inner.Values) {
				t.Errorf("%s, %d rows: noise for %g outside, for %g inside", relation, most, whole.Bound, inner.Bound)
			}
			if part.WeighPersons(2*most) == nil {
				t.Errorf("%s: persons are weighed again inside", relation)
			}
		}
	}
}

// A lead moves as far as the difference of two scores of lengths, whatever the relation.
func TestLeadDeclaresItsDistance(t *testing.T) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		tab := tableOf(relation, schema.Private, 9)
		g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, guard.Share{Epsilon: dp.Nano}.Line("all")),
			tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "leads")))
		if err != nil {
			t.Fatal(err)
		}
		j := tab.Schema().Features()[0]
		sums, err := g.GridSlopes(guard.NewStepScore([]float64{0}), guard.SlopeLimit{Most: 0.5},
			[]feature.Grid{{Axes: []feature.Bins{feature.NewBins(tab.Schema(), j, []float64{30})}}})
		if err != nil {
			t.Fatal(err)
		}
		share, moves := guard.Share{Epsilon: dp.Nano}, guard.LengthSpread(relation, 0.5)
		out, err := g.Measure("all", share, sums.LargestLead())
		if want := share.Variance(guard.Moves{L1: moves}); err != nil || out.Variance != want {
			t.Errorf("%s: variance %g, want %g (%v)", relation, out.Variance, want, err)
		}
	}
}

// A person of three rows moves every score three times as far as a row does, whatever is protected.
func TestSpreadOfPersons(t *testing.T) {
	tab := learntest.WithPersons(censustest.Table(1, 40), replay.Seeded(1, "persons"), 3)
	s := *tab.Schema
	s.Relation, s.Label.Role = dp.ReplaceOne, schema.Private
	tab.Schema = &s
	line := guard.Share{Epsilon: dp.Nano}.Line("all")
	bins := []feature.Bins{feature.NewBins(&s, s.Features()[0], nil)}
	for _, scope := range []dp.Scope{dp.LabelOnly, dp.FeaturesAndLabel, dp.WholeRow} {
		spread := func(most int) float64 {
			g, err := guard.Open(t.Context(), termsOf(scope, dp.Price{Epsilon: dp.Nano}, line), learntest.Engine(t, tab),
				guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "open")))
			if err != nil {
				t.Fatal(err)
			}
			if err := g.WeighPersons(most); err != nil {
				t.Fatal(err)
			}
			cells, err := g.Cells(nil, bins, guard.FullCaps)
			if err != nil {
				t.Fatal(err)
			}
			return cells.Imbalances([]int{0}).Spread()
		}
		if one, three := spread(1), spread(3); one < 4 || three != 3*one { // two rows leave one score for another
			t.Errorf("%s: spread %g for three rows, %g for one", scope, three, one)
		}
	}
}

// What anybody writes into a schema after the table was made loosens nothing: neither what is protected
// nor how far rows move a sum, in the training, in one inside it, or in the features of a row.
func TestSchemaWrittenLaterLoosensNothing(t *testing.T) {
	tape := &mechtest.Recorder{}
	tab := learntest.WithPersons(censustest.Table(1, 40), replay.Seeded(1, "persons"), 3)
	tab.Schema = tab.Schema.Clone()
	tab.Schema.Relation, tab.Schema.Label.Role = dp.ReplaceOne, schema.Private
	for _, j := range tab.Schema.Features() {
		tab.Schema.Columns[j].Role = schema.Private
	}
	s, eng := tab.Schema.Clone(), learntest.Engine(t, tab)
	corrupt(eng.Schema())
	quarter := guard.Share{Epsilon: dp.Nano / 4}.Line("all")
	whole := termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano}, quarter, quarter, quarter, quarter)
	g, err := guard.Open(t.Context(), whole, eng, guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "open"), tape))
	if err != nil {
		t.Fatal(err)
	}
	bins := []feature.Bins{feature.NewBins(s, s.Features()[0], nil)}
	if _, err := g.ClassCells(bins); err == nil {
		t.Error("rows are counted whatever their persons have")
	}
	corrupt(tab.Schema) // by which the plan was made
	corrupt(g.Schema())
	group, err := g.DrawGroup(2, termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano / 4}, quarter))
	if err != nil {
		t.Fatal(err)
	}
	if err := g.WeighPersons(3); err != nil {
		t.Fatal(err)
	}
	part, err := g.Part(termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano / 4}, quarter))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		g     *guard.Guard
		bound float64
		den   int64
	}{"the training": {g, 2 * 3, guard.WeightOne}, "a part": {part, 2 * 3, guard.WeightOne}, "a group": {group, 2, 1}} {
		corrupt(c.g.Schema())
		if _, err := c.g.Groups(s.Features()[:1]); err == nil {
			t.Errorf("%s: private columns are grouped", name)
		}
		cells, err := c.g.ClassCells(bins)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.g.Exact(cells.Part(0)); err == nil {
			t.Errorf("%s: private cells are shown", name)
		}
		tape.Passages = nil
		if _, err := c.g.Measure("all", guard.Share{Epsilon: dp.Nano / 4}, cells.Part(0)); err != nil {
			t.Fatal(err)
		}
		if p := tape.Passages[0]; p.Bound != c.bound || p.Values[0].Den != c.den {
			t.Errorf("%s: noise is for %g of 1/%d, not for %g of 1/%d", name, p.Bound, p.Values[0].Den, c.bound, c.den)
		}
		if c.g.Units() == 0 {
			t.Errorf("%s: the number of persons, which is public, is lost", name)
		}
	}
	narrow := s.Clone()
	corrupt(narrow)
	sp, err := feature.NewSpace(narrow, feature.Ordinal, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	own, err := extend.Open(group).Space(sp)
	if err != nil {
		t.Fatal(err)
	}
	for k, j := range own.Columns {
		if c := &s.Columns[j]; c.Kind == schema.Number {
			if _, x := own.Number(k, c.Upper); !(x <= 1) {
				t.Errorf("a feature of column %q is %g", c.Name, x)
			}
		}
	}
}

// said is a plan of one measurement whose model states what it likes.
type said struct {
	terms guard.Terms
	state func(*dp.Statement)
}

type saying struct{ dp.Statement }

func (s saying) Stated() dp.Statement { return s.Statement }

func (s said) Terms() guard.Terms { return s.terms }

func (s said) Fit(_ context.Context, g *guard.Guard) (saying, error) {
	t := g.Terms()
	out := dp.Statement{Scope: t.Scope, Price: t.Price, Bill: t.Bill, Counted: g.Counted(), Seeded: g.Seeded()}
	s.state(&out)
	return saying{out}, nil
}

// A model that states another scope, price or bill than was charged is refused.
func TestTrainRefuses(t *testing.T) {
	line := guard.Share{Epsilon: dp.Nano}.Line("all")
	for name, state := range map[string]func(*dp.Statement){
		"":                       func(*dp.Statement) {},
		"another scope":          func(s *dp.Statement) { s.Scope = dp.PrivateFeatures },
		"less":                   func(s *dp.Statement) { s.Price.Epsilon /= 2 },
		"a delta":                func(s *dp.Statement) { s.Price.Delta = 1 },
		"another line":           func(s *dp.Statement) { s.Bill[0].Release = "some" },
		"no line":                func(s *dp.Statement) { s.Bill = nil },
		"that it was counted":    func(s *dp.Statement) { s.Counted = true },
		"that it was not seeded": func(s *dp.Statement) { s.Seeded = !s.Seeded },
	} {
		_, err := guard.Train(t.Context(), said{termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, line), state},
			tableOf(dp.ReplaceOne, schema.Private, 9), guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "open")))
		if (err == nil) != (name == "") {
			t.Errorf("a model that states %q: %v", name, err)
		}
	}
}

// A number to which a replaced row added 1 and then adds -1 moves by 2 in either norm.
func TestSignedNumbersMoveByBothRows(t *testing.T) {
	for relation, rows := range map[dp.Relation]float64{dp.ReplaceOne: 2, dp.AddRemove: 1} {
		if m := guard.Signed(relation); m.L1 < rows || m.L2 < rows {
			t.Errorf("%s: %+v, want %g in either norm", relation, m, rows)
		}
	}
}

// Means are sized for the longest row that occurs, wherever its group stands among the others.
func TestMeansMoveByTheLongestRow(t *testing.T) {
	const rows = 40
	tab := publicAndPrivate(rows)
	for _, share := range []guard.Share{{Epsilon: dp.Nano}, {Rho: 1_000_000_000}} {
		for longest, more := 0, true; more; longest++ {
			tape := &mechtest.Recorder{}
			terms := termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano, Delta: dp.Femto / 1000}, share.Line("all"))
			g, err := guard.Open(t.Context(), terms, learntest.Engine(t, tab), guard.Uncounted{},
				mech.NewTapedExit(replay.Seeded(1, "open"), tape))
			if err != nil {
				t.Fatal(err)
			}
			groups, err := g.Groups([]int{tab.Schema.Find("sex"), tab.Schema.Find("household_size")})
			if err != nil {
				t.Fatal(err)
			}
			means, err := groups.ClassMeans([]int{0}, 1)
			if err != nil {
				t.Fatal(err)
			}
			for i := range groups.Len {
				means.Add(i, 0, map[bool]float64{true: 1, false: 0.125}[i == longest])
			}
			if _, err := g.Measure("all", share, means.Sum()); err != nil {
				t.Fatal(err)
			}
			if p := tape.Passages[0]; p.Bound < 1./rows {
				t.Errorf("group %d of %d has the longest row: %s for a move of %g, want 1/%d", longest, groups.Len, p.Name, p.Bound, rows)
			}
			more = longest < groups.Len-1
		}
	}
}

// Means of one class that are asked for twice would move twice as far as they are sized for.
func TestMeansAreOfDifferentClasses(t *testing.T) {
	terms := termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano}, guard.Share{Epsilon: dp.Nano}.Line("all"))
	g, err := guard.Open(t.Context(), terms, tableOf(dp.ReplaceOne, schema.Private, 40), guard.Uncounted{},
		mech.NewExit(replay.Seeded(1, "open")))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := g.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, classes := range [][]int{{1, 1}, {1, 0, 1}} {
		if _, err := groups.ClassMeans(classes, 1); err == nil {
			t.Errorf("means of classes %v are taken", classes)
		}
	}
}

// What is charged is known to Train itself, not to the guard that it handed out.
func TestTrainKnowsWhatWasCharged(t *testing.T) {
	half := guard.Share{Epsilon: dp.Nano / 2}
	cheap := termsOf(dp.WholeRow, dp.Price{Epsilon: 1}, guard.Share{Epsilon: 1}.Line("a"))
	pl := asking{said: said{termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano}, half.Line("a"), half.Line("b")), func(*dp.Statement) {}},
		ask: func(_ context.Context, g *guard.Guard) {
			part, err := g.Part(cheap)
			if err != nil {
				t.Fatal(err)
			}
			*g = *part // whose terms the model then states
		}}
	if _, err := guard.Train(t.Context(), pl, tableOf(dp.ReplaceOne, schema.Private, 9), guard.Uncounted{},
		mech.NewExit(replay.Seeded(1, "charged"))); err == nil {
		t.Error("a model states the price of a part")
	}
}

// What lies beside its partition, its runs or its class counts as nothing, and offsets are cut together.
func TestOutOfPlaceCountsAsNothing(t *testing.T) {
	tab := tableOf(dp.ReplaceOne, schema.Private, 40)
	s := tab.Schema()
	tape := &mechtest.Recorder{}
	line := guard.Share{Epsilon: dp.Nano}.Line("all")
	terms := termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: 9 * dp.Nano}, line)
	g, err := guard.Open(t.Context(), terms, tab, guard.Uncounted{}, mech.NewTapedExit(replay.Seeded(1, "open"), tape))
	if err != nil {
		t.Fatal(err)
	}
	measured := func(sum *guard.Sum, err error) []mech.Ratio {
		if err == nil {
			_, err = g.Measure("all", guard.Share{Epsilon: dp.Nano}, sum)
		}
		if err != nil {
			t.Fatal(err)
		}
		return tape.Passages[len(tape.Passages)-1].Values
	}
	groups, err := g.Groups(nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := measured(groups.ClassBins(0, [][]uint32{{1}, {1}}, []int{1, 1}), nil); v[0].Num != 0 || v[1].Num != 0 {
		t.Errorf("bins beside their partitions count: %v", v)
	}
	means := func(features ...int) []mech.Ratio {
		means, err := groups.ClassMeans([]int{0, 1}, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range features {
			means.Add(0, f, 0.5)
		}
		return measured(means.Sum(), nil)
	}
	if in, beside := means(0), means(0, 1); !slices.Equal(in, beside) {
		t.Errorf("a feature beside its class counts: %v, %v", in, beside)
	}
	category := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Kind == schema.Category })
	bins := []feature.Bins{feature.NewBins(s, category, nil)}
	cells, err := g.ClassCells(bins)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for _, v := range measured(cells.AllClasses(0, 1, slices.Repeat([]int{1}, bins[0].Len())), nil) {
		rows += v.Num
	}
	if rows != 40 {
		t.Errorf("runs beside the runs count: %d rows of 40", rows)
	}
	weights, err := g.Cells(nil, bins, guard.FullCaps)
	if err != nil {
		t.Fatal(err)
	}
	chosen := func(times int) int64 {
		scores := weights.Imbalances([]int{0, 0})
		for range times {
			scores.AddOffset(1, 1<<50)
		}
		if _, err := g.Select("all", guard.Share{Epsilon: dp.Nano}, scores); err != nil {
			t.Fatal(err)
		}
		return tape.Passages[len(tape.Passages)-1].Values[1].Num
	}
	if once, often := chosen(1), chosen(3); once != often {
		t.Errorf("offsets are cut one by one: %d and %d", once, often)
	}
}

// A training on several rows of each person costs a person as many times its price, and has no δ, which
// would grow by more than that.
func TestEachRowOfAPersonIsPaid(t *testing.T) {
	tab := learntest.Engine(t, learntest.WithPersons(censustest.Table(3, 60), replay.Seeded(1, "persons"), 3))
	open := func(delta dp.Delta) *guard.Guard {
		price := dp.Price{Epsilon: 3 * dp.Nano, Delta: delta}
		g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, price, dp.Event{Release: "all", Mechanism: "laplace",
			Epsilon: price.Epsilon, Delta: delta}), tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "rows")))
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	row := func(delta dp.Delta) guard.Terms {
		return termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano, Delta: delta}, dp.Event{Release: "row", Mechanism: "laplace",
			Epsilon: dp.Nano, Delta: delta})
	}
	if _, err := open(0).DrawGroup(4, row(0)); err == nil {
		t.Error("4 rows at 1 each are paid from 3")
	}
	g := open(0)
	if _, err := g.DrawGroup(3, row(0)); err != nil {
		t.Error(err)
	}
	if _, err := g.DrawGroup(1, row(0)); err == nil {
		t.Error("a row is paid after 3 at 1 each have spent 3")
	}
	g = open(9)
	for k := range 3 {
		if _, err := g.DrawGroup(1, row(4)); (err == nil) != (k < 2) {
			t.Errorf("delta 4 for training %d, of 9: %v", k+1, err)
		}
	}
	cheap := termsOf(dp.WholeRow, dp.Price{Epsilon: 1}, guard.Share{Epsilon: 1}.Line("row"))
	if _, err := open(0).DrawGroup(guard.MostOfPerson+1, cheap); err == nil {
		t.Error("so many rows of a person are taken that their price may pass 2^64")
	}
	for rows, taken := range map[int]bool{1: true, 2: false} {
		if _, err := open(9).DrawGroup(rows, row(3)); (err == nil) != taken {
			t.Errorf("%d rows with a delta: %v", rows, err)
		}
	}
}

// What is accounted as Gaussian noise has a slack for each measurement: there are at most one more than were billed,
// however little each costs.
func TestGaussianMeasurementsAreCounted(t *testing.T) {
	line := guard.Share{Rho: 1_000_000_000}.Line("cells")
	tab := tableOf(dp.ReplaceOne, schema.Private, 9)
	g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, dp.Price{Epsilon: dp.Nano, Delta: dp.Femto / 1000}, line, line), tab,
		guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "count")))
	if err != nil {
		t.Fatal(err)
	}
	cells, err := g.ClassCells([]feature.Bins{feature.NewBins(tab.Schema(), tab.Schema().Features()[0], []float64{30})})
	if err != nil {
		t.Fatal(err)
	}
	for k := range 4 {
		if _, err := g.Measure("cells", guard.Share{Rho: 1000}, cells.Part(0)); (err == nil) != (k < 3) {
			t.Errorf("measurement %d after a bill of two: %v", k+1, err)
		}
	}
}

// Lengths are rounded to units, of which a row of a length between two may move them by the upper.
func TestSpreadsCoverRoundedLengths(t *testing.T) {
	for _, relation := range []dp.Relation{dp.ReplaceOne, dp.AddRemove} {
		for _, most := range []float64{0x1p-22, 0.1, 0.3, 1. / 3, 0.5, 0.7, 1} {
			units := math.Ceil(most * guard.WeightOne)
			if got, want := guard.LengthSpread(relation, most), 2*guard.OneCell(relation).L1*units/guard.WeightOne; got < want {
				t.Errorf("%s, rows of at most %g: a spread of %g, lengths move by %g", relation, most, got, want)
			}
		}
	}
}

// Noise is for weights that the proof knows: a share of classes is of rows that have not been weighted yet, and classes
// weigh differently only where the bounds reckon with it.
func TestMistakesAreAskedInOrder(t *testing.T) {
	tab := tableOf(dp.ReplaceOne, schema.Private, 9)
	read := func(paper, classes bool) *mistakes.Rows {
		g, err := guard.Open(t.Context(), termsOf(dp.WholeRow, dp.Price{Epsilon: 3 * dp.Nano}, guard.Share{Epsilon: 3 * dp.Nano}.Line("all")),
			tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "mistakes")))
		if err != nil {
			t.Fatal(err)
		}
		sp, err := feature.NewSpace(tab.Schema(), feature.Ordinal, tab.Schema().Features())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := mistakes.Read(g, mistakes.Question{Space: sp, C1: 4, C2: 4, Paper: paper, Classes: classes,
			List: []feature.Threshold{{Coef: make([]float64, sp.Width()), Bias: 1}}})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	const even, half = mistakes.ClassUnits, mistakes.ClassUnits / 2
	for _, c := range []struct {
		what           string
		paper, classes bool
		units          [2]int64
		taken          bool
	}{
		{"even", true, true, [2]int64{even, even}, true}, {"uneven", false, true, [2]int64{even, half}, true},
		{"uneven under c1·c2/n", true, true, [2]int64{even, half}, false}, {"uneven unsaid", false, false, [2]int64{half, even}, false},
		{"none", false, true, [2]int64{even, 0}, false}, {"beyond one", false, true, [2]int64{even + 1, even}, false},
	} {
		if err := read(c.paper, c.classes).WeighClasses(c.units); (err == nil) != c.taken {
			t.Errorf("weights of classes that are %s: %v", c.what, err)
		}
	}
	for what, c := range map[string]struct {
		classes bool
		before  func(*mistakes.Rows) error
		taken   bool
	}{
		"first":                    {true, func(*mistakes.Rows) error { return nil }, true},
		"unsaid":                   {false, func(*mistakes.Rows) error { return nil }, false},
		"after a round":            {true, func(r *mistakes.Rows) error { return r.Reweigh(0, 2) }, false},
		"after weights of classes": {true, func(r *mistakes.Rows) error { return r.WeighClasses([2]int64{even, half}) }, false},
	} {
		rows := read(false, c.classes)
		if err := c.before(rows); err != nil {
			t.Fatal(err)
		}
		if _, err := rows.Share("share", dp.Nano); (err == nil) != c.taken {
			t.Errorf("a share of classes %s: %v", what, err)
		}
	}
}
