// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// table is a data set of binary attributes.
type table struct {
	name, long string
	owners     int // of a round
	rounds     int
	about      string
	parameters string
	note       string
	draws      int // of invented rows that Figures 8 and 9 run on in turn; 1 for real ones
	open       func(ctx context.Context, w *frame.World, draw int) (train, test bits, err error)
}

var (
	fourNine = table{
		name: "mnist-4-9", long: "MNIST, 4 against 9", owners: 1_000, rounds: 10,
		about: "The 11,791 training images of 4 and 9, 50 visual words, each an attribute: whether at least a " +
			"fortieth of the blocks are that word",
		parameters: dictionaryNote(fewWords), note: nothingPrivate, draws: 1, open: openFourNine,
	}
	invented = table{
		name: "synthetic", long: "Synthetic", owners: 10_000, rounds: 20,
		about: "A million rows of 20 attributes cut at 0, of which ten are random combinations of the other ten, by " +
			"the law of scikit-learn's make_classification with its defaults; 100,000 further rows to test",
		parameters: "law of make_classification",
		note:       "Nothing here was learned from unperturbed data: the cuts are declared.", draws: 10, open: openSynthetic,
	}
)

func openFourNine(ctx context.Context, w *frame.World, _ int) (train, test bits, err error) {
	all, unseen, err := mnist.openImages(ctx, w, fewWords)
	if err != nil {
		return train, test, err
	}
	of := func(l labelled) bits {
		b := bitsAbove(l.subsetRows(slices.Concat(l.byClass()[4], l.byClass()[9])))
		for i, y := range b.y {
			b.y[i] = y / 9
		}
		return b
	}
	return of(all), of(unseen), nil
}

func openSynthetic(_ context.Context, w *frame.World, draw int) (train, test bits, err error) {
	const rows, unseen = 1_000_000, 100_000
	stream := "wangchang, synthetic"
	if draw > 0 {
		stream = fmt.Sprintf("%s, draw %d", stream, draw)
	}
	all := syntheticBits(rows+unseen, replay.Seeded(1, stream))
	w.PermuteLabels(all.y)
	part := func(from, to int) bits { return bits{all.d, all.is[from*all.d : to*all.d], all.y[from:to]} }
	return part(0, rows), part(rows, rows+unseen), nil
}

// Budgets of Figures 8 and 9.
var hitBudgets = []dp.Epsilon{1 * dp.Nano, 2 * dp.Nano, 3 * dp.Nano, 4 * dp.Nano, 5 * dp.Nano}

const (
	top1 = "top_1"
	top3 = "top_3"
)

// newHits is a figure of how often the best attribute is found.
func (t table) newHits(number, says string, judge func(s *frame.Summary) []frame.Check) *frame.Figure {
	f := &frame.Figure{
		Name: "wangchang/fig" + number, Paper: paper + ", Figure " + number, Data: t.name, Repeats: 100, Quick: 10,
		Title: t.long + ": best attribute, top-k hitting rate against ε",
		Claim: says,
		Protocol: fmt.Sprintf("Section 4.3. %s. %d owners share the rows evenly, anew in each run; each reports its cross "+
			"tables' differences, 2 numbers an attribute and between -1 and 1, once at ε. "+
			"A run hits the top k if the attribute with the largest perturbed gain (equation 5) is among the k best of the "+
			"exact tables. 100 runs%s.", t.about, t.owners, t.describeDraws()),
		Open: t.openHits, Draw: t.drawHits, Judge: judge, Notes: t.notesHits,
	}
	for _, m := range []mechanism{pm, duchi, repaired, discrete} {
		f.Points = append(f.Points, budgetPoints(m.name, t.parameters, hitBudgets)...)
	}
	return f
}

func (t table) openHits(ctx context.Context, w *frame.World) (frame.Setup, error) {
	// Repeats take draws of rows in turn. The first is opened at once, to find out
	// whether it can be; each takes seconds, so the others wait until they are needed.
	draws := make([]func() (*hitRows, error), t.draws)
	for k := range draws {
		draws[k] = sync.OnceValues(func() (*hitRows, error) { return t.openDraw(ctx, w, k) })
	}
	if _, err := draws[0](); err != nil {
		return nil, err
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		rows, err := draws[r.Number%t.draws]()
		if err != nil {
			return nil, err
		}
		sent := rows.train.reportedShares(shuffledRows(len(rows.train.y), r.Stream("owners")), t.owners, rows.even, 1)
		return func(_ context.Context, p frame.Point) (frame.Measurement, error) {
			_, m, _ := parseSeries(" " + p.Series)
			src := r.Stream(p.Series + ", ε = " + p.Epsilon.String())
			sum := m.make(2*rows.train.d, p.Epsilon.Float()).Sum(sent, 0, t.owners, src)
			found := feature.ArgMax(splitGains(sum))
			return frame.Measurement{Bill: p.Epsilon, Values: []frame.Value{
				{Metric: top1, Value: shareWithin(rows.best[:1], found)}, {Metric: top3, Value: shareWithin(rows.best[:3], found)},
			}}, nil
		}, nil
	}, nil
}

