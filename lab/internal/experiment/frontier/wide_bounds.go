// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// wide is the protocol of bounds that are known badly, on one table.
type wide struct {
	name, table string
	schema      string
	file        string
}

const (
	tooWide   = 1000 // times the bounds of the schema
	honest    = "bounds of the schema"
	careless  = "bounds 1,000 times as wide"
	quantiles = "bounds 1,000 times as wide, bins: quantiles"
)

var (
	wideBounds = []wide{
		{"adult", "Adult", "adult.yaml", "adult/adult.data.gz"},
		{"bank", "Bank", "bank.yaml", "bank/bank-full.csv.gz"},
		{"credit", "Credit", "credit.yaml", "credit/UCI_Credit_Card.csv.gz"},
	}
	boundsBudgets = []dp.Epsilon{250_000_000, 500_000_000, 1_000_000_000, 2_000_000_000, 4_000_000_000}
	// boundsCost is the AUC that bad bounds may cost at each of them.
	boundsCost = []float64{0.03, 0.02, 0.01, 0.01, 0.01}
)

func (v wide) newFigure() *frame.Figure {
	in := panel{
		table: v.table, how: "Everything private, 30 % held out, replace-one", metric: auc, budgets: boundsBudgets,
		lines: []line{singleLine(quantiles, true), singleLine(honest, false), singleLine(careless, false)},
	}
	return &frame.Figure{
		Name: "frontier/wide-bounds-" + v.name, Paper: "our claim, against the same learner by the bounds of the schema",
		Title: "Bounds that are known badly, " + v.table + ", AUC against ε", Data: v.name, Repeats: 25,
		Claim: "Where bounds are a thousand times too wide, paid counts find bins that are nearly as good as those of " +
			"honest bounds.",
		Protocol: "Each repeat trains on a random 70 % of the rows and tests on the rest, unbalanced; every column and " +
			"the label private; neighbours replace one row; pure ε, nothing tuned. " +
			"The bounds of every number are those of the schema, or 1,000 times as far from 0; then they cut it, or a " +
			"release of counts does, which is part of the price.",
		Points: in.listPoints(), Open: v.openData, Draw: in.drawChart, Judge: judgeBounds, Notes: in.listNotes,
	}
}

// judgeBounds compares with honest bounds and with careless ones that nothing
// mends, paired by repeats.
func judgeBounds(s *frame.Summary) (out []frame.Check) {
	for i, eps := range boundsBudgets {
		lost, won := s.Difference(quantiles, honest, eps, auc), s.Difference(quantiles, careless, eps, auc)
		out = append(out, frame.Check{
			What:  fmt.Sprintf("paid bins less bounds of the schema: AUC at ε = %s", eps),
			Paper: fmt.Sprintf("at most %g below (with 95 %% confidence)", boundsCost[i]),
			Ours:  fmt.Sprintf("%+.4f ± %.4f", lost.Mean, lost.StdErr), Holds: lost.IsAbove(-boundsCost[i]),
		}, frame.Check{
			What:  fmt.Sprintf("paid bins less careless bounds: AUC at ε = %s", eps),
			Paper: "above (with 95 % confidence)",
			Ours:  fmt.Sprintf("%+.4f ± %.4f", won.Mean, won.StdErr), Holds: won.IsAbove(0),
		})
	}
	return out
}

func (v wide) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, v.schema, v.file)
	if err != nil {
		return nil, err
	}
	known := closeColumns(all, dp.ReplaceOne)
	tables := map[string]*dataset.Table{
		notPrivate: known, honest: known, careless: widenBounds(closeColumns(all, dp.ReplaceOne), false),
		quantiles: widenBounds(closeColumns(all, dp.ReplaceOne), true),
	}
	return heldOut(allRows(all), tables, nil), nil
}

// widenBounds has the bounds of its numbers moved away, in place, and no edges.
func widenBounds(t *dataset.Table, asks bool) *dataset.Table {
	for j := range t.Schema.Columns {
		c := &t.Schema.Columns[j]
		if c.Kind != schema.Number || c.Role == schema.Ignored {
			continue
		}
		c.Lower = tooWide * math.Min(c.Lower, 0)
		c.Upper = tooWide * math.Max(c.Upper, 1)
		c.Edges, c.Quantiles = nil, asks
	}
	return t
}
