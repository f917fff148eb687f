// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// stumpsMost is the largest mean weight of an owner's rows that is sent, after
// the first round; the paper has no rule.
const stumpsMost = 2

var stumpBudgets = []dp.Epsilon{3 * dp.Nano, 5 * dp.Nano}

// newBoosts is a figure of boosted stumps.
func (t table) newBoosts(number string) *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig" + number, Paper: paper + ", Figure " + number, Data: t.name, Repeats: 5, Quick: 1,
		Title: t.long + ": boosted stumps, error against stumps",
		Claim: "Boosted stumps from perturbed cross tables are about as accurate as those without noise, whatever their " +
			"number, and boosting lowers the error of both.",
		Protocol: fmt.Sprintf("Section 4.3, Algorithm 2 over section 3.5.3. %s. %d rounds, each of %d owners not asked "+
			"before, who share the rows evenly, anew in each repeat; the figure's ε is not in the text. "+
			"As printed: owners say the majority class of each branch in clear, and errors and weights are summed exactly "+
			"over all rows in each round: ε covers neither. "+
			"An owner's differences are of weights with a mean of 1 a row, cut at 2 (1 in the first round). Without noise: "+
			"all rows in each round. Local: discreet's stumps in mode local, one report for each row and its class.", t.about,
			t.rounds, t.owners),
		Open: t.openBoosts, Draw: t.drawBoosts, Judge: t.judgeBoosts, Notes: t.notesBoosts,
		Points: []frame.Point{{Series: noNoise, Parameters: t.parameters}},
	}
	for _, i := range impurities {
		f.Points = append(f.Points, frame.Point{Series: i.series, Parameters: t.parameters})
	}
	for _, m := range []mechanism{pm, duchi, repaired, discrete} {
		f.Points = append(f.Points, budgetPoints(m.name, t.parameters, stumpBudgets)...)
	}
	f.Points = append(f.Points, budgetPoints(oneReport, t.parameters+", mode=local", stumpBudgets)...)
	return f
}

func (t table) openBoosts(ctx context.Context, w *frame.World) (frame.Setup, error) {
	train, test, err := t.open(ctx, w, 0)
	if err != nil {
		return nil, err
	}
	if len(train.y) < t.rounds*t.owners {
		return nil, fmt.Errorf("experiment: %s: %d owners a round need %d rows, there are %d", t.long, t.owners,
			t.rounds*t.owners, len(train.y))
	}
	owners, unseen := tableOfBits(t.name, train), tableOfBits(t.name, test)
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		order := shuffledRows(len(train.y), r.Stream("owners"))
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			if p.Series == oneReport {
				return testLocal(ctx, r, p, owners, unseen, wire.Stump)
			}
			return t.boostStumps(ctx, r, p, train, test, order)
		}, nil
	}, nil
}

func (t table) boostStumps(ctx context.Context, r frame.Repeat, p frame.Point, train, test bits,
	order []int) (frame.Measurement, error) {
	b := newBoosting(labelled{y: train.y, classes: 2}, labelled{y: test.y})
	src := r.Stream(p.Series + ", ε = " + p.Epsilon.String())
	_, m, _ := parseSeries(" " + p.Series)
	out := frame.Measurement{Bill: p.Epsilon}
	n := len(order) / t.rounds
	most := 1.0
	for round := range t.rounds {
		if err := ctx.Err(); err != nil {
			return frame.Measurement{}, err
		}
		var s stump
		if p.Epsilon == 0 {
			s = train.exactStump(order, b.Of)
			for _, i := range impurities {
				if i.series == p.Series {
					s = train.purestStump(order, b.Of, i.of)
				}
			}
		} else {
			s = train.printedStump(order[round*n:(round+1)*n], t.owners, b.Of, most,
				m.make(2*train.d, p.Epsilon.Float()), src)
		}
		b.addClassifier(s.predictRows(train), s.predictRows(test))
		out.Values = append(out.Values, frame.Value{Metric: errorName(round + 1), Value: b.errorRate(test.y)})
		most = stumpsMost
	}
	return out, nil
}

