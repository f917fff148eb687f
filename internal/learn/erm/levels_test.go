// SPDX-License-Identifier: Apache-2.0

package erm

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// leveled are tables of two and three levels, rows of each counting the same or
// not.
func leveled(seed uint64, rows int) map[string]*dataset.Table {
	tab := censustest.Table(seed, rows)
	return map[string]*dataset.Table{
		"2 levels, weights": learntest.Levels(tab, 2, []float64{1, 3}),
		"3 levels":          learntest.Levels(tab, 3, nil),
		"3 levels, weights": learntest.Levels(tab, 3, []float64{5, 1, 2}),
	}
}

func TestConformanceOfLevels(t *testing.T) {
	for about, tab := range leveled(1, 400) {
		for name, p := range settings() {
			t.Run(about+"/"+name, func(t *testing.T) {
				learntest.Run(t, learntest.Case{Plan: planner(p, tab.Schema, 400), Table: tab})
			})
		}
	}
}

// As TestReplayNonInterference, with more levels and weights of them.
func TestReplayNonInterferenceOfLevels(t *testing.T) {
	for about, tab := range leveled(2, 40) {
		for name, p := range settings() {
			if p.NotPrivate {
				continue
			}
			src := replay.Seeded(3, about+name)
			for k := range 25 {
				b := learntest.Neighbour(tab, src, dp.WholeRow)
				shift := float64(rng.Below(src, 1000))
				differs, worst, at := learntest.Interference(t, planner(p, tab.Schema, tab.Rows), tab, b, uint64(k),
					func(_ int, p mechtest.Passage) []float64 {
						out := make([]float64, len(p.Values))
						for f := range out {
							out[f] = math.Sin(shift + float64(3*f))
						}
						return out
					})
				if differs != "" {
					t.Fatalf("%s, %s, pair %d: %s differ", about, name, k, differs)
				}
				if worst > 1 {
					t.Fatalf("%s, %s, pair %d: %s moved %.6f times its declared bound", about, name, k, at, worst)
				}
			}
		}
	}
}

