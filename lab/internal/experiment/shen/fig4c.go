// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/learn/adaboost"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const (
	randomBoost = "adaboost-random"
	rounds25    = 25

	convergeAt dp.Epsilon = 100_000_000 // of BRC
	levelAt    dp.Epsilon = 10_000_000  // of private logistic regression

	chance = 0.5 // the accuracy of a coin on balanced rows
)

func newFig4c() *frame.Figure {
	ordinal := string(feature.Ordinal)
	return &frame.Figure{
		Name: "shen/fig4c", Paper: paper, Data: "adult", Repeats: 10,
		Title: "Convergence of BRC and of AdaBoost over random classifiers, on Adult",
		Claim: "BRC at ε = 0.1 converges at almost the same rate as AdaBoost over random classifiers without privacy.",
		Protocol: adultRows + "BRC: ε = 0.1 for all 25 rounds, c1 = c2 = √2, section 5.3's split. AdaBoost: Algorithm 1, " +
			"a random linear classifier on all features in each round, no privacy. " +
			"Metric accuracy@t: test accuracy of the votes of the first t rounds. Private logistic regression of " +
			"diffprivlib, as recorded, " +
			"and ours, objective " +
			"perturbation as in CMS11, at ε = 0.01.",
		Points: []frame.Point{
			{Series: brcPaper, Epsilon: convergeAt, Encoding: ordinal, Parameters: sensitivity + "paper"},
			{Series: randomBoost, Encoding: ordinal, Parameters: "base=random"},
			{Series: diffprivlibLog, Epsilon: levelAt, Encoding: ordinal,
				Parameters: "everything private, diffprivlib's defaults"},
			{Series: privateLog, Epsilon: levelAt, Encoding: ordinal, Parameters: "method=objective mode=cms11"},
		},
		Open: openFig4c, Draw: drawFig4c, Judge: judgeFig4c, Notes: notesFig4c,
	}
}

func openFig4c(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, "adult.yaml", adultFiles...)
	if err != nil {
		return nil, err
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		train, test := sample.HoldOut(sample.Balance(all, r.Stream("balance")), tenth, r.Stream("hold out"))
		t, err := newTrial(r, all, train, test)
		if err != nil {
			return nil, err
		}
		return t.measureRounds, nil
	}, nil
}

func (t *trial) measureRounds(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	s, n := t.train.Schema(), t.train.Rows()
	var plan learn.Plan
	var err error
	switch p.Series {
	case diffprivlibLog:
		return readPeer(t.repeat, "adult", p)
	case privateLog:
		plan, err = privateLogistic(s, n, p.Epsilon)
	case randomBoost:
		plan, err = randomAdaBoost(s, n)
	default:
		plan, err = brcLine(brcPaper, "", false).plan(s, n, p.Epsilon)
	}
	if err != nil {
		return frame.Measurement{}, err
	}
	if p.Series == privateLog {
		return t.scorePlan(ctx, plan, p)
	}
	var seen scales
	m, err := t.fitModel(ctx, plan, p, &seen)
	if err != nil {
		return frame.Measurement{}, err
	}
	out := frame.Measurement{Bill: m.Privacy.Epsilon}
	for round := range m.Classifier.(*model.Votes).Members {
		acc, err := accuracyOf(upTo(m, round+1), t.test)
		if err != nil {
			return frame.Measurement{}, err
		}
		out.Values = append(out.Values, frame.Value{Metric: accuracyName(round + 1), Value: acc})
	}
	out.Values = append(out.Values, frame.Value{Metric: accuracy, Value: out.Values[len(out.Values)-1].Value})
	return out, nil
}

func randomAdaBoost(s *schema.Schema, rows int) (learn.Plan, error) {
	return adaboost.Params{Rounds: rounds25, Base: adaboost.Random, Encoding: feature.Ordinal, Columns: nonprivate.All,
		NotPrivate: true}.Plan(s, rows)
}

// upTo is the model whose votes end after a round.
func upTo(m *model.Model, rounds int) *model.Model {
	out := *m
	members := slices.Clone(m.Classifier.(*model.Votes).Members)
	for t := rounds; t < len(members); t++ {
		members[t].Vote = 0
	}
	out.Classifier = &model.Votes{Members: members}
	return &out
}

func accuracyName(round int) string { return fmt.Sprintf("accuracy@%d", round) }

