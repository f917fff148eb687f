// SPDX-License-Identifier: Apache-2.0

package hamm

import (
	"context"
	"fmt"

	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/learn/adaboost"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

const together = "all types mixed"

// kind is one type of local classifier.
type kind struct {
	name string
	fit  fitter
}

func (t *task) listKinds() []kind {
	return []kind{
		{"logistic", fitRidge(t.encoding)},
		{"stumps", fitLearner(func(s *schema.Schema, rows int) (learn.Plan, error) {
			return adaboost.Params{Rounds: 10, Base: adaboost.Stump, Encoding: t.encoding, Columns: nonprivate.All,
				NotPrivate: true}.Plan(s, rows)
		})},
		{"step functions", fitLearner(func(s *schema.Schema, rows int) (learn.Plan, error) {
			return additive.Params{NotPrivate: true}.Plan(s, rows)
		})},
	}
}

// newMixed is an ensemble of several types of classifiers.
func newMixed() *frame.Figure {
	t := newIntrusion()
	t.parties, t.rows = 300, 60
	l := lines{[]string{together}, "one party alone"}
	for _, k := range t.listKinds() {
		l.names = append(l.names, k.name)
	}
	return &frame.Figure{
		Name: "hamm/mixed", Paper: paper, Data: t.name, Repeats: 10,
		Title: "Accuracy of ensembles of mixed types on network intrusion",
		Claim: "Votes combine classifiers of any types, also mixed, where parameters cannot be averaged.",
		Protocol: t.describeProtocol() + " Here a third of the parties each uses logistic regression, AdaBoost over ten " +
			"stumps, and sums of step functions; beside it, all parties use one type. Soft votes.",
		Points: l.listPoints(),
		Open: func(ctx context.Context, w *frame.World) (frame.Setup, error) {
			all, err := t.load(ctx, w)
			if err != nil {
				return nil, err
			}
			w.PermuteLabels(all.Labels)
			return func(ctx context.Context, r frame.Repeat) (frame.Measure, error) { return t.mixParties(ctx, all, r, l) }, nil
		},
		Draw: func(s *frame.Summary) *plot.Lines {
			out := l.drawChart(s, "Soft votes of mixed types on network intrusion")
			out.References = append(out.References, plot.Reference{Name: l.nameBeside(together),
				Y: s.Mean(l.nameBeside(together), 0, accuracy).Mean})
			return out
		},
		Judge: func(s *frame.Summary) []frame.Check { return judgeMixed(s, l) },
		Notes: l.listNotes,
	}
}

func judgeMixed(s *frame.Summary, l lines) []frame.Check {
	last := budgets[len(budgets)-1]
	ours := s.Mean(together, last, accuracy).Mean
	lead := s.Between(together, last, l.nameBeside(together), 0, accuracy)
	worst := 1.0
	var parts []frame.Part
	for _, k := range l.names[1:] {
		parts = append(parts, frame.Above(s.Difference(together, k, last, accuracy), -0.005))
		worst = min(worst, s.Mean(k, last, accuracy).Mean)
	}
	single := s.Mean(l.nameBeside(together), 0, accuracy).Mean
	return []frame.Check{
		{What: fmt.Sprintf("mixed ensemble at ε = %s against one party alone", last),
			Paper: "above (read as: with 95 % confidence)", Ours: fmt.Sprintf("%.2f %% against %.2f %%", 100*ours, 100*single),
			Parts: []frame.Part{frame.Above(lead, 0)}},
		{What: fmt.Sprintf("mixed ensemble at ε = %s against the worst pure one", last),
			Paper: "works as well (read as: at least as accurate, less half a point)",
			Ours:  fmt.Sprintf("%.2f %% against %.2f %%", 100*ours, 100*worst), Parts: parts},
	}
}

// mixParties lets the parties train each type.
func (t *task) mixParties(ctx context.Context, all *dataset.Table, r frame.Repeat, l lines) (frame.Measure, error) {
	trials := map[string]*trial{}
	var pure []*trial
	for _, k := range t.listKinds() {
		tr, err := t.beginTrial(ctx, all, r, func(int) fitter { return k.fit })
		if err != nil {
			return nil, err
		}
		trials[k.name] = tr
		pure = append(pure, tr)
	}
	both := &trial{task: t, repeat: r, test: pure[0].test, aux: pure[0].aux, tables: pure[0].tables}
	for k := range both.tables {
		of := pure[k%len(pure)]
		both.models, both.votes, both.tested = append(both.models, of.models[k]), append(both.votes, of.votes[k]),
			append(both.tested, of.tested[k])
	}
	trials[together] = both
	return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
		for name, tr := range trials {
			switch p.Series {
			case l.nameBeside(name):
				return tr.measureLine(ctx, frame.Point{Series: individual})
			case name:
				return tr.measureLine(ctx, frame.Point{Series: soft, Epsilon: p.Epsilon})
			}
		}
		return frame.Measurement{}, fmt.Errorf("hamm: no line is called %q", p.Series)
	}, nil
}
