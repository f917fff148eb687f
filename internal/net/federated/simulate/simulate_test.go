// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// synthetic is ten normal attributes and ten that are mixtures of them; of two
// levels the label is the side of a plane, but for noise, of more the nearest of
// as many directions.
func synthetic(t testing.TB, rows, levels int) *dataset.Table {
	text := "name: synthetic\nunit: one person\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: \"\", header: true}\ncolumns:\n"
	for j := range 20 {
		text += fmt.Sprintf("  - {name: x%d, role: private, number: {lower: -3.1, upper: 3.1, default: 0}}\n", j)
	}
	if levels == 2 {
		text += "  - {name: y, role: private, label: {levels: [no, yes], positive: yes, default: no}}\n"
	} else {
		text += "  - {name: y, role: private, label: {levels: [a, b, c], default: a}}\n"
	}
	s, err := schema.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(n int) (v []float64) {
		for range n {
			v = append(v, r.NormFloat64())
		}
		return v
	}
	mix, sides := make([][]float64, 10), make([][]float64, levels)
	for j := range mix {
		mix[j] = normal(10)
	}
	for k := range sides {
		sides[k] = normal(10)
	}
	const values = 255
	cols, labels := make([][]uint32, 20), make([]uint8, rows)
	for j := range cols {
		cols[j] = make([]uint32, rows)
	}
	for i := range rows {
		x, best, top := normal(10), 0, math.Inf(-1)
		for k, side := range sides {
			z := r.NormFloat64()
			for j, v := range x {
				z += v * side[j]
			}
			if z > top {
				best, top = k, z
			}
		}
		labels[i] = uint8(best)
		for _, row := range mix {
			v := 0.0
			for j, w := range row {
				v += w * x[j] / 3
			}
			x = append(x, v)
		}
		for j, v := range x {
			cols[j][i] = uint32(math.Round((min(max(v, -3), 3) + 3) / 6 * (values - 1)))
		}
	}
	tab := &dataset.Table{Schema: s, Rows: rows, Labels: labels}
	dictionary := make([]float64, values)
	for c := range dictionary {
		dictionary[c] = 6*float64(c)/(values-1) - 3
	}
	for j := range cols {
		tab.Cols = append(tab.Cols, column.Column{Codes: column.Narrow(cols[j], values), Values: dictionary})
	}
	return tab
}

// seeded makes a simulation that can be repeated.
func seeded(seed uint64) func(part int) rng.Source {
	return func(part int) rng.Source { return replay.Seeded(seed, fmt.Sprint(part)) }
}

// evaluate scores a model on a table.
func evaluate(t testing.TB, m *model.Model, tab *dataset.Table) *metrics.Report {
	scores, err := m.Scores(tab.Cols, tab.Rows)
	if err != nil {
		t.Fatal(err)
	}
	var levels []string
	for _, l := range tab.Schema.Label.Levels {
		levels = append(levels, l.Value)
	}
	r, err := metrics.Evaluate(tab.Labels, scores, levels, tab.Schema.Label.Positive, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// With a generous ε and many owners every classifier learns, for two levels and
// for three; with owners of many rows too.
func TestRunLearns(t *testing.T) {
	for _, c := range []struct {
		levels, owners int
		classifier     wire.Classifier
		mechanism      string
		rounds         int
		auc            float64
	}{
		{2, 0, wire.Stump, "", 1, 0.88},
		{2, 0, wire.Stump, "", 3, 0.9},
		{2, 0, wire.Logistic, "", 1, 0.88},
		{2, 0, wire.Centroid, "", 1, 0.85},
		{2, 0, wire.Stump, "piecewise", 1, 0.75},
		{2, 30_000, wire.Stump, "grr", 1, 0.88},
		{3, 0, wire.Stump, "", 2, 0.85},
		{3, 0, wire.Logistic, "oue", 1, 0.85},
		{3, 0, wire.Centroid, "", 2, 0.75},
	} {
		tab := synthetic(t, 60_000, c.levels)
		res, err := Run(context.Background(), tab, Params{Classifier: c.classifier, Mechanism: c.mechanism,
			Epsilon: 6 * dp.Nano, Owners: c.owners, Rounds: c.rounds, Source: seeded(1)})
		if err != nil {
			t.Fatal(c, err)
		}
		want := c.owners
		if want == 0 {
			want = tab.Rows
		}
		if res.Asked != want || len(res.Rounds) != c.rounds {
			t.Errorf("%v: %d owners reported of %d, %d rounds", c, res.Asked, want, len(res.Rounds))
		}
		if r := evaluate(t, res.Model, tab); !(*r.AUC >= c.auc) {
			t.Errorf("%v: AUC %.3f, want %.3f at least", c, *r.AUC, c.auc)
		}
		p := res.Model.Privacy
		if p.Scope != dp.Party || p.Epsilon != 6*dp.Nano || !p.Seeded || len(p.Bill) != 1 {
			t.Errorf("%v: the statement says %+v", c, p)
		}
		if _, err := model.Marshal(res.Model); err != nil {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// The system's source never repeats itself, nor is it called seeded.
func TestRunIsFresh(t *testing.T) {
	tab := synthetic(t, 3000, 2)
	var texts [2][]byte
	for i := range texts {
		res, err := Run(context.Background(), tab, Params{Classifier: wire.Stump, Epsilon: dp.Nano})
		if err != nil {
			t.Fatal(err)
		}
		if texts[i], err = model.Marshal(res.Model); err != nil {
			t.Fatal(err)
		}
		if res.Model.Privacy.Seeded {
			t.Error("fresh randomness is called seeded")
		}
	}
	if bytes.Equal(texts[0], texts[1]) {
		t.Error("two runs, one model")
	}
}

func TestRunRefuses(t *testing.T) {
	tab := synthetic(t, 100, 2)
	for _, p := range []Params{
		{Classifier: wire.Stump, Epsilon: 0},
		{Classifier: "tree", Epsilon: dp.Nano},
		{Classifier: wire.Stump, Epsilon: dp.Nano, Owners: 101},
		{Classifier: wire.Stump, Epsilon: dp.Nano, Rounds: -1},
		{Classifier: wire.Stump, Epsilon: dp.Nano, Mechanism: "none"},
	} {
		if _, err := Run(context.Background(), tab, p); err == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, tab, Params{Classifier: wire.Stump, Epsilon: dp.Nano}); err == nil {
		t.Error("an interrupted simulation gave a model")
	}
}

// BenchmarkMillion is the bar: a million owners, 20 attributes, 20 rounds in 30 s
// on two cores, below 1 GiB. go test -bench Million -benchtime 1x ./local/simulate
func BenchmarkMillion(b *testing.B) {
	tab := synthetic(b, 1_000_000, 2)
	for b.Loop() {
		if _, err := Run(context.Background(), tab, Params{Classifier: wire.Stump, Epsilon: dp.Nano,
			Rounds: 20}); err != nil {
			b.Fatal(err)
		}
	}
}
