// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"cmp"
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/labeldp"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

const (
	ours        = "additive"
	withDelta   = "additive with a δ"
	theirs      = "brc"
	notPrivate  = "additive, not private"
	accuracy    = "accuracy"
	auc         = "auc"
	logLoss     = "log_loss"
	calibration = "calibration_error"
)

// trial is one split of the rows.
type trial struct {
	repeat frame.Repeat
	train  engine.Table
	test   *dataset.Table
	rows   int // public or declared
	// choices are those of additive by series; without ε, which is the point's.
	choices map[string]additive.Params
}

// heldOut readies each repeat on a random 70 % of the rows, the same ones of every
// table, and tests on the others. Each series has its table, which several may share;
// choices are for so many rows that train, nil if there are none.
func heldOut(rows []int, tables map[string]*dataset.Table,
	choices func(rows int) map[string]additive.Params) frame.Setup {
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		train, test := sample.HoldOut(rows, 0.3, r.Stream("hold out"))
		var chosen map[string]additive.Params
		if choices != nil {
			chosen = choices(len(train))
		}
		on := map[*dataset.Table]*trial{}
		for _, t := range tables {
			if on[t] != nil {
				continue
			}
			tab, err := memory.New(t.Subset(train))
			if err != nil {
				return nil, err
			}
			on[t] = &trial{repeat: r, train: tab, test: t.Subset(test), rows: len(train), choices: chosen}
		}
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			return on[tables[p.Series]].measurePoint(ctx, p)
		}, nil
	}
}

// allRows row of a table.
func allRows(t *dataset.Table) []int {
	rows := make([]int, t.Rows)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func (t *trial) measurePoint(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	plan, err := t.newPlan(p)
	if err != nil {
		return frame.Measurement{}, err
	}
	m, err := guard.Train(ctx, plan, t.train, guard.Uncounted{},
		mech.NewExit(t.repeat.Stream(fmt.Sprintf("%s, ε = %s", p.Series, p.Epsilon))))
	if err != nil {
		return frame.Measurement{}, err
	}
	bound, err := m.Bind(t.test.Schema)
	if err != nil {
		return frame.Measurement{}, err
	}
	scores, err := bound.Scores(t.test.Cols, t.test.Rows)
	if err != nil {
		return frame.Measurement{}, err
	}
	classes := schema.Values(t.test.Schema.Label.Levels)
	r, err := metrics.Evaluate(t.test.Labels, scores, classes, t.test.Schema.Label.Positive, m.Threshold())
	if err != nil {
		return frame.Measurement{}, err
	}
	bill := m.Privacy.Epsilon * cmp.Or(groupShares[p.Series], 1)
	return frame.Measurement{Bill: bill, Values: []frame.Value{
		{Metric: accuracy, Value: r.Accuracy}, {Metric: auc, Value: *r.AUC}, {Metric: logLoss, Value: r.LogLoss},
		{Metric: calibration, Value: r.CalibrationError},
	}}, nil
}

func (t *trial) newPlan(p frame.Point) (learn.Plan, error) {
	if p.Series == theirs {
		b := brc.Defaults()
		b.Epsilon, b.ClassWeights, b.Output = p.Epsilon, brc.Balanced, brc.Linear // its authors balance the classes
		return b.Plan(t.train.Schema(), t.rows)
	}
	if p.Series == labelStatistic || p.Series == labelStatistics {
		l := labeldp.Defaults()
		l.Epsilon = p.Epsilon
		return l.Plan(t.train.Schema(), t.rows)
	}
	a := t.choices[p.Series]
	a.Epsilon, a.NotPrivate = p.Epsilon/cmp.Or(groupShares[p.Series], 1), p.Series == notPrivate
	return a.Plan(t.train.Schema(), t.rows)
}
