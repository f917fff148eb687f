// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// cell returns the feature and the value of row i of the k-th column of sp.
func cell(sp *feature.Space, k int, cols []column.Column, i int) (int, float64) {
	c := &cols[sp.Columns[k]]
	code := int(c.Codes.At(i))
	if c.Values != nil {
		return sp.Number(k, c.Values[code])
	}
	return sp.Code(k, code)
}

// answer is one threshold about one row, one exact addition at a time.
func answer(sp *feature.Space, t feature.Threshold, cols []column.Column, i int) bool {
	sum := int64(sp.Fixed(t.Bias, 1))
	for k := range sp.Columns {
		f, v := cell(sp, k, cols, i)
		sum += int64(sp.Fixed(t.Coef[f], v))
	}
	return sum >= 0
}

// Fixed rounds to the nearest step of a grid of 2^S, ties to even, and the
// largest sum of a space's columns and a bias stays within a signed lane.
func TestFixedRoundsToNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, columns := range []int{0, 1, 2, 3, 4, 14, 127, 128, 4095} {
		sp := &feature.Space{Columns: make([]int, columns)}
		one := float64(sp.Fixed(1, 1))
		if one != math.Exp2(math.Round(math.Log2(one))) || one*float64(columns+1) > 1<<31 ||
			one*float64(4*columns+4) <= 1<<30 {
			t.Errorf("%d columns: a grid of %g steps", columns, one)
		}
		for _, c := range []struct{ steps, want float64 }{{0.5, 0}, {1.5, 2}, {2.5, 2}, {-0.5, 0}, {-1.5, -2}, {0.75, 1},
			{-0.75, -1}} {
			if got := sp.Fixed(c.steps/one, 1); float64(got) != c.want {
				t.Errorf("%d columns: %g steps become %d, want %g", columns, c.steps, got, c.want)
			}
		}
		for range 1000 {
			coef, value := 2*r.Float64()-1, 2*r.Float64()-1
			if got := float64(sp.Fixed(coef, value)); !(math.Abs(got-coef*value*one) <= 0.5) {
				t.Fatalf("%d columns: %g × %g becomes %g steps of 1/%g", columns, coef, value, got, one)
			}
		}
	}
}

func drawThresholds(r *rand.Rand, sp *feature.Space, n int) []feature.Threshold {
	corners := []float64{-1, 1, 0, math.Copysign(0, -1), 1e-300, -1e-9, 0.5}
	draw := func() float64 {
		if r.IntN(4) == 0 {
			return corners[r.IntN(len(corners))]
		}
		return 2*r.Float64() - 1
	}
	ts := make([]feature.Threshold, n)
	for t := range ts {
		ts[t] = feature.Threshold{Coef: make([]float64, sp.Width()), Bias: draw()}
		all := draw()
		for f := range ts[t].Coef {
			ts[t].Coef[f] = draw()
			if t%5 == 0 {
				ts[t].Coef[f] = math.Copysign(1, all) // the largest sums there are
			}
		}
		if t%5 == 0 {
			ts[t].Bias = math.Copysign(1, all)
		}
	}
	return ts
}

// The packed kernel that training and prediction share, against row by row
// integer sums: random spaces of 0 to 20 columns, 1 to 130 thresholds.
func TestScorerAgreesWithNaiveTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows = 300 // more than one batch
	for n := 1; n <= 130; n++ {
		base := clinic()
		s := &schema.Schema{Label: base.Label}
		order := []int{}
		for j := range r.IntN(21) {
			s.Columns = append(s.Columns, base.Columns[r.IntN(len(base.Columns))])
			order = append(order, j)
		}
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		sp, err := feature.NewSpace(s, []feature.Encoding{feature.Ordinal, feature.OneHot}[n%2], order)
		if err != nil {
			t.Fatal(err)
		}
		cols := patients(r, s, rows)
		ts := drawThresholds(r, sp, n)
		scorer := feature.NewScorer(sp, ts)
		words := scorer.Words()
		from := r.IntN(20)
		got := make([]uint64, (rows-from)*words)
		scorer.Bind(cols).Answers(from, got)
		for i := from; i < rows; i++ {
			row := got[(i-from)*words:][:words]
			for k := range words * 64 {
				want := k < n && answer(sp, ts[k], cols, i)
				if row[k/64]>>(k%64)&1 == 1 != want {
					t.Fatalf("%d thresholds, %d columns: bit %d of row %d should be %v", n, len(order), k, i, want)
				}
			}
		}
	}
}

func TestVotesAgreeWithNaiveTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, members := range []int{2, 3, 63, 64, 127, 131} {
		m := voted()
		var spaces []*feature.Space
		for k := range m.Spaces {
			sp, err := m.buildSpace(k)
			if err != nil {
				t.Fatal(err)
			}
			spaces = append(spaces, sp)
		}
		m.Classifier.(*Votes).Members = nil
		for i := range members {
			k := i % 2
			m.Classifier.(*Votes).Members = append(m.Classifier.(*Votes).Members,
				Member{Space: k, Vote: r.NormFloat64(), Threshold: drawThresholds(r, spaces[k], 1)[0]})
		}
		const rows = 500
		cols := patients(r, m.Schema, rows)
		got, err := m.Scores(cols, rows)
		if err != nil {
			t.Fatal(err)
		}
		labels := m.Labels(got)
		for i := range rows {
			sum, all := 0.0, 0.0
			for _, b := range m.Classifier.(*Votes).Members {
				all += math.Abs(b.Vote)
				if answer(spaces[b.Space], b.Threshold, cols, i) {
					sum += b.Vote
				} else {
					sum -= b.Vote
				}
			}
			if want := (1 + sum/all) / 2; math.Abs(got[i]-want) > 1e-15 {
				t.Fatalf("%d members: score of row %d is %g, want %g", members, i, got[i], want)
			}
			if want := sum >= 0; (labels[i] == 1) != want {
				t.Fatalf("%d members: label of row %d is %d though the votes add up to %g", members, i, labels[i], sum)
			}
		}
	}
}

