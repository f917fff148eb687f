// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// three gives m's label a third level.
func three(m *Model) *Model {
	m.Schema.Label.Levels = append(m.Schema.Label.Levels, schema.Level{Value: "dead"})
	m.Schema.Label.Positive = -1
	return m
}

// levelled is a complete linear model of three levels.
func levelled() *Model {
	m := three(fitted())
	m.Classifier = &Linear{
		Link: Softmax,
		Coef: [][]float64{
			{2.5, -0.75, 0.1, 0.2, -0.3, 0.4, 1e-9, -3, 0.5, 0.125},
			{-2, 0.25, 0, 0.5, -0.1, 0, 1, 1, 0, -1},
			{0, 0, 0.25, 3, 0, -2, 0, 0.5, -1, 0},
		},
		Bias: []float64{-0.5, 0.125, 0.25},
	}
	return m
}

// elected is a complete vote of two stumps and an argmax about three levels.
func elected() *Model {
	m := three(voted())
	m.Learner = "samme"
	m.Classifier = &Ballots{Link: Share, Members: []Ballot{
		{Space: 0, Weight: 1.5, Stump: &Stump{Threshold: feature.Threshold{Coef: []float64{1, 0}, Bias: -0.25},
			Yes: []float64{0, 1, 0}, No: []float64{0.25, 0, 0.5}}},
		{Space: 1, Weight: 0.75, Argmax: &Argmax{Coef: [][]float64{{1, -3, 1, 0, 7}, {0, 0.5, 0, 1, -7}, {0, 2, 0, 1, 0}},
			Bias: []float64{0, 0.5, 0.25}}},
		{Space: 1, Weight: 0.5, Stump: &Stump{Threshold: feature.Threshold{Coef: []float64{-1, 0, 0.5, 0, 0.1}, Bias: 0.125},
			Yes: []float64{1, 0, 0}, No: []float64{0, 0, 1}}},
	}}
	return m
}

// two drops the third level of m again.
func two(m *Model) *Model {
	m.Schema = clinic()
	if l, ok := m.Classifier.(*Linear); ok {
		l.Coef, l.Bias = l.Coef[:2], l.Bias[:2]
		return m
	}
	for _, b := range m.Classifier.(*Ballots).Members {
		if b.Stump != nil {
			b.Stump.Yes, b.Stump.No = b.Stump.Yes[:2], b.Stump.No[:2]
		} else {
			b.Argmax.Coef, b.Argmax.Bias = b.Argmax.Coef[:2], b.Argmax.Bias[:2]
		}
	}
	return m
}

// dots are the values of one linear function per level about row i.
func dots(sp *feature.Space, coef [][]float64, bias []float64, cols []column.Column, i int) []float64 {
	z := slices.Clone(bias)
	for k := range sp.Columns {
		f, v := cell(sp, k, cols, i)
		for level := range z {
			z[level] += coef[level][f] * v
		}
	}
	return z
}

// expect is what m should say about row i, by the definitions of its doc.
func expect(t *testing.T, m *Model, cols []column.Column, i int) []float64 {
	t.Helper()
	space := func(k int) *feature.Space {
		sp, err := m.buildSpace(k)
		if err != nil {
			t.Fatal(err)
		}
		return sp
	}
	var z []float64
	link := Share
	if l, ok := m.Classifier.(*Linear); ok {
		z, link = dots(space(l.Space), l.Coef, l.Bias, cols, i), l.Link
	} else {
		z, link = make([]float64, m.Schema.Classes()), m.Classifier.(*Ballots).Link
		for _, b := range m.Classifier.(*Ballots).Members {
			sp := space(b.Space)
			if b.Argmax != nil {
				d := dots(sp, b.Argmax.Coef, b.Argmax.Bias, cols, i)
				z[slices.Index(d, slices.Max(d))] += b.Weight
				continue
			}
			leaf := b.Stump.No
			if answer(sp, b.Stump.Threshold, cols, i) {
				leaf = b.Stump.Yes
			}
			for k := range z {
				z[k] += b.Weight * leaf[k]
			}
		}
	}
	all := 0.0
	for k, x := range z {
		switch link {
		case Softmax:
			z[k] = math.Exp(x)
		case OneVersusRest:
			z[k] = 1 / (1 + math.Exp(-x))
		}
		all += z[k]
	}
	for k := range z {
		z[k] /= all
	}
	return z
}