func drawFig4c(s *frame.Summary) *plot.Lines {
	curve := func(series, name string, eps dp.Epsilon) plot.Series {
		l := plot.Series{Name: name, Band: true}
		for t := 1; t <= rounds25; t++ {
			st := s.Mean(series, eps, accuracyName(t))
			l.X, l.Y = append(l.X, float64(t)), append(l.Y, st.Mean)
			l.Low, l.High = append(l.Low, st.Mean-st.StdErr), append(l.High, st.Mean+st.StdErr)
		}
		return l
	}
	return &plot.Lines{
		Title:    "Convergence of BRC and AdaBoost",
		Subtitle: fmt.Sprintf("Random classifiers on Adult, balanced; mean of %d repeats", s.Repeats),
		XLabel:   "rounds", YLabel: "test accuracy", XTicks: []float64{1, 5, 10, 15, 20, 25},
		Spread: "mean ± one standard error over repeats",
		Series: []plot.Series{curve(brcPaper, "BRC, ε = 0.1", convergeAt),
			curve(randomBoost, "AdaBoost, not private", 0)},
		References: []plot.Reference{{Name: "logistic, ε = 0.01", Y: s.Mean(diffprivlibLog, levelAt, accuracy).Mean}},
	}
}

func judgeFig4c(s *frame.Summary) []frame.Check {
	brcAt := func(t int) frame.Stat { return s.Mean(brcPaper, convergeAt, accuracyName(t)) }
	boostAt := func(t int) frame.Stat { return s.Mean(randomBoost, 0, accuracyName(t)) }
	gap := s.Statistic(func(s *frame.Summary) (gap float64) {
		for t := 1; t <= rounds25; t++ {
			gap += (s.Mean(randomBoost, 0, accuracyName(t)).Mean - s.Mean(brcPaper, convergeAt, accuracyName(t)).Mean) / rounds25
		}
		return gap
	})
	ours, theirs := settledRound(brcAt), settledRound(boostAt)
	level := s.Mean(diffprivlibLog, levelAt, accuracy)
	lead := s.Between(brcPaper, convergeAt, diffprivlibLog, levelAt, accuracy)
	return []frame.Check{{
		What:  "round from which accuracy stays within 2 points of its last",
		Paper: "almost the same for both (read as: both end above one half with 95 % confidence, BRC at most 5 rounds later)",
		Ours:  fmt.Sprintf("BRC %d, AdaBoost %d", ours, theirs), Parts: []frame.Part{frame.Above(brcAt(rounds25), chance),
			frame.Above(boostAt(rounds25), chance), frame.Fact(ours <= theirs+5)},
	}, {
		What:  "AdaBoost less BRC, mean over the 25 rounds",
		Paper: "curves close together (read as: at most 3 points, where AdaBoost ends 10 above one half)",
		Ours:  fmt.Sprintf("%+.1f points; AdaBoost ends at %s", 100*gap.Mean, formatPercent(boostAt(rounds25))),
		Parts: []frame.Part{frame.Below(gap, 0.03), frame.Above(boostAt(rounds25), chance+0.1)},
	}, {
		What:  "BRC after 25 rounds exceeds private logistic regression at ε = 0.01",
		Paper: "yes (read as: with 95 % confidence)",
		Ours:  fmt.Sprintf("%s against %s", formatPercent(brcAt(rounds25)), formatPercent(level)),
		Parts: []frame.Part{frame.Above(lead, 0)},
	}}
}

// settledRound is the first round from which a curve stays within 2 points of where
// it ends.
func settledRound(at func(int) frame.Stat) int {
	t := rounds25
	for t > 1 && at(t-1).Mean >= at(rounds25).Mean-0.02 && at(t-1).Mean <= at(rounds25).Mean+0.02 {
		t--
	}
	return t
}

func notesFig4c(s *frame.Summary) []string {
	text := "Test accuracy after round"
	for _, t := range []int{1, 5, 10, 15, 20, 25} {
		text += fmt.Sprintf(" %d: BRC %s, AdaBoost %s;", t, formatPercent(s.Mean(brcPaper, convergeAt, accuracyName(t))),
			formatPercent(s.Mean(randomBoost, 0, accuracyName(t))))
	}
	return []string{
		text[:len(text)-1] + ".",
		"BRC may choose its public classifier in any round, AdaBoost over random classifiers has none to choose.",
		"± is the standard error over repeats.",
	}
}
