// SPDX-License-Identifier: Apache-2.0

package chaudhuri

import (
	"context"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/realdata"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// datasets skips as realdata.File does.
func datasets(t *testing.T) string {
	t.Helper()
	return realdata.File(t, ".")
}

// smallest runs one repeat of a figure on so many rows, at the smallest and the
// largest ε, and checks what every record says.
func smallest(t *testing.T, p panel, rows int) *frame.Result {
	t.Helper()
	p.sample = rows
	f := p.newFigure()
	all := f.Points
	f.Points = nil
	for _, point := range all {
		if point.Epsilon == 0 || point.Epsilon == budgets[0] || point.Epsilon == budgets[len(budgets)-1] {
			f.Points = append(f.Points, point)
		}
	}
	res, err := f.Run(context.Background(), frame.Options{Out: t.TempDir(), Repeats: 1, Seed: 1, Datasets: datasets(t)})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Records) != len(f.Points) {
		t.Errorf("%d records of %d points", len(res.Records), len(f.Points))
	}
	for _, r := range res.Records {
		if !(r.Value >= 0 && r.Value <= 1) {
			t.Errorf("%s: error %g", r.Series, r.Value)
		}
		if private := r.Epsilon != nil; private && r.Bill != *r.Epsilon || !private && r.Bill != 0 {
			t.Errorf("%s: bill %g", r.Series, r.Bill)
		}
	}
	return res
}

// On 6,000 rows the error without privacy is near 16 %, that of guessing near
// 25 %; the bands are four standard errors of 600 test rows.
func TestAdult(t *testing.T) {
	datasets(t)
	s := smallest(t, adultPanel(), 6000).Summary
	for series, band := range map[string][2]float64{"svm-non-private": {0.10, 0.22}, "logistic-non-private": {0.10, 0.22},
		guess: {0.18, 0.32}} {
		if m := s.Mean(series, 0, testError).Mean; !(m > band[0] && m < band[1]) {
			t.Errorf("%s: error %g", series, m)
		}
	}
}

func TestKDD99(t *testing.T) {
	datasets(t)
	s := smallest(t, kddPanel(), 2000).Summary
	if m := s.Mean("svm-non-private", 0, testError).Mean; !(m < 0.05) {
		t.Errorf("error without privacy %g", m)
	}
}

// The protocols name numbers of rows and features.
func TestRowsAndFeaturesAreAsStated(t *testing.T) {
	w := frame.NewWorld(datasets(t))
	for _, c := range []struct {
		p    panel
		rows int
	}{{adultPanel(), 45_222}, {kddPanel(), 494_021}} {
		all, err := w.Read(context.Background(), c.p.schema, c.p.files...)
		if err != nil {
			t.Fatal(err)
		}
		if c.p.prepare != nil {
			all = c.p.prepare(all)
		}
		sp, err := feature.NewSpace(all.Schema, feature.OneHot, all.Schema.Features())
		if err != nil {
			t.Fatal(err)
		}
		if all.Rows != c.rows || sp.Width() != c.p.features {
			t.Errorf("%s: %d rows and %d features, want %d and %d", c.p.name, all.Rows, sp.Width(), c.rows, c.p.features)
		}
	}
}

// A point's series says what is fitted.
func TestParams(t *testing.T) {
	for series, want := range map[string]erm.Params{
		"svm-objective":        {Loss: erm.Huber, Method: erm.Objective, Mode: erm.CMS11, Epsilon: dp.Nano},
		"logistic-output":      {Loss: erm.Logistic, Method: erm.Output, Mode: erm.CMS11, Epsilon: dp.Nano},
		"svm-objective-tight":  {Loss: erm.Huber, Method: erm.Objective, Mode: erm.Tight, Epsilon: dp.Nano},
		"logistic-non-private": {Loss: erm.Logistic, Method: erm.Auto, Mode: erm.Tight, NotPrivate: true},
	} {
		got := paramsFor(frame.Point{Series: series, Epsilon: dp.Nano})
		if got.Loss != want.Loss || got.Method != want.Method || got.Mode != want.Mode || got.Epsilon != want.Epsilon ||
			got.NotPrivate != want.NotPrivate {
			t.Errorf("%s: %+v", series, got)
		}
	}
}

// Chance is the rarer label's share.
func TestChance(t *testing.T) {
	s := &schema.Schema{Label: schema.Label{Levels: []schema.Level{{Value: "no"}, {Value: "yes"}}, Positive: 1}}
	test := &dataset.Table{Schema: s, Rows: 5, Labels: []uint8{0, 1, 1, 0, 1}}
	if got := (&trial{test: test}).constantError(); got != 0.4 {
		t.Errorf("chance %g, want 0.4", got)
	}
}
