// SPDX-License-Identifier: Apache-2.0

package guard_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/guard/mistakes"
	"github.com/discreet-dp/discreet/internal/guard/perturbed"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// address is where something lies, which differs from run to run whatever the rows are.
var address = regexp.MustCompile(`(0[xX])?[0-9a-f]{8,}`)

// Package fmt shows fields that the compiler hides. A learner that puts what is sealed into an error
// must not tell neighbours apart.
func TestSealedValuesCannotBePrinted(t *testing.T) {
	tab := censustest.Table(1, 9)
	s := *tab.Schema
	s.Relation, s.Columns = dp.ReplaceOne, slices.Clone(s.Columns)
	var cols []int
	for j := range s.Columns {
		s.Columns[j].Role = []schema.Role{schema.Private, schema.Public}[j%2]
		if s.Columns[j].Role == schema.Public {
			cols = append(cols, j)
		}
	}
	s.Label.Role, tab.Schema = schema.Private, &s
	other := tab
	for seed := range uint64(20) { // far from it, and of the same public cells
		other = learntest.Neighbour(other, replay.Seeded(seed, "neighbour"), dp.FeaturesAndLabel)
	}
	show := func(tab *dataset.Table) (out map[string]string) {
		terms := termsOf(dp.FeaturesAndLabel, dp.Price{Epsilon: dp.Nano}, guard.Share{Epsilon: dp.Nano}.Line("all"))
		g, err := guard.Open(t.Context(), terms, learntest.Engine(t, tab), guard.Uncounted{},
			mech.NewExit(replay.Seeded(1, "sealed")))
		if err != nil {
			t.Fatal(err)
		}
		bins := []feature.Bins{feature.NewBins(&s, s.Features()[0], nil)}
		f := guard.NewStepScore([]float64{0, 0})
		out = map[string]string{}
		keep := func(name string, sealed any, err error) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			held := struct{ of any }{sealed} // as a field that fmt cannot ask for a method
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x", "%q", "%t"} {
				out[name+" by "+verb] = address.ReplaceAllString(fmt.Sprintf(verb+verb, sealed, held), "at")
			}
		}
		keep("guard", g, nil)
		cells, err := g.Cells(nil, bins, guard.FullCaps)
		keep("cells", cells, err)
		keep("sum", cells.Part(0), nil)
		keep("scores", cells.Imbalances([]int{0}), nil)
		classes, err := g.ClassCells(bins)
		keep("classes", classes, err)
		rest, err := g.ClassResiduals(f, &bins[0])
		keep("residuals", rest, err)
		slopes, err := g.GridSlopes(guard.NewStepScore([]float64{0}), guard.SlopeLimit{Most: 1},
			[]feature.Grid{{Axes: bins}})
		keep("slopes", slopes, err)
		groups, err := g.Groups(cols)
		keep("groups", groups, err)
		vectors := groups.ClassVectors(1, 1)
		means, err := groups.ClassMeans([]int{1}, 1)
		for i := range groups.Len {
			vectors.Add(i, []float64{0.5})
			means.Add(i, 0, 0.5)
		}
		keep("vectors", vectors, nil)
		keep("means", means, err)
		space, err := feature.NewSpace(&s, feature.Ordinal, s.Features())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := mistakes.Read(g, mistakes.Question{Space: space, C1: 1, C2: 1,
			List: []feature.Threshold{{Coef: make([]float64, space.Width())}}})
		keep("mistakes", rows, err)
		solver, err := perturbed.OneVersusRest(g)
		keep("perturbed", solver[0], err)
		return out
	}
	a, b := show(tab), show(other)
	for what := range a {
		if a[what] != b[what] {
			t.Errorf("%s shows what is sealed:\n%.300s\nagainst:\n%.300s", what, a[what], b[what])
		}
	}
}
