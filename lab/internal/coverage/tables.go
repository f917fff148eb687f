// SPDX-License-Identifier: Apache-2.0

package coverage

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// source is a table of the experiment.
type source struct {
	name string
	open func(ctx context.Context, datasets string) (*pool, error)
}

func sources() (out []source) {
	for _, f := range []struct{ name, schema, train, pool string }{ // the last two were never looked at while intervals were built
		{"adult", "adult.yaml", "adult/adult.data.gz", "adult/adult.test.gz"},
		{"bank", "bank.yaml", "bank/bank-full.csv.gz", ""},
		{"bank20", "bank-additional.yaml", "bank/bank-additional-full.csv.gz", ""},
		{"credit", "credit.yaml", "credit/UCI_Credit_Card.csv.gz", ""},
		{"phishing", "phishing.yaml", "phishing/phishing_websites.csv.gz", ""},
		{"sepsis", "sepsis.yaml", "sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz", ""},
		{"acs", "acs-employment.yaml", "acs/ACSemployment_train.csv.gz", "acs/ACSemployment_test.csv.gz"},
		{"kdd99", "kdd99.yaml", "kdd99/kddcup.data_10_percent.gz", ""},
	} {
		out = append(out, source{f.name, func(ctx context.Context, datasets string) (*pool, error) {
			w := frame.NewWorld(datasets)
			t, err := w.Read(ctx, f.schema, f.train)
			if err != nil {
				return nil, err
			}
			var held *dataset.Table
			if f.pool != "" {
				if held, err = w.Read(ctx, f.schema, f.pool); err != nil {
					return nil, err
				}
			} else {
				of := make([]int, t.Rows)
				for i := range of {
					of[i] = i
				}
				of, judges := sample.HoldOut(of, 0.5, replay.Seeded(1, "coverage, split"))
				t, held = t.Subset(of), t.Subset(judges)
			}
			m, err := fit(ctx, t)
			return &pool{name: f.name, t: held, m: m}, err
		}})
	}
	for _, g := range []generated{
		{"balanced", 200_000, 0, 1.5, 1, 0, false},
		{"rare", 200_000, -5, 1.2, 1, 0, false},
		{"overconfident", 200_000, -1, 1, 3, 0, false},
		{"few scores", 200_000, -1, 1.5, 1, 5, false},
		{"few steps", 200_000, -1, 1.5, 1, 5, true},
		// Never looked at while intervals were built: scores crowded in a few cells, shy ones, a rare class.
		{"crowded", 200_000, -1.3, 0.25, 1, 0, false},
		{"shy", 200_000, 0.4, 1.8, 0.5, 0, false},
		{"close", 200_000, 0.5, 0.45, 1, 0, false}, // not looked at until widths followed from cells
		{"3 in 1000", 200_000, -6.5, 1.1, 1, 0, false},
	} {
		out = append(out, source{g.name, func(context.Context, string) (*pool, error) { return g.generate() }})
	}
	return append(out, otherSources()...)
}

// fit trains the default learner at ε = 1.
func fit(ctx context.Context, t *dataset.Table) (*model.Model, error) {
	req, err := train.Choice{Price: train.PriceText{Epsilon: "1"}}.Request("coverage")
	if err != nil {
		return nil, err
	}
	tab, err := memory.New(t)
	if err != nil {
		return nil, err
	}
	pl, err := req.Plan(t.Schema, guard.PublicUnits(tab))
	if err != nil {
		return nil, err
	}
	return guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(replay.Seeded(1, "coverage, fit")))
}

// generated is a table of one number, the true log-odds, which are normal. Its model multiplies them
// by stretch.
type generated struct {
	name            string
	rows            int
	mean, deviation float64
	stretch         float64
	levels          int  // distinct scores among the rows; 0 for many
	stepped         bool // the model has these scores alone
}

func (g generated) generate() (*pool, error) {
	s, err := schema.Parse([]byte(`name: generated
unit: one row
relation: replace-one
file: {delimiter: ",", quote: "", header: true}
columns:
  - {name: z, role: private, number: {lower: -12, upper: 12, default: 0}}
  - {name: y, role: private, label: {levels: ["no", "yes"], positive: "yes", default: "no"}}
`))
	if err != nil {
		return nil, err
	}
	src := rand.New(rand.NewPCG(7, uint64(len(g.name))))
	values := make([]float64, 2401)
	for i := range values {
		values[i] = -12 + float64(i)/100
	}
	codes, labels := make([]uint32, g.rows), make([]uint8, g.rows)
	for i := range codes {
		z := g.mean + g.deviation*src.NormFloat64()
		if g.levels > 0 {
			step := 4 * g.deviation / float64(g.levels)
			z = g.mean + step*math.Round((z-g.mean)/step)
		}
		codes[i] = uint32(math.Round((max(-12, min(12, z)) + 12) * 100))
		if src.Float64() < 1/(1+math.Exp(-values[codes[i]])) {
			labels[i] = 1
		}
	}
	t := &dataset.Table{Schema: s, Rows: g.rows, Labels: labels,
		Cols: []column.Column{{Codes: column.Narrow(codes, len(values)), Values: values}}}
	sh := model.Shape{Column: "z"}
	for i := -1190; i < 1200; i++ {
		sh.Edges = append(sh.Edges, float64(i)/100-0.005)
	}
	for i := range len(sh.Edges) + 1 {
		z := -11.91 + float64(i)/100
		if g.stepped {
			step := 4 * g.deviation / float64(g.levels)
			z = g.mean + step*math.Round((z-g.mean)/step)
		}
		sh.LogOdds = append(sh.LogOdds, g.stretch*z)
		sh.Noise = append(sh.Noise, 0)
	}
	m := &model.Model{Learner: "additive", Schema: s, Classifier: &model.Additive{Shapes: []model.Shape{sh}},
		Privacy: model.Privacy{Scope: dp.Nothing, Relation: s.Relation, Unit: s.Unit, NotPrivate: true, Seeded: true,
			Statement: "none"}}
	if _, err := m.Bind(s); err != nil {
		return nil, fmt.Errorf("the model of %s: %w", strconv.Quote(g.name), err)
	}
	return &pool{name: g.name, t: t, m: m}, nil
}