func (t table) drawBoosts(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title: t.long + ": boosted stumps", Subtitle: fmt.Sprintf("%d owners a round, printed mechanisms; mean of %d repeats",
			t.owners, s.Repeats),
		XLabel: "stumps", YLabel: "test error", Spread: spreadNote,
		Note: "Solid: ε = 5. Dashed: ε = 3. ε covers neither leaf labels nor error sums.",
		Series: []plot.Series{newCurve("no noise", countTo(t.rounds),
			func(i int) frame.Stat { return s.Mean(noNoise, 0, errorName(i+1)) })},
	}
	for _, m := range []mechanism{pm, duchi, repaired} {
		for _, eps := range []dp.Epsilon{5 * dp.Nano, 3 * dp.Nano} {
			c := newCurve(fmt.Sprintf("%s, ε = %s", m.long, eps), countTo(t.rounds),
				func(i int) frame.Stat { return s.Mean(m.name, eps, errorName(i+1)) })
			if eps == 3*dp.Nano {
				c.Stroke, c.Like = plot.Dashed, fmt.Sprintf("%s, ε = 5", m.long)
			}
			l.Series = append(l.Series, c)
		}
	}
	for _, eps := range stumpBudgets {
		if st := s.Mean(oneReport, eps, accuracy); st.N > 0 {
			l.References = append(l.References, plot.Reference{Name: "mode local, ε = " + eps.String(), Y: 1 - st.Mean})
		}
	}
	return l
}

func (t table) judgeBoosts(s *frame.Summary) (out []frame.Check) {
	gain := s.Change(noNoise, 0, errorName(1), errorName(t.rounds))
	out = append(out, frame.Check{
		What: "without noise: first stump less all", Paper: "boosting is effective (read as: at least a point)",
		Ours: fmt.Sprintf("%+.1f points", 100*gain.Mean), Parts: []frame.Part{frame.Above(gain, 0.01)},
	})
	for _, eps := range stumpBudgets {
		c := frame.Check{What: fmt.Sprintf("PM at ε = %s: error above that without noise", eps),
			Paper: "similar under various numbers of stumps (read as: at most 3 points at every number)"}
		most := math.Inf(-1)
		for i := range t.rounds {
			more := s.Between(pm.name, eps, noNoise, 0, errorName(i+1))
			most = max(most, more.Mean)
			c.Parts = append(c.Parts, frame.Below(more, 0.03))
		}
		c.Ours = fmt.Sprintf("at most %+.1f points", 100*most)
		gain := s.Change(pm.name, eps, errorName(1), errorName(t.rounds))
		out = append(out, c, frame.Check{
			What: fmt.Sprintf("PM at ε = %s: first stump less all", eps), Paper: "a similar gain (read as: at least a point)",
			Ours: fmt.Sprintf("%+.1f points", 100*gain.Mean), Parts: []frame.Part{frame.Above(gain, 0.01)},
		})
	}
	for _, i := range impurities {
		more := s.Difference(noNoise, i.series, 0, errorName(t.rounds))
		out = append(out, frame.Check{
			What:  "without noise: all stumps by error less all by " + i.long,
			Paper: "misclassification error does as well (read as: at most a point more error)",
			Ours:  fmt.Sprintf("%+.1f points", 100*more.Mean), Parts: []frame.Part{frame.Below(more, 0.01)},
			Later: "our question, added on 2026-11-23: the paper cites another study for it",
		})
	}
	return out
}

func (t table) notesBoosts(s *frame.Summary) []string {
	out := []string{t.note, tiesNote, "Leaf labels, mistakes and weights are not hidden here, as printed. Mode local hides them."}
	add := func(name, series string, eps dp.Epsilon) {
		var l listed
		for i := range t.rounds {
			l.addLine("%s", formatPercent(s.Mean(series, eps, errorName(i+1))))
		}
		out = append(out, fmt.Sprintf("%s, error by number of stumps: %s.", name, l))
	}
	add("No noise", noNoise, 0)
	for _, i := range impurities {
		add("No noise, by "+i.long, i.series, 0)
	}
	for _, eps := range stumpBudgets {
		st := s.Mean(oneReport, eps, accuracy)
		st.Mean = 1 - st.Mean
		out = append(out, fmt.Sprintf("Mode local at ε = %s, every row an owner, class included, nothing in clear: error %s.",
			eps, formatPercent(st)))
	}
	for _, m := range []mechanism{pm, duchi, repaired, discrete} {
		for _, eps := range stumpBudgets {
			add(fmt.Sprintf("%s at ε = %s", m.long, eps), m.name, eps)
		}
	}
	return append(out, "± is the standard deviation between repeats.")
}
