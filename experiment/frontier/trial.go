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
	"github.com/discreet-dp/discreet/plot"
)

const (
	ours        = "additive"
	theirs      = "brc"
	notPrivate  = "additive, not private"
	accuracy    = "accuracy"
	auc         = "auc"
	logLoss     = "log_loss"
	calibration = "calibration_error"
)

func points(budgets []dp.Epsilon) (out []frame.Point) {
	out = append(out, frame.Point{Series: notPrivate})
	for _, eps := range budgets {
		out = append(out, frame.Point{Series: ours, Epsilon: eps}, frame.Point{Series: theirs, Epsilon: eps})
	}
	return out
}

// trial is one split of the rows.
type trial struct {
	repeat frame.Repeat
	train  engine.Table
	test   *dataset.Table
	rows   int // public or declared
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
	return additive.Params{Epsilon: p.Epsilon, NotPrivate: p.Series == notPrivate}.Plan(t.train.Schema(), t.rows)
}

// free pays for experiments on public data: nothing is counted.
type free struct{}

func (free) Charge(dp.Price, []dp.Event) error { return nil }
func (free) Counted() bool                     { return false }

// judge asks whether the mean reaches each bar.
func judge(s *frame.Summary, metric string, budgets []dp.Epsilon, bars []float64) (out []frame.Check) {
	for i, eps := range budgets {
		st := s.Mean(ours, eps, metric)
		out = append(out, frame.Check{
			What: fmt.Sprintf("mean %s at ε = %s", metric, eps), Paper: fmt.Sprintf("%.3f", bars[i]), Ours: number(st),
			Holds: st.Mean >= bars[i],
		})
	}
	return out
}

// notes give every number with its spread.
func notes(s *frame.Summary, budgets []dp.Epsilon) (out []string) {
	for _, series := range []string{ours, theirs} {
		for _, metric := range []string{accuracy, auc, logLoss, calibration} {
			line := series + ", " + metric + ":"
			for _, eps := range budgets {
				line += fmt.Sprintf(" %s at ε = %s;", number(s.Mean(series, eps, metric)), eps)
			}
			out = append(out, line[:len(line)-1]+".")
		}
	}
	return append(out, fmt.Sprintf("Not private: accuracy %s, AUC %s.", number(s.Mean(notPrivate, 0, accuracy)), number(s.Mean(notPrivate, 0, auc))),
		"± is the standard deviation between repeats; the standard error is that over the root of their number.")
}

func number(st frame.Stat) string { return fmt.Sprintf("%.4f ± %.4f", st.Mean, st.StdDev) }

// draw shows both learners, the twin without privacy and the bars.
func draw(s *frame.Summary, table, how, metric string, budgets []dp.Epsilon, bars []float64) *plot.Lines {
	l := &plot.Lines{
		Title:    "The default learner on " + table,
		Subtitle: fmt.Sprintf("%s; mean of %d repeats", how, s.Repeats),
		XLabel:   "privacy loss ε of the fit", YLabel: "test " + metric, LogX: true,
		Spread: "one standard deviation between repeats",
		Note:   "Hollow marks: the bars.",
	}
	for _, series := range []struct {
		name string
		twin bool
	}{{ours, false}, {theirs, false}, {notPrivate, true}} {
		line := plot.Series{Name: series.name}
		for _, eps := range budgets {
			at := eps
			if series.twin {
				at = 0
			}
			st := s.Mean(series.name, at, metric)
			line.X, line.Y = append(line.X, eps.Float()), append(line.Y, st.Mean)
			line.Low, line.High = append(line.Low, st.Mean-st.StdDev), append(line.High, st.Mean+st.StdDev)
		}
		l.Series = append(l.Series, line)
	}
	marks := plot.Series{Name: "bars", Stroke: plot.Points, Like: ours}
	for i, eps := range budgets {
		marks.X, marks.Y = append(marks.X, eps.Float()), append(marks.Y, bars[i])
	}
	l.Series = append(l.Series, marks)
	return l
}
