// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// duel is BRC against other learners on Adult, with section 5.3's split of the
// columns or with everything private, line by line (Figures 4a and 4b, and
// section 7's limitation).
type duel struct {
	name, title, says string
	protocol          string // of the rivals
	headline, note    string // of the chart
	epsilons          []dp.Epsilon
	lines             []contender // as many as a chart has colours
	judge             func(*frame.Summary) []frame.Check
	notes             []string
}

// contender is one line.
type contender struct {
	series, label string
	parameters    string
	everything    bool // every feature and the label private
	// plan is nil for what is recorded of diffprivlib.
	plan func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error)
}

// adultFiles and adultRows are those of Figure 2a.
var adultFiles = []string{"adult/adult.data.gz", "adult/adult.test.gz"}

const adultRows = "Adult as in Figure 2a: adult.data and adult.test together, balanced to 23,374, a tenth to test, " +
	"both anew in each repeat; ordinal encoding. "

func (d duel) newFigure() *frame.Figure {
	f := &frame.Figure{
		Name: "shen/" + d.name, Paper: paper, Data: "adult", Repeats: 10,
		Title: d.title, Claim: d.says + ".", Protocol: adultRows + d.protocol,
		Open: d.openData, Draw: d.drawChart, Judge: d.judge, Notes: d.listRemarks,
	}
	for _, c := range d.lines {
		for _, eps := range d.epsilons {
			f.Points = append(f.Points, frame.Point{Series: c.series, Epsilon: eps, Encoding: string(feature.Ordinal),
				Parameters: c.parameters})
		}
	}
	return f
}

func (d duel) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	some, err := w.Read(ctx, "adult.yaml", adultFiles...)
	if err != nil {
		return nil, err
	}
	all := withAllPrivate(some)
	return func(ctx context.Context, r frame.Repeat) (frame.Measure, error) {
		partly, wholly, err := bothTrials(r, some, all)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			c := d.findContender(p.Series)
			if c.plan == nil {
				return readPeer(r, "adult", p)
			}
			t := partly
			if c.everything {
				t = wholly
			}
			plan, err := c.plan(t.train.Schema(), t.train.Rows(), p.Epsilon)
			if err != nil {
				return frame.Measurement{}, err
			}
			return t.scorePlan(ctx, plan, p)
		}, nil
	}, nil
}

// bothTrials are one split of the rows, read by both schemas.
func bothTrials(r frame.Repeat, some, all *dataset.Table) (partly, wholly *trial, err error) {
	train, test := sample.HoldOut(sample.Balance(some, r.Stream("balance")), tenth, r.Stream("hold out"))
	if partly, err = newTrial(r, some, train, test); err != nil {
		return nil, nil, err
	}
	wholly, err = newTrial(r, all, train, test)
	return partly, wholly, err
}

func (d duel) findContender(series string) *contender {
	for i := range d.lines {
		if d.lines[i].series == series {
			return &d.lines[i]
		}
	}
	panic("shen: a point of no line")
}

func (d duel) drawChart(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    d.headline,
		Subtitle: fmt.Sprintf("Adult, balanced, 10 %% held out, ordinal encoding; mean of %d repeats", s.Repeats),
		XLabel:   "privacy loss ε", YLabel: "test accuracy",
		LogX: true, Spread: "mean ± one standard error over repeats", Note: d.note,
	}
	for _, c := range d.lines {
		l.Series = append(l.Series, newLine(c.label, d.epsilons,
			func(eps dp.Epsilon) frame.Stat { return s.Mean(c.series, eps, accuracy) }))
	}
	return l
}

func (d duel) listRemarks(s *frame.Summary) (out []string) {
	for _, c := range d.lines {
		text := c.series + ":"
		for _, eps := range d.epsilons {
			text += fmt.Sprintf(" %s: %s;", eps, formatPercent(s.Mean(c.series, eps, accuracy)))
		}
		out = append(out, text[:len(text)-1]+".")
	}
	return append(out, d.notes...)
}

// linearLine is BRC with its rounds added up by their values, as section 8 has it.
func linearLine() contender {
	c := brcLine(brcLinear, "BRC, linear", false)
	c.parameters = linearOutput
	c.plan = func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
		b := brc.Printed()
		b.Epsilon, b.Encoding, b.Sensitivity, b.Output = eps, feature.Ordinal, brc.Paper, brc.Linear
		return b.Plan(s, rows)
	}
	return c
}

// brcLine is BRC as the paper runs it.
func brcLine(series, label string, everything bool) contender {
	return contender{series, label, sensitivity + string(brc.Paper), everything,
		func(s *schema.Schema, rows int, eps dp.Epsilon) (learn.Plan, error) {
			b := brc.Printed()
			b.Epsilon, b.Encoding, b.Sensitivity = eps, feature.Ordinal, brc.Paper
			return b.Plan(s, rows)
		}}
}