func TestLevelsAgreeWithNaiveTwin(t *testing.T) {
	const rows = 500
	for name, m := range map[string]*Model{
		"softmax":     levelled(),
		"one-vs-rest": change(levelled(), func(m *Model) { m.Classifier.(*Linear).Link = OneVersusRest }),
		"ballots":     elected(),
		"ballots softmax": change(elected(), func(m *Model) {
			m.Classifier.(*Ballots).Link, m.Classifier.(*Ballots).Members[0].Stump.Yes = Softmax, []float64{-3, 2, 0.5}
		}),
		"softmax of 2": two(levelled()),
		"ballots of 2": two(elected()),
	} {
		cols := patients(rand.New(rand.NewPCG(31, 32)), m.Schema, rows)
		got, err := m.Scores(cols, rows)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		labels := m.Labels(got)
		width := m.Width()
		if len(got) != rows*width || len(labels) != rows {
			t.Fatalf("%s: %d scores and %d labels of %d rows", name, len(got), len(labels), rows)
		}
		seen := map[uint8]int{}
		for i := range rows {
			want := expect(t, m, cols, i)
			best := uint8(slices.Index(want, slices.Max(want)))
			if width == 1 {
				want = want[m.Schema.Label.Positive:][:1]
			}
			for k, p := range got[i*width:][:width] {
				if !(math.Abs(p-want[k]) <= 1e-14) {
					t.Fatalf("%s: scores of row %d are %v, want %v", name, i, got[i*width:][:width], want)
				}
			}
			if labels[i] != best {
				t.Fatalf("%s: label of row %d is %d, want %d: scores %v", name, i, labels[i], best, want)
			}
			seen[best]++
		}
		if len(seen) != m.Schema.Classes() {
			t.Errorf("%s: only the levels %v are ever predicted: the test sees too little", name, seen)
		}
	}
}

func TestLinksAtTheEdges(t *testing.T) {
	huge := math.MaxFloat64
	for _, c := range []struct {
		link Link
		z    []float64
		want []float64
	}{
		{Share, []float64{0, 0, 0, 0}, []float64{0.25, 0.25, 0.25, 0.25}},
		{Share, []float64{3, 0, 1}, []float64{0.75, 0, 0.25}},
		{Softmax, []float64{huge, -huge, 0}, []float64{1, 0, 0}},
		{Softmax, []float64{-huge, -huge}, []float64{0.5, 0.5}},
		{Softmax, []float64{0, math.Log(3)}, []float64{0.25, 0.75}},
		{OneVersusRest, []float64{-huge, -huge}, []float64{0.5, 0.5}},
		{OneVersusRest, []float64{huge, huge, -huge}, []float64{0.5, 0.5, 0}},
		{OneVersusRest, []float64{-800, -800 + math.Log(3)}, []float64{0.25, 0.75}}, // both sigmoids underflow
		{OneVersusRest, []float64{0, 0, 0}, []float64{1. / 3, 1. / 3, 1. / 3}},
	} {
		z := slices.Clone(c.z)
		c.link.applyTo(z)
		for k := range z {
			if !(math.Abs(z[k]-c.want[k]) <= 1e-12) {
				t.Errorf("%s of %v is %v, want %v", c.link, c.z, z, c.want)
				break
			}
		}
	}
}

// Ties go to the first level; of two levels, to the positive one.
func TestTies(t *testing.T) {
	m := levelled()
	if got := m.Labels([]float64{0.25, 0.5, 0.25, 0.4, 0.4, 0.2, 0.2, 0.4, 0.4}); !slices.Equal(got, []uint8{1, 0, 1}) {
		t.Errorf("labels of three levels: %v", got)
	}
	if got := two(m).Labels([]float64{0.5, math.Nextafter(0.5, 0)}); !slices.Equal(got, []uint8{1, 0}) {
		t.Errorf("labels of two levels: %v", got)
	}
}

