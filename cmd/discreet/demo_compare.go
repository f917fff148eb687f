// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/plot"
	"github.com/discreet-dp/discreet/internal/privacy/dp"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/dataset"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// comparison is what the demo found: the AUC of each model on the test half.
type comparison struct {
	rows               int
	publicOnly, nobody float64 // without the private columns; without privacy
	price              []dp.Epsilon
	brc                [][]float64 // by price, then repeat
}

// demoRepeats is how often brc is trained at each price, since noise is part of
// it.
const demoRepeats = 25

// demoPrices are 0.01, 0.04, 0.16 and 0.64.
var demoPrices = []dp.Epsilon{dp.Nano / 100, dp.Nano / 25, dp.Nano * 16 / 100, dp.Nano * 64 / 100}

// compare trains every model of the demo.
func compare(ctx context.Context, train, test *dataset.Table, report func(done, total int)) (*comparison, error) {
	rows, err := memory.New(train)
	if err != nil {
		return nil, err
	}
	exit := mech.NewExit(rng.System())
	s := train.Schema
	done, total := 0, 2+len(demoPrices)*demoRepeats
	auc := func(pl learn.Plan) (float64, error) {
		m, err := pl.Fit(ctx, rows, learn.Uncounted{}, exit)
		if err != nil {
			return 0, err
		}
		scores, err := m.Scores(test.Cols, test.Rows)
		if err != nil {
			return 0, err
		}
		r, err := metrics.Evaluate(test.Labels, scores, labelLevels(s), s.Label.Positive)
		if err != nil {
			return 0, err
		}
		done++
		report(done, total)
		if r.AUC == nil {
			return 0, fmt.Errorf("demo: the test half has one label only; give more --rows")
		}
		return *r.AUC, nil
	}
	c := &comparison{rows: train.Rows, price: demoPrices}
	for _, b := range []struct {
		params logistic.Params
		into   *float64
	}{
		{logistic.Params{Encoding: feature.OneHot, Columns: nonprivate.Public}, &c.publicOnly},
		{logistic.Params{Encoding: feature.OneHot, Columns: nonprivate.All, NotPrivate: true}, &c.nobody},
	} {
		pl, err := b.params.Plan(s, train.Rows)
		if err != nil {
			return nil, err
		}
		if *b.into, err = auc(pl); err != nil {
			return nil, err
		}
	}
	for _, eps := range c.price {
		p := brc.Defaults()
		p.Epsilon, p.Encoding = eps, feature.Ordinal // the levels of the census stand in order
		pl, err := p.Plan(s, train.Rows)
		if err != nil {
			return nil, err
		}
		found := make([]float64, demoRepeats)
		for i := range found {
			if found[i], err = auc(pl); err != nil {
				return nil, err
			}
		}
		c.brc = append(c.brc, found)
	}
	return c, nil
}

// print writes the comparison for a terminal.
func (c *comparison) print(out io.Writer, columns int, g plot.Glyphs) error {
	var b strings.Builder
	if err := c.chart().WriteText(&b, columns, g); err != nil {
		return err
	}
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	epsilon := "ε"
	if g == plot.ASCII {
		epsilon = "epsilon"
	}
	fmt.Fprintf(w, "model\tprivacy\tAUC\tof %d runs\n", demoRepeats)
	fmt.Fprintf(w, "logistic, public columns\tprivate columns not used\t%.3f\t\n", c.publicOnly)
	for i, eps := range c.price {
		low, mean, high := spread(c.brc[i])
		fmt.Fprintf(w, "brc, all columns\t%s = %s\t%.3f\t%.3f to %.3f\n", epsilon, eps, mean, low, high)
	}
	fmt.Fprintf(w, "logistic, all columns\tNONE\t%.3f\t\n", c.nobody)
	w.Flush()
	fmt.Fprintf(&b, "\n%s\n", c.verdict(epsilon))
	_, err := io.WriteString(out, b.String())
	return err
}

// verdict says whether the private columns were worth their noise.
func (c *comparison) verdict(epsilon string) string {
	for i, eps := range c.price {
		if _, mean, _ := spread(c.brc[i]); mean > c.publicOnly {
			return fmt.Sprintf("On average brc beats the model without private columns from %s = %s on.", epsilon, eps)
		}
	}
	return "On average brc does not beat the model without private columns at any of these prices: so few people need a higher one."
}

func (c *comparison) chart() *plot.Lines {
	l := &plot.Lines{
		Title:    "What privacy costs: models of an invented census",
		Subtitle: fmt.Sprintf("Trained on %d people, judged on as many others; 14 columns, 9 of them private; ordinal encoding for BRC", c.rows),
		XLabel:   "privacy loss ε of the model", YLabel: "AUC on the test half",
		LogX:   true,
		Spread: fmt.Sprintf("lowest to highest of %d runs around their mean", demoRepeats),
		References: []plot.Reference{
			{Name: "not private", Y: c.nobody},
			{Name: "public only", Y: c.publicOnly},
		},
	}
	line := plot.Series{Name: "BRC"}
	for i, eps := range c.price {
		low, mean, high := spread(c.brc[i])
		line.X, line.Y = append(line.X, eps.Float()), append(line.Y, mean)
		line.Low, line.High = append(line.Low, low), append(line.High, high)
	}
	l.Series = []plot.Series{line}
	return l
}

// spread is the lowest, the mean and the highest of some numbers.
func spread(x []float64) (low, mean, high float64) {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return slices.Min(x), sum / float64(len(x)), slices.Max(x)
}
