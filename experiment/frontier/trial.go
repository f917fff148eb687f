// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/dataset"
	"github.com/discreet-dp/discreet/dp"
	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/experiment/frame"
	"github.com/discreet-dp/discreet/learn"
	"github.com/discreet-dp/discreet/learn/additive"
	"github.com/discreet-dp/discreet/learn/brc"
	"github.com/discreet-dp/discreet/mech"
	"github.com/discreet-dp/discreet/metrics"
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

func (t *trial) measure(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	plan, err := t.plan(p)
	if err != nil {
		return frame.Measurement{}, err
	}
	m, err := plan.Fit(ctx, t.train, free{}, mech.NewExit(t.repeat.Stream(fmt.Sprintf("%s, ε = %s", p.Series, p.Epsilon))))
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
	var levels []string
	for _, l := range t.test.Schema.Label.Levels {
		levels = append(levels, l.Value)
	}
	r, err := metrics.Evaluate(t.test.Labels, scores, levels, t.test.Schema.Label.Positive)
	if err != nil {
		return frame.Measurement{}, err
	}
	return frame.Measurement{Bill: m.Privacy.Epsilon, Values: []frame.Value{
		{Metric: accuracy, Value: r.Accuracy}, {Metric: auc, Value: *r.AUC}, {Metric: logLoss, Value: r.LogLoss}, {Metric: calibration, Value: r.CalibrationError},
	}}, nil
}

func (t *trial) plan(p frame.Point) (learn.Plan, error) {
	if p.Series == theirs {
		b := brc.Defaults()
		b.Epsilon = p.Epsilon
		return b.Plan(t.train.Schema(), t.rows)
	}
	a := t.choices[p.Series]
	a.Epsilon, a.NotPrivate = p.Epsilon, p.Series == notPrivate
	return a.Plan(t.train.Schema(), t.rows)
}

// free pays for experiments on public data: nothing is counted.
type free struct{}

func (free) Charge(dp.Price, []dp.Event) error { return nil }
func (free) Counted() bool                     { return false }