// The parts of ε add up to it, each fit states its own part and has the noise of
// that part: of a K-th of ε, not of ε (4.1).
func TestEveryFitPaysItsPart(t *testing.T) {
	tab := learntest.Levels(censustest.Table(1, 60), 3, nil)
	for _, name := range []string{"objective", "output", "output, laplace"} {
		p := settings()[name]
		p.Epsilon, p.Reg = dp.Nano+1, 0.5
		pl, err := p.Plan(tab.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		binary := learntest.Levels(tab, 2, nil)
		tape := &mechtest.Recorder{}
		learntest.Fit(t, pl, tab, tape, 1)
		per := len(tape.Passages) / 3
		var sum dp.Epsilon
		for level := range 3 {
			var part dp.Epsilon
			for _, passage := range tape.Passages[level*per:][:per] {
				part += passage.Loss
				if want := fmt.Sprintf(", level %d of 3", level+1); passage.Label != termLabel+want &&
					passage.Label != coefsLabel+want {
					t.Errorf("%s: release %q of level %d", name, passage.Label, level)
				}
			}
			sum += part
			one := p
			one.Epsilon = part
			alone, err := one.Plan(binary.Schema, binary.Rows)
			if err != nil {
				t.Fatal(err)
			}
			tapeAlone := &mechtest.Recorder{}
			learntest.Fit(t, alone, binary, tapeAlone, 1)
			for i, passage := range tapeAlone.Passages {
				if got := tape.Passages[level*per+i]; got.Bound != passage.Bound || got.Loss != passage.Loss {
					t.Errorf("%s, level %d, release %d: bound %g for %s, a binary fit at the same price has %g for %s", name, level, i,
						got.Bound, got.Loss, passage.Bound, passage.Loss)
				}
			}
		}
		if sum != p.Epsilon {
			t.Errorf("%s: the fits cost %s of %s", name, sum, p.Epsilon)
		}
		// The part of ε is in the scale of the noise, not on the bill alone.
		whole, err := p.Plan(binary.Schema, tab.Rows)
		if err != nil {
			t.Fatal(err)
		}
		if part, all := noiseOf(pl.parts[0]), noiseOf(whole); !(part > 2.5*all) {
			t.Errorf("%s: noise of length %g in one of three fits, %g in one alone", name, part, all)
		}
	}
}

// noiseOf is the length of the noise of a fit on 60 rows.
func noiseOf(pl *Plan) float64 {
	s := pl.sizeNoise(60)
	if length := s.TermLength(); length > 0 {
		return length
	}
	return s.OutputLength()
}

// Without noise and in the mean over all rows, a level of weight 3 counts as
// its rows three times.
func TestWeightsCountRows(t *testing.T) {
	tab := censustest.Table(4, 300)
	p := settings()["not private"]
	p.Reg = 0.01
	weighted := learntest.Levels(tab, 2, []float64{1, 3})
	pl, err := p.Plan(weighted.Schema, weighted.Rows)
	if err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i, label := range weighted.Labels {
		rows = append(rows, i)
		if label == 1 {
			rows = append(rows, i, i)
		}
	}
	repeated := learntest.Levels(tab, 2, nil).Subset(rows)
	// (1/n)·Σ w·l with w = 1/3 and 1 is (1/3n)·Σ over repeated rows; so Λ there is
	// Λ·3n over the number of those.
	p.Reg = 0.01 * 3 * float64(weighted.Rows) / float64(len(rows))
	twin, err := p.Plan(repeated.Schema, repeated.Rows)
	if err != nil {
		t.Fatal(err)
	}
	got, want := learntest.Fit(t, pl, weighted, nil, 1).Classifier.(*model.Logistic),
		learntest.Fit(t, twin, repeated, nil, 1).Classifier.(*model.Logistic)
	for f := range want.Coef {
		if !(math.Abs(got.Coef[f]-want.Coef[f]) <= 1e-7) {
			t.Errorf("coefficient %d is %.9g, of repeated rows %.9g", f, got.Coef[f], want.Coef[f])
		}
	}
}

// Levels of three far groups of points are told apart, and the scores of a row
// are in proportion to the fits' own probabilities.
func TestThreeGroupsAreTold(t *testing.T) {
	s := *learntest.Levels(censustest.Table(1, 2), 3, nil).Schema
	s.Columns = slices.Clone(s.Columns[:2])
	for j := range s.Columns {
		s.Columns[j] = numberColumn(fmt.Sprint("x", j))
	}
	centres := [][2]float64{{-0.8, -0.8}, {0.8, -0.8}, {0, 0.8}}
	const rows = 600
	tab := &dataset.Table{Schema: &s, Rows: rows, Labels: make([]uint8, rows), Cols: make([]column.Column, 2)}
	src := replay.Seeded(1, "groups")
	for j := range tab.Cols {
		codes := make([]uint32, rows)
		for i := range codes {
			tab.Labels[i] = uint8(i % 3)
			codes[i] = uint32(i)
			tab.Cols[j].Values = append(tab.Cols[j].Values, centres[i%3][j]+0.2*(float64(rng.Below(src, 1000))/1000-0.5))
		}
		tab.Cols[j].Codes = column.Narrow(codes, rows)
	}
	p := settings()["auto"]
	p.Epsilon = 30 * dp.Nano
	pl, err := p.Plan(&s, rows)
	if err != nil {
		t.Fatal(err)
	}
	m := learntest.Fit(t, pl, tab, nil, 1)
	scores, err := m.Scores(tab.Cols, rows)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i, label := range m.Labels(scores) {
		if label != tab.Labels[i] {
			wrong++
		}
		z := make([]float64, 3)
		all := 0.0
		for k := range z {
			z[k] = m.Classifier.(*model.Linear).Bias[k]
			for j := range tab.Cols {
				z[k] += m.Classifier.(*model.Linear).Coef[k][j] * tab.Cols[j].Values[i]
			}
			z[k] = 1 / (1 + math.Exp(-z[k]))
			all += z[k]
		}
		for k := range z {
			if !(math.Abs(scores[3*i+k]-z[k]/all) <= 1e-12) {
				t.Fatalf("row %d: scores %v, want %v over %v", i, scores[3*i:][:3], z, all)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d rows of three far groups are mistaken", wrong, rows)
	}
}
