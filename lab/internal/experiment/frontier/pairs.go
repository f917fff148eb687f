// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// pairing is the protocol of declared pairs, on one table.
type pairing struct {
	name, table string
	schema      string
	file        string
	pairs       [][2]string
}

const (
	alone        = "columns alone"
	crossed      = "declared pairs"
	aloneDelta   = "columns alone, with a δ"
	crossedDelta = "declared pairs, with a δ"
	pairsDelta   = dp.Femto / 1_000_000 // 1e-6
)

var (
	declaredPairs = []pairing{
		{"bank", "Bank", "bank.yaml", "bank/bank-full.csv.gz", [][2]string{{"month", "day"}, {"contact", "duration"}}},
	}
	pairBudgets = []dp.Epsilon{100_000_000, 300_000_000, 1_000_000_000, 2_000_000_000, 4_000_000_000}
)

func (v pairing) newFigure() *frame.Figure {
	in := panel{
		table: v.table, how: "Everything private, 30 % held out, add-remove", metric: auc, budgets: pairBudgets,
		lines: []line{singleLine(crossed, true), singleLine(alone, false), singleLine(crossedDelta, false),
			singleLine(aloneDelta, false)},
	}
	return &frame.Figure{
		Name: "frontier/pairs-" + v.name, Paper: "our claim, against the same learner on columns alone",
		Title: "Declared pairs of columns, " + v.table + ", AUC against ε", Data: v.name, Repeats: 25,
		Claim: "A pair that matters on public grounds, declared in the schema, pays for its release from ε = 1 on; where " +
			"ε is scarce it waits.",
		Protocol: "Each repeat trains on a random 70 % of the rows and tests on the rest, unbalanced; every column and " +
			"the label private; neighbours add or remove a row; " +
			"pure ε and δ = 1e-6; nothing tuned. The schema declares pairs that matter on public grounds, a day of a month " +
			"among them, or none.",
		Points: in.listPoints(), Open: v.openData, Draw: in.drawChart, Judge: judgePairs, Notes: in.listNotes,
	}
}

// pairsFrom is the budget from which pairs must pay, pairsCost what they may cost
// below it.
const (
	pairsFrom = dp.Nano
	pairsCost = 0.005
)

// judgePairs compares with columns alone, paired by repeats.
func judgePairs(s *frame.Summary) (out []frame.Check) {
	for _, eps := range pairBudgets {
		d := s.Difference(crossed, alone, eps, auc)
		c := frame.Check{What: fmt.Sprintf("declared pairs less columns alone: AUC at ε = %s", eps),
			Ours: fmt.Sprintf("%+.4f ± %.4f", d.Mean, d.StdErr)}
		if eps >= pairsFrom {
			c.Paper, c.Holds = "above (with 95 % confidence)", d.IsAbove(0)
		} else {
			c.Paper, c.Holds = fmt.Sprintf("at most %g below (with 95 %% confidence)", pairsCost), d.IsAbove(-pairsCost)
		}
		out = append(out, c)
	}
	return out
}

func (v pairing) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, v.schema, v.file)
	if err != nil {
		return nil, err
	}
	plain, with := closeColumns(all, dp.AddRemove), closeColumns(all, dp.AddRemove)
	if err := declarePairs(with.Schema, v.pairs); err != nil {
		return nil, err
	}
	tables := map[string]*dataset.Table{notPrivate: plain, alone: plain, aloneDelta: plain, crossed: with,
		crossedDelta: with}
	return heldOut(allRows(all), tables, func(int) map[string]additive.Params {
		return map[string]additive.Params{aloneDelta: {Delta: pairsDelta}, crossedDelta: {Delta: pairsDelta}}
	}), nil
}

// declarePairs adds pairs, by name, in place.
func declarePairs(s *schema.Schema, pairs [][2]string) error {
	for _, p := range pairs {
		var pair [2]int
		for i, name := range p {
			if pair[i] = slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Name == name }); pair[i] < 0 {
				return fmt.Errorf("frontier: column %q must be in schema %s", name, s.Name)
			}
		}
		s.Pairs = append(s.Pairs, pair)
	}
	return nil
}