func TestLevelsRefuse(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		say  string
		m    *Model
		edit func(*Model)
	}{
		{`link "share" is not known`, levelled(), func(m *Model) { m.Classifier.(*Linear).Link = Share }},
		{`link "" is not known`, levelled(), func(m *Model) { m.Classifier.(*Linear).Link = "" }},
		{"each of 3 classes", levelled(), func(m *Model) { m.Classifier.(*Linear).Bias = m.Classifier.(*Linear).Bias[:2] }},
		{"each of 3 classes", levelled(), func(m *Model) { m.Classifier.(*Linear).Coef = m.Classifier.(*Linear).Coef[:2] }},
		{"each of 2 classes", levelled(), func(m *Model) { m.Schema = clinic() }},
		{"coefficients must number 10", levelled(), func(m *Model) {
			m.Classifier.(*Linear).Coef[1] = m.Classifier.(*Linear).Coef[1][1:]
		}},
		{"space must be one of", levelled(), func(m *Model) { m.Classifier.(*Linear).Space = 1 }},
		{"class 2: coefficients and bias must be finite", levelled(),
			func(m *Model) { m.Classifier.(*Linear).Coef[2][3] = math.NaN() }},
		{"class 0: coefficients and bias must be finite", levelled(),
			func(m *Model) { m.Classifier.(*Linear).Bias[0] = inf }},
		{`link "one-vs-rest" is not known`, elected(), func(m *Model) { m.Classifier.(*Ballots).Link = OneVersusRest }},
		{"members must number 1", elected(), func(m *Model) { m.Classifier.(*Ballots).Members = nil }},
		{"weight must be at least 0", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[1].Weight = -0x1p-1074 }},
		{"weight must be at least 0", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[1].Weight = math.NaN() }},
		{"must add up to a finite number", elected(), func(m *Model) {
			m.Classifier.(*Ballots).Members[1].Weight = math.MaxFloat64
		}},
		{"exactly one of stump and argmax", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[1].Argmax = nil }},
		{"exactly one of stump and argmax", elected(), func(m *Model) {
			m.Classifier.(*Ballots).Members[0].Argmax = m.Classifier.(*Ballots).Members[1].Argmax
		}},
		{"space must be one of", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[0].Space = -1 }},
		{"leaves must hold 3", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[0].Stump.Yes = []float64{1, 0} }},
		{"leaves must be finite", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[0].Stump.No[1] = -1 }},
		{"leaves must be finite", elected(), func(m *Model) {
			m.Classifier.(*Ballots).Link, m.Classifier.(*Ballots).Members[0].Stump.No[1] = Softmax, inf
		}},
		{"bias must be in [-1, 1]", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[0].Stump.Bias = 1.5 }},
		{"coefficient 1 must be in [-1, 1]", elected(), func(m *Model) {
			m.Classifier.(*Ballots).Members[0].Stump.Coef[1] = math.NaN()
		}},
		{"each of 3 classes", elected(), func(m *Model) { m.Classifier.(*Ballots).Members[1].Argmax.Coef = nil }},
		{"class 1: coefficients and bias must be finite", elected(),
			func(m *Model) { m.Classifier.(*Ballots).Members[1].Argmax.Bias[1] = inf }},
		{"must have 2 classes, or", three(voted()), func(*Model) {}},
		{"must have 2 classes, or", three(fitted()), func(*Model) {}},
		{"must have 2 classes, or", three(summed()), func(*Model) {}},
	} {
		if _, err := Marshal(c.m); err != nil && !strings.HasPrefix(c.say, "must have 2") {
			t.Fatal(err)
		}
		c.edit(c.m)
		if _, err := Marshal(c.m); err == nil || !strings.Contains(err.Error(), c.say) {
			t.Errorf("got %v, want an error that says %q", err, c.say)
		}
	}
}

// Lists that name no size make a reader allocate no more than the others do.
func TestLevelsMemoryIsBoundedByInput(t *testing.T) {
	const size = 1 << 19
	lists := 0
	for _, m := range []*Model{levelled(), elected()} {
		_, raw, err := readFrame(mustMarshal(t, m))
		if err != nil {
			t.Fatal(err)
		}
		for _, list := range []string{`"levels": [` + "\n", `"members": [`, `"coef": [`, `"yes": [`} {
			if !strings.Contains(string(raw), list) {
				continue
			}
			lists++
			for _, item := range []string{"{},", "[],", "0, ", "\n        {\n          \n        },"} {
				text := strings.Replace(string(raw), list, list[:strings.IndexByte(list, '[')+1]+
					strings.Repeat(item, size/len(item))+list[strings.IndexByte(list, '[')+1:], 1)
				file := writeFrame(3, []byte(text))
				if got, most := allocated(file), uint64(64*len(file)+1<<18); got > most {
					t.Errorf("%.12q filled with %.12q: reading %d bytes allocated %d, want at most %d", list, item, len(file),
						got, most)
				}
			}
		}
	}
	if lists != 6 {
		t.Errorf("filled %d lists, want 6", lists)
	}
}