// hitRows are rows and what is best on them.
type hitRows struct {
	train bits
	even  []float64 // weights of rows
	best  []int     // attributes, best first
}

func (t table) openDraw(ctx context.Context, w *frame.World, k int) (*hitRows, error) {
	train, _, err := t.open(ctx, w, k)
	if err != nil {
		return nil, err
	}
	even := onesOf(len(train.y))
	exact := make([]float64, 2*train.d)
	train.crossDifferences(upTo(len(train.y)), even, exact)
	return &hitRows{train, even, rankAttributes(splitGains(exact))}, nil
}

// describeDraws is what the protocol says of several draws.
func (t table) describeDraws() string {
	if t.draws == 1 {
		return ""
	}
	return fmt.Sprintf(", which take %d draws of such rows in turn", t.draws)
}

func shareWithin(best []int, found int) float64 {
	if slices.Contains(best, found) {
		return 1
	}
	return 0
}

func (t table) drawHits(s *frame.Summary) *plot.Lines {
	l := &plot.Lines{
		Title:    t.long + ": finding the best attribute",
		Subtitle: fmt.Sprintf("%d owners, printed mechanisms; %d runs", t.owners, s.Repeats),
		XLabel:   "ε of each report", YLabel: "share of runs", YTo: 1,
		Note: "Solid: among the best three. Dashed: the best. " + t.note,
	}
	for _, m := range []mechanism{pm, duchi, repaired} {
		three := newCurve(m.long+", top 3", epsilonFloats(hitBudgets),
			func(i int) frame.Stat { return s.Mean(m.name, hitBudgets[i], top3) })
		one := newCurve(m.long+", top 1", epsilonFloats(hitBudgets),
			func(i int) frame.Stat { return s.Mean(m.name, hitBudgets[i], top1) })
		three.Low, three.High, one.Low, one.High = nil, nil, nil, nil
		one.Like, one.Stroke = three.Name, plot.Dashed
		l.Series = append(l.Series, three, one)
	}
	return l
}

// formatRate is a share of runs with the standard error of that many.
func formatRate(st frame.Stat) string {
	return fmt.Sprintf("%.0f ± %.0f %%", 100*st.Mean, 100*st.StdErr)
}

func (t table) notesHits(s *frame.Summary) []string {
	out := []string{t.note, tiesNote}
	for _, m := range []mechanism{pm, duchi, repaired, discrete} {
		for _, metric := range []string{top1, top3} {
			var l listed
			for _, eps := range hitBudgets {
				l.addLine("%s at ε = %s", formatRate(s.Mean(m.name, eps, metric)), eps)
			}
			out = append(out, fmt.Sprintf("%s, %s: %s.", m.long, metric, l))
		}
	}
	return append(out, "± is the standard error of the share.")
}

// checkGrowth checks that a mechanism's hitting rate is higher at the largest ε.
func checkGrowth(s *frame.Summary, m mechanism) frame.Check {
	first, last := hitBudgets[0], hitBudgets[len(hitBudgets)-1]
	a, b := s.Mean(m.name, first, top3).Mean, s.Mean(m.name, last, top3).Mean
	growth := s.Between(m.name, last, m.name, first, top3)
	return frame.Check{
		What:  m.long + ": top-3 rate",
		Paper: "increases with ε (read as: higher at the largest than at the smallest with 95 % confidence)",
		Ours:  fmt.Sprintf("%.0f %% at ε = %s, %.0f %% at %s", 100*a, first, 100*b, last), Parts: []frame.Part{frame.Above(growth, 0)},
	}
}

// checkNear checks a stated rate. A printed share of 100 runs has a standard error
// of up to 5 points, and ours another.
func checkNear(s *frame.Summary, m mechanism, eps dp.Epsilon, metric, what string, stated float64) frame.Check {
	st := s.Mean(m.name, eps, metric)
	return frame.Check{
		What:  fmt.Sprintf("%s: %s rate at ε = %s", m.long, what, eps),
		Paper: fmt.Sprintf("about %.0f %% (read as: within 15 points)", 100*stated),
		Ours:  formatRate(st), Parts: []frame.Part{frame.Within(st, stated-0.15, stated+0.15)},
	}
}
