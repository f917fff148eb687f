// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/net/federated/multiparty"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	softMargins = "soft, votes as margins"
	averageLong = "average, hardly clipped"
)

var ballotLines = lines{[]string{soft, softShades, softMargins, average, averageLong}, "no noise"}

// newBallots asks what averaging knows that votes do not, on the task if it is
// ahead of them.
func newBallots() *frame.Figure {
	t := newURLs()
	return &frame.Figure{
		Name: "hamm/ballots", Paper: paper, Data: t.name, Repeats: 10,
		Title: "Accuracy on malicious URLs by what parties hand in",
		Claim: "Ours, not the paper's: averaging is ahead of votes where its bound gives all parties' coefficients one " +
			"length; votes that say how far a row lies from the border in that measure close the gap.",
		Protocol: t.describeProtocol() +
			fmt.Sprintf(" All parties vote. A vote as a margin is the share ½ + %g·z/‖w‖ held within [0, 1], z the party's "+
				"score of the row, w its coefficients of rows of length at most 1: "+
				"any share is a legal vote, so its price is that of a label. Averaging clips w to length %g; hardly "+
				"clipped, to %g.",
				marginScale, multiparty.Defaults().Bound, longBound),
		Points: ballotLines.listPoints(),
		Open:   t.openData(pollBallots),
		Draw: func(s *frame.Summary) *plot.Lines {
			return ballotLines.drawChart(s, "Accuracy on malicious URLs by what parties hand in")
		},
		Judge: judgeBallots,
		Notes: ballotLines.listNotes,
	}
}

const (
	marginScale = 2.0
	longBound   = 1024.0
)

func judgeBallots(s *frame.Summary) []frame.Check {
	less := func(a, b string) frame.Stat {
		return s.Difference(ballotLines.nameBeside(a), ballotLines.nameBeside(b), 0, accuracy)
	}
	gap, left, shades, long := less(average, soft), less(average, softMargins), less(softShades, soft),
		less(averageLong, soft)
	// beside is above 0 where b less a is above the part of the gap.
	beside := func(a, b string, part float64) frame.Stat {
		return s.Statistic(func(s *frame.Summary) float64 {
			mean := func(line string) float64 { return s.Mean(ballotLines.nameBeside(line), 0, accuracy).Mean }
			return mean(b) - mean(a) - part*(mean(average)-mean(soft))
		})
	}
	points := func(d frame.Stat) string { return fmt.Sprintf("%+.2f ± %.2f points", 100*d.Mean, 100*d.StdErr) }
	return []frame.Check{
		{What: "averaging less labels, without noise", Paper: "above (beyond 95 % confidence)", Ours: points(gap),
			Parts: []frame.Part{frame.Above(gap, 0)}},
		{What: "averaging less margins, without noise", Paper: "less than half of that gap", Ours: points(left),
			Parts: []frame.Part{frame.Below(beside(softMargins, average, 0.5), 0)}},
		{What: "probabilities less labels, without noise", Paper: "do not close the gap (read as: less than a quarter of it)",
			Ours: points(shades), Parts: []frame.Part{frame.Below(beside(soft, softShades, 0.25), 0)}},
		{What: "averaging hardly clipped less labels, without noise", Paper: "below (beyond 95 % confidence)",
			Ours: points(long), Parts: []frame.Part{frame.Below(long, 0)}},
	}
}

// pollBallots lets the parties of a trial hand in everything.
func pollBallots(_ context.Context, tr *trial) (frame.Measure, error) {
	// What is handed in otherwise is another trial of the same parties.
	again := func(margins bool) *trial {
		return &trial{task: tr.task, repeat: tr.repeat, test: tr.test, aux: tr.aux, tables: tr.tables, models: tr.models,
			votes: tr.votes, margins: margins}
	}
	other := map[string]*trial{softMargins: again(true), averageLong: again(false)}
	return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
		line, exact := strings.CutSuffix(p.Series, ballotLines.nameBeside(""))
		from := tr
		if o := other[line]; o != nil {
			from = o
		}
		return from.castVotes(ctx, line, exact, p.Epsilon)
	}, nil
}

// castVotes is the accuracy of one line of ballots.
func (tr *trial) castVotes(ctx context.Context, line string, exact bool, eps dp.Epsilon) (frame.Measurement, error) {
	p, kind := multiparty.Defaults(), multiparty.Labels
	p.Epsilon, p.NotPrivate = eps, exact
	switch line {
	case softShades, softMargins:
		kind = multiparty.Probabilities
	case average:
		p.Method, kind = multiparty.Average, multiparty.Coefficients
	case averageLong:
		p.Method, kind, p.Bound = multiparty.Average, multiparty.Coefficients, longBound
	}
	// Streams name ε and not the line, so that lines see noise of one direction.
	exit := mech.NewExit(tr.repeat.Stream(fmt.Sprintf("%d parties, ε = %s", len(tr.tables), eps)))
	c, err := tr.combineVotes(p, kind, len(tr.tables), tr.aux.Rows)
	if err != nil {
		return frame.Measurement{}, err
	}
	m, err := c.combineModel(ctx, exit)
	if err != nil {
		return frame.Measurement{}, err
	}
	labels, _, err := predictLabels(m, tr.test)
	if err != nil {
		return frame.Measurement{}, err
	}
	return frame.Measurement{Values: []frame.Value{{Metric: accuracy, Value: accuracyOf(labels, tr.test)}},
		Bill: m.Privacy.Epsilon}, nil
}

// marginsOf are the shares that a party with logistic regression of two classes
// votes with: by how far, of all that its coefficients could say, a row lies from
// its border.
func marginsOf(m *model.Model, t *dataset.Table) ([]float64, error) {
	out, err := shadesOf(m, t)
	if err != nil {
		return nil, err
	}
	l := m.Classifier.(*model.Logistic)
	length := l.Bias * l.Bias
	for _, c := range l.Coef {
		length += c * c
	}
	length = math.Sqrt(length * float64(len(t.Schema.Features())+1)) // of scaled rows
	for i := 0; i < len(out); i += 2 {
		v := 0.5
		if z := math.Log(out[i] / out[i+1]); length > 0 {
			v = min(max(0.5+marginScale*z/length, 0), 1)
		}
		out[i], out[i+1] = v, 1-v
	}
	return out, nil
}
