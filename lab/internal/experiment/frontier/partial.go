// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// partial is protocol A on one table: partly private, classes balanced.
type partial struct {
	name, table string
	data        string // the table, as records call it
	schema      string
	files       []string
	floors      []float64 // accuracy to reach, by budget
}

var partials = []partial{
	{"adult", "Adult", "adult", "adult.yaml", []string{"adult/adult.data.gz", "adult/adult.test.gz"},
		[]float64{.725, .758, .761, .775, .793}},
	{"credit", "Credit", "credit", "credit.yaml", []string{"credit/UCI_Credit_Card.csv.gz"},
		[]float64{.603, .666, .691, .702, .705}},
	{"credit-months", "Credit with its months", "credit", "credit-months.yaml", []string{"credit/UCI_Credit_Card.csv.gz"},
		[]float64{.603, .666, .691, .702, .705}},
	{"sepsis", "Sepsis", "sepsis", "sepsis.yaml",
		[]string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"}, []float64{.624, .641, .652, .653, .653}},
	{"bank", "Bank", "bank", "bank.yaml", []string{"bank/bank-full.csv.gz"}, []float64{.627, .702, .763, .783, .789}},
}

var smallBudgets = []dp.Epsilon{10_000_000, 20_000_000, 40_000_000, 80_000_000, 160_000_000}

func (p partial) newFigure() *frame.Figure {
	in := panel{
		table: p.table, how: "Balanced, 10 % held out", metric: accuracy, budgets: smallBudgets, bars: p.floors,
		lines: []line{singleLine(ours, true), singleLine(theirs, false)},
	}
	return &frame.Figure{
		Name:  "frontier/partly-private-" + p.name,
		Paper: "none: floors from the best of several prototypes, each setting picked in hindsight, 4 to 8 repeats (± .01)",
		Title: "Partly private " + p.table + ", accuracy against ε", Data: p.data, Repeats: 25,
		Claim: "Without any setting the default learner reaches, at every ε, what prototypes reached with the best " +
			"setting for that ε.",
		Protocol: "The protocol of Shen et al., section 5: each repeat balances the classes by a random subset and holds " +
			"10 % out; label and some columns are public; " +
			"neighbours replace the private part of one row; pure ε. BRC: T = 25, c1 = c2 = √2, one-hot, tight, linear.",
		Points: in.listPoints(), Open: p.openData, Draw: in.drawChart, Judge: in.judgeBars, Notes: in.listNotes,
	}
}

func (p partial) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, p.schema, p.files...)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r frame.Repeat) (frame.Measure, error) {
		train, test := sample.HoldOut(sample.Balance(all, r.Stream("balance")), 0.1, r.Stream("hold out"))
		tab, err := memory.New(all.Subset(train))
		if err != nil {
			return nil, err
		}
		t := trial{repeat: r, train: tab, test: all.Subset(test), rows: len(train)}
		return t.measurePoint, nil
	}, nil
}
