// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// hiddenLabel is the protocol of a private label beside public columns, on one table.
type hiddenLabel struct {
	name, table string
	schema      string
	files       []string
}

const (
	labelBeside     = "label and some columns private"
	labelAlone      = "label alone private"
	wholeRows       = "everything private"
	labelStatistic  = "labeldp, public columns"
	labelStatistics = "labeldp, all columns public"
)

var (
	hiddenLabels = []hiddenLabel{
		{"adult", "Adult", "adult.yaml", []string{"adult/adult.data.gz"}},
		{"bank", "Bank", "bank.yaml", []string{"bank/bank-full.csv.gz"}},
		{"acs", "ACSEmployment", "acs-employment.yaml",
			[]string{"acs/ACSemployment_train.csv.gz", "acs/ACSemployment_test.csv.gz"}},
	}
	labelBudgets = []dp.Epsilon{50_000_000, 100_000_000, 200_000_000, 500_000_000, 1_000_000_000, 2_000_000_000,
		4_000_000_000}
	// labelRivals are what each line must beat.
	labelRivals = []struct{ ours, theirs string }{
		{labelBeside, wholeRows}, {labelBeside, labelStatistic}, {labelAlone, wholeRows}, {labelAlone, labelStatistics},
	}
)

func (v hiddenLabel) newFigure() *frame.Figure {
	in := panel{
		table: v.table, how: "Private label, 30 % held out", metric: auc, budgets: labelBudgets,
		lines: []line{singleLine(labelBeside, true), singleLine(labelAlone, true), singleLine(wholeRows, false),
			singleLine(labelStatistic, false), singleLine(labelStatistics, false)},
	}
	return &frame.Figure{
		Name: "frontier/private-label-" + v.name, Paper: "our claim, against two learners that protect more or use less",
		Title: "A private label beside public columns, " + v.table + ", AUC against ε", Data: v.name, Repeats: 25,
		Claim: "Where the label is private and some columns are public, the default learner beats, at every ε, both itself " +
			"with everything private and the label's statistic on the public columns alone.",
		Protocol: "Each repeat trains on a random 70 % of the rows and tests on the rest, unbalanced; the label is " +
			"private; columns have the roles of the shipped schema, or are all public, or all private; neighbours replace " +
			"the private part of one row; pure ε; nothing tuned.",
		Points: in.listPoints(), Open: v.openData, Draw: in.drawChart, Judge: judgeLabels, Notes: in.listNotes,
	}
}

// judgeLabels compares each line with its rivals, paired by repeats.
func judgeLabels(s *frame.Summary) (out []frame.Check) {
	for _, r := range labelRivals {
		for _, eps := range labelBudgets {
			d := s.Difference(r.ours, r.theirs, eps, auc)
			out = append(out, frame.Check{
				What:  fmt.Sprintf("%s less %s: AUC at ε = %s", r.ours, r.theirs, eps),
				Paper: "above (with 95 % confidence)", Ours: fmt.Sprintf("%+.4f ± %.4f", d.Mean, d.StdErr), Holds: d.IsAbove(0),
			})
		}
	}
	return out
}

func (v hiddenLabel) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, v.schema, v.files...)
	if err != nil {
		return nil, err
	}
	beside, alone, closed := hideLabel(all, false), hideLabel(all, true), closeColumns(all, dp.ReplaceOne)
	return heldOut(allRows(all), map[string]*dataset.Table{notPrivate: closed, labelBeside: beside, labelStatistic: beside,
		labelAlone: alone, labelStatistics: alone, wholeRows: closed}, nil), nil
}

// hideLabel is the table with a private label and, with open, every column public.
func hideLabel(t *dataset.Table, open bool) *dataset.Table {
	s := *t.Schema
	s.Columns = slices.Clone(s.Columns)
	s.Relation, s.Label.Role, s.Label.Default = dp.ReplaceOne, schema.Private, 0
	for j := range s.Columns {
		if c := &s.Columns[j]; open && c.Role == schema.Private {
			c.Role = schema.Public
		}
	}
	out := *t
	out.Schema = &s
	return &out
}
