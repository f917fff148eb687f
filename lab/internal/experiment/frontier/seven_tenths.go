// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// seven is the protocol of Maddock et al. 2022 on one table: 70 % train.
type seven struct {
	name, table string
	schema      string
	file        string
	bars        []float64
}

// The bars at ε = 1 are the best of the ten methods that Maddock et al. measure,
// DP-EBM or its Newton form; below they are those of the one method measured
// there, DP-TR with Newton steps. All read off the vectors of their figures.
var (
	sevenTenths = []seven{
		{"adult", "Adult", "adult.yaml", "adult/adult.data.gz", []float64{.833, .864, .879, .886, .906}},
		{"bank", "Bank", "bank.yaml", "bank/bank-full.csv.gz", []float64{.795, .834, .859, .874, .903}},
		{"credit", "Credit", "credit.yaml", "credit/UCI_Credit_Card.csv.gz", []float64{.685, .719, .739, .747, .764}},
	}
	unitBudgets = []dp.Epsilon{100_000_000, 250_000_000, 500_000_000, 750_000_000, 1_000_000_000}
)

const addRemove = "additive with a δ, add-remove"

func (v seven) newFigure() *frame.Figure {
	in := panel{
		table: v.table, how: "Everything private, 30 % held out", metric: auc, budgets: unitBudgets, bars: v.bars,
		lines: []line{singleLine(addRemove, true), singleLine(withDelta, true), singleLine(ours, false),
			singleLine(theirs, false)},
	}
	return &frame.Figure{
		Name: "frontier/seven-tenths-" + v.name,
		Paper: "bars: Maddock et al. 2022, Federated Boosted Decision Trees with Differential Privacy, (ε, δ = 1/n)-DP, " +
			"the best number of trees picked in hindsight",
		Title: "Everything private, " + v.table + ", 70/30, AUC against ε", Data: v.name, Repeats: 25,
		Claim: "With δ = 1/n, everything paid and nothing tuned, the default learner exceeds the best published at ε = 1 " +
			"and DP-TR below.",
		Protocol: "Each repeat trains on a random 70 % of the rows that miss nothing and tests on the rest, unbalanced; " +
			"every column and the label private; neighbours add or remove a row, as in the peers' code, or replace one, " +
			"which is twice that; " +
			"δ is the largest below 1/n, n the rows that train, public or declared; beside it pure ε, replace-one.",
		Points: in.listPoints(), Open: v.openData, Draw: in.drawChart, Judge: in.judgeBars, Notes: in.listNotes,
	}
}

func (v seven) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, v.schema, v.file)
	if err != nil {
		return nil, err
	}
	replacing, adding := closeColumns(all, dp.ReplaceOne), closeColumns(all, dp.AddRemove)
	tables := map[string]*dataset.Table{notPrivate: replacing, ours: replacing, theirs: replacing, withDelta: replacing,
		addRemove: adding}
	return heldOut(completeRows(all), tables, func(rows int) map[string]additive.Params {
		delta := additive.Params{Delta: largestBelow(rows)}
		return map[string]additive.Params{withDelta: delta, addRemove: delta}
	}), nil
}

// largestBelow is the largest δ that is less than 1/rows.
func largestBelow(rows int) dp.Delta { return dp.Delta((dp.Femto - 1) / rows) }
