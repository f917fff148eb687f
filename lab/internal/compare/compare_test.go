// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"bytes"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/census"
)

func plain(_ dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
	return logistic.Params{Encoding: feature.OneHot, Columns: nonprivate.All, NotPrivate: true}.Plan(s, rows)
}

func private(eps dp.Epsilon, s *schema.Schema, rows int) (learn.Plan, error) {
	p := brc.Defaults()
	p.Epsilon, p.Encoding = eps, feature.Ordinal
	pl, err := p.Plan(s, rows)
	if err != nil {
		return nil, err
	}
	return pl, nil
}

func options() Options {
	return Options{
		Learners: []Learner{{"brc", true, private}, {"logistic", false, plain}},
		Epsilons: []dp.Epsilon{dp.Nano / 2, dp.Nano}, Repeats: 3, HeldOut: 0.25, Seed: 5,
	}
}

func compared(t *testing.T, tab *dataset.Table, o Options) *Result {
	t.Helper()
	r, err := Run(t.Context(), tab, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What Run finds is what training on one part and judging on the other, by
// hand, finds; and both parts together are the table.
func TestRunAgainstByHand(t *testing.T) {
	tab := census.Generate(1, 400)
	o := options()
	ticks := 0
	o.Progress = func(done, total int) {
		if ticks++; done != ticks || total != 9 {
			t.Errorf("progress %d of %d after %d fits", done, total, ticks)
		}
	}
	r := compared(t, tab, o)
	if r.Train != 300 || r.Test != 100 || len(r.Points) != 3 || ticks != 9 {
		t.Fatalf("got %d and %d rows, %d points, %d ticks", r.Train, r.Test, len(r.Points), ticks)
	}
	for i := range o.Repeats {
		all := make([]int, tab.Rows)
		for k := range all {
			all[k] = k
		}
		train, test := sample.HoldOut(all, o.HeldOut, splitSource(o.Seed, i))
		if both := slices.Sorted(slices.Values(slices.Concat(train, test))); !slices.Equal(both, all) {
			t.Fatal("the parts must make the table")
		}
		rows, err := memory.New(tab.Subset(train))
		if err != nil {
			t.Fatal(err)
		}
		pl, err := plain(0, tab.Schema, len(train))
		if err != nil {
			t.Fatal(err)
		}
		m, err := guard.Train(t.Context(), pl, rows, guard.Uncounted{}, mech.NewExit(rng.System()))
		if err != nil {
			t.Fatal(err)
		}
		held := tab.Subset(test)
		scores, err := m.Scores(held.Cols, held.Rows)
		if err != nil {
			t.Fatal(err)
		}
		want, err := metrics.Evaluate(held.Labels, scores, []string{tab.Schema.Label.Levels[0].Value, tab.Schema.Label.Levels[1].Value}, tab.Schema.Label.Positive, 0.5)

		if err != nil {
			t.Fatal(err)
		}
		p := r.Points[2]
		if p.Learner != "logistic" || p.Epsilon != 0 || p.Accuracy[i] != want.Accuracy || *p.AUC[i] != *want.AUC {
			t.Errorf("repeat %d: got %g and %g, want %g and %g", i, p.Accuracy[i], *p.AUC[i], want.Accuracy, *want.AUC)
		}
	}
}

// The seed fixes the splits, so a learner without noise scores the same; noise
// is fresh, so one with noise does not. Two noisy fits agree in three AUC of 100
// rows less than once in 1e6 runs; shared noise would make them agree always.
func TestSeedIsForSplitsOnly(t *testing.T) {
	tab := census.Generate(2, 400)
	a, b := compared(t, tab, options()), compared(t, tab, options())
	same := func(x, y *Point) bool {
		return slices.EqualFunc(x.AUC, y.AUC, func(p, q *float64) bool { return *p == *q })
	}
	if !same(a.Points[2], b.Points[2]) {
		t.Error("equal seeds must give equal splits")
	}
	if same(a.Points[0], b.Points[0]) || same(a.Points[1], b.Points[1]) {
		t.Error("noise must be fresh in every fit")
	}
	o := options()
	o.Seed++
	if c := compared(t, tab, o); same(a.Points[2], c.Points[2]) {
		t.Error("other seeds must give other splits")
	}
}

func TestStat(t *testing.T) {
	half, one := 0.5, 1.0
	p := &Point{Accuracy: []float64{1, 2, 3}, AUC: []*float64{&half, nil, &one}}
	if got := p.Stat(Accuracy); math.Abs(got.Mean-2) > 1e-15 || math.Abs(got.StdDev-1) > 1e-15 || got.N != 3 {
		t.Errorf("accuracy %+v", got)
	}
	if got := p.Stat(AUC); got.Mean != 0.75 || math.Abs(got.StdDev-math.Sqrt(0.125)) > 1e-15 || got.N != 2 {
		t.Errorf("AUC %+v", got)
	}
	if got := (&Point{AUC: []*float64{nil}}).Stat(AUC); got.N != 0 {
		t.Errorf("no AUC gave %+v", got)
	}
}

func TestChartSaysThatItIsNotPrivate(t *testing.T) {
	for _, repeats := range []int{1, 2} {
		o := options()
		o.Repeats = repeats
		r := compared(t, census.Generate(3, 400), o)
		for _, m := range []Metric{Accuracy, AUC} {
			var b bytes.Buffer
			if err := r.Chart(m).WriteSVG(&b); err != nil {
				t.Error(err)
			}
			if !r.Has(m) || !strings.Contains(b.String(), "Not private") ||
				strings.Contains(b.String(), "deviation") != (repeats > 1) {
				t.Errorf("%s of %d repeats: the chart must say what it is", m, repeats)
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	tab := census.Generate(4, 100)
	many := make([]Learner, 7)
	for i := range many {
		many[i] = Learner{"brc " + string(rune('a'+i)), true, private}
	}
	for name, c := range map[string]struct {
		change func(*Options)
		want   string
	}{
		"no private learner": {func(o *Options) { o.Learners = o.Learners[1:] }, "must name a private one"},
		"too many learners":  {func(o *Options) { o.Learners = many }, "must be at most 6"},
		"equal names":        {func(o *Options) { o.Learners = append(o.Learners, o.Learners[0]) }, "distinct names"},
		"no ε":               {func(o *Options) { o.Epsilons = nil }, "must be 1 to 20 prices"},
		"equal ε":            {func(o *Options) { o.Epsilons[1] = o.Epsilons[0] }, "increasing"},
		"negative ε":         {func(o *Options) { o.Epsilons[0] = -1 }, "must be > 0"},
		"no repeats":         {func(o *Options) { o.Repeats = 0 }, "from 1 to 1000"},
		"too many repeats":   {func(o *Options) { o.Repeats = 1001 }, "from 1 to 1000"},
		"no held-out part":   {func(o *Options) { o.HeldOut = 0 }, "share from 0.01"},
		"no training part":   {func(o *Options) { o.HeldOut = 1 }, "share from 0.01"},
		"NaN":                {func(o *Options) { o.HeldOut = math.NaN() }, "share from 0.01"},
		"a bad plan": {func(o *Options) {
			o.Learners[0].Plan = func(dp.Epsilon, *schema.Schema, int) (learn.Plan, error) {
				return nil,
					errors.New("no such plan")
			}
		}, "compare: brc: no such plan"},
		"a long word": {func(o *Options) { o.Learners[0].Name = "abcdefghijklmnopq" }, "at most 16"},
	} {
		o := options()
		c.change(&o)
		if _, err := Run(t.Context(), tab, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := Run(t.Context(), tab.Subset([]int{0, 1, 2}), options()); err == nil ||
		!strings.Contains(err.Error(), "rows enough") {
		t.Errorf("three rows: got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, tab, options()); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
}