func TestLogisticAgreesWithNaiveTwin(t *testing.T) {
	const rows = 500
	m := fitted()
	cols := patients(rand.New(rand.NewPCG(5, 6)), m.Schema, rows)
	got, err := m.Scores(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	sp, err := m.buildSpace(0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		z := m.Classifier.(*Logistic).Bias
		for k := range sp.Columns {
			f, v := cell(sp, k, cols, i)
			z += m.Classifier.(*Logistic).Coef[f] * v
		}
		if want := 1 / (1 + math.Exp(-z)); math.Abs(got[i]-want) > 1e-15 {
			t.Fatalf("score of row %d is %g, want %g", i, got[i], want)
		}
	}
}

// Scores far outside the range of exp stay in [0, 1].
func TestLogisticSaturates(t *testing.T) {
	for _, bias := range []float64{1e300, -1e300} {
		m := change(fitted(), func(m *Model) { m.Classifier.(*Logistic).Bias = bias })
		got, err := m.Scores(patients(rand.New(rand.NewPCG(7, 8)), m.Schema, 1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]float64{true: 1, false: 0}[bias > 0]; got[0] != want {
			t.Errorf("bias %g: score %g, want %g", bias, got[0], want)
		}
	}
}

func TestShareStaysOnItsSideOfAHalf(t *testing.T) {
	for _, c := range []struct {
		sum, all float64
		positive bool
	}{
		{0, 1, true}, {math.Copysign(0, -1), 1, true}, {0, 0, true}, {1e-300, 1, true}, {-1e-300, 1, false},
		{-5e-324, math.MaxFloat64, false}, {1, 1, true}, {-1, 1, false},
	} {
		s := voteShare(c.sum, c.all)
		if !(s >= 0 && s <= 1) || (s >= 0.5) != c.positive {
			t.Errorf("voteShare(%g, %g) = %g, on the wrong side of 1/2", c.sum, c.all, s)
		}
	}
}

// One row scored alone, among many, on one core or on all: the same bits.
func TestScoresDoNotDependOnCompany(t *testing.T) {
	const rows = 20_000
	for _, m := range []*Model{voted(), fitted(), levelled(), elected()} {
		cols := patients(rand.New(rand.NewPCG(9, 10)), m.Schema, rows)
		all, err := m.Scores(cols, rows)
		if err != nil {
			t.Fatal(err)
		}
		before := runtime.GOMAXPROCS(1)
		one, err := m.Scores(cols, rows)
		runtime.GOMAXPROCS(before)
		if err != nil || !slices.Equal(one, all) {
			t.Fatalf("%s: scores change with the number of cores (error: %v)", m.Learner, err)
		}
		for i := 0; i < rows; i += 997 {
			alone := make([]column.Column, len(cols))
			for j := range cols {
				alone[j] = column.Column{Values: cols[j].Values, Codes: cols[j].Codes.Pick([]int{i})}
			}
			got, err := m.Scores(alone, 1)
			if among := all[i*m.Width():][:m.Width()]; err != nil || !slices.Equal(got, among) {
				t.Fatalf("%s: row %d scores %v alone, %v among others (error: %v)", m.Learner, i, got, among, err)
			}
		}
	}
}

func TestBindFindsColumnsByName(t *testing.T) {
	const rows = 50
	m := voted()
	cols := patients(rand.New(rand.NewPCG(11, 12)), m.Schema, rows)
	want, err := m.Scores(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	s := clinic() // reversed, with a stranger in front
	slices.Reverse(s.Columns)
	s.Columns = append([]schema.Column{{Name: "stranger", Role: schema.Public, Kind: schema.Number, Upper: 1}},
		s.Columns...)
	s.Columns[1].Role = schema.Public // what the data's owner protects is not prediction's business
	slices.Reverse(cols)
	cols = append([]column.Column{{}}, cols...)
	p, err := m.Bind(s)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Scores(cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) {
		t.Error("scores change when the columns stand in another order")
	}
}

func TestBindRefusesOtherMeanings(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(*schema.Schema)
		say  string
	}{
		{"column gone", func(s *schema.Schema) { s.Columns = s.Columns[1:] }, `"age" must be in the schema of the data`},
		{"column ignored", func(s *schema.Schema) { s.Columns[0].Role = schema.Ignored },
			`"age" must be in the schema of the data and not ignored`},
		{"kind", func(s *schema.Schema) {
			s.Columns[0].Kind = schema.Category
			s.Columns[0].Levels = []schema.Level{{Value: "a"}}
		}, `"age" must have the kind`},
		{"lower", func(s *schema.Schema) { s.Columns[0].Lower = 1 }, `"age" must have the bounds`},
		{"upper", func(s *schema.Schema) { s.Columns[1].Upper = 2e6 }, `"bill" must have the bounds`},
		{"transform", func(s *schema.Schema) { s.Columns[1].Transform = schema.Identity }, `"bill" must have the transform`},
		{"default", func(s *schema.Schema) { s.Columns[0].Default = nil }, `"age" must have the default`},
		{"level order", func(s *schema.Schema) { slices.Reverse(s.Columns[2].Levels) }, `"ward" must have the levels`},
		{"level count", func(s *schema.Schema) { s.Columns[2].Levels = s.Columns[2].Levels[:2] },
			`"ward" must have the levels`},
		{"missing", func(s *schema.Schema) { s.Columns[3].Missing = false }, `"smoker" must have the "missing" level`},
		{"label name", func(s *schema.Schema) { s.Label.Name = "x" }, `label "outcome" must have the name`},
		{"label levels", func(s *schema.Schema) { slices.Reverse(s.Label.Levels) }, `label "outcome" must have the classes`},
		{"label positive", func(s *schema.Schema) { s.Label.Positive = 0 }, `label "outcome" must have the positive class`},
	} {
		s := clinic()
		c.edit(s)
		if _, err := voted().Bind(s); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("%s: got %v, want an error that says %q", c.name, err, c.say)
		}
	}
}

func TestScoresRefusesOtherShapes(t *testing.T) {
	m := voted()
	cols := patients(rand.New(rand.NewPCG(13, 14)), m.Schema, 10)
	if _, err := m.Scores(cols, 11); err == nil {
		t.Error("scored a row that is not there")
	}
	if _, err := m.Scores(cols[:2], 10); err == nil {
		t.Error("scored without a column")
	}
	cols[0], cols[3] = cols[3], cols[0]
	if _, err := m.Scores(cols, 10); err == nil {
		t.Error("scored a category as a number")
	}
	if got, err := m.Scores(make([]column.Column, 4), 0); err != nil || len(got) != 0 {
		t.Errorf("no rows: got %v, %v", got, err)
	}
}
