// SPDX-License-Identifier: Apache-2.0

package shen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/brc"
	"github.com/discreet-dp/discreet/internal/learn/erm"
	"github.com/discreet-dp/discreet/internal/learn/logistic"
	"github.com/discreet-dp/discreet/internal/learn/nonprivate"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// panel is one panel of Figure 2 or 3: BRC on one table against the baselines of
// section 5.2, partially private or with everything private.
type panel struct {
	everything bool // Figure 3: every feature and the label are private
	name       string
	data       string // the table in records
	table      string // the table in prose
	schema     string
	files      []string
	rows       string       // which rows, for the protocol
	first      int          // only the first so many rows of the files; 0: all
	test       float64      // share of the balanced rows for testing; 0: a tenth
	epsilons   []dp.Epsilon // nil: section 5.1's
	repeats    int          // 0: 30; section 5.2 has ten
	finding    string       // a further note; may be empty

	// What sections 5.3 and 6 say; 0 if they say nothing.
	nonPrivate, publicOnly float64
	stated                 []stated
	above                  dp.Epsilon // BRC exceeds the public baseline from here on
	says                   string
}

// stated is an accuracy the text gives for BRC.
type stated struct {
	epsilon  dp.Epsilon
	accuracy float64
}

// Section 5.1's budgets.
var budgets = []dp.Epsilon{10_000_000, 20_000_000, 40_000_000, 80_000_000, 160_000_000}

// The series. The first three are the paper's: ordinal encoding and, for BRC,
// noise of c1·c2·T/(ε·n). The others vary one choice each, or both.
const (
	nonPrivate  = "non-private"
	publicOnly  = "public-only"
	brcPaper    = "brc"
	brcTight    = "brc-tight"
	brcLinear   = "brc-linear"       // the paper's, its rounds added up by their values
	privateLog  = "private-logistic" // ours, everything private, objective perturbation as in CMS11
	ermTight    = "private-logistic-tight"
	oneHot      = "-onehot" // suffix
	accuracy    = "accuracy"
	noiseScale  = "noise_scale" // mean over the rounds of one fit
	sensitivity = "sensitivity="

	linearOutput = sensitivity + "paper output=linear"
)

func (p panel) newFigure() *frame.Figure {
	if p.epsilons == nil {
		p.epsilons = budgets
	}
	if p.test == 0 {
		p.test = tenth
	}
	if p.repeats == 0 {
		p.repeats = 30
	}
	return &frame.Figure{
		Name: "shen/" + p.name, Paper: paper, Data: p.data, Repeats: p.repeats,
		Title: "BRC on " + p.table + p.describeVariant() + ", accuracy against ε",
		Claim: p.says + ".",
		Protocol: "Sections 5.1 and 5.2. Rows: " + p.rows +
			". Each repeat draws the balanced subset and the 10 % test part anew. " +
			"BRC: T = 25, c1 = c2 = √2, " + p.describeSplit() + ", ordinal encoding, noise c1·c2·T/(ε·n). " +
			"Baselines: ridge logistic regression, C = 1, an intercept, same encoding; private logistic regression of " +
			"diffprivlib 0.6.6, " +
			"which the paper names, everything private, as recorded (lab/peers/diffprivlib). " +
			"Beside the paper's protocol: our own private logistic regression by objective perturbation as in CMS11; noise " +
			"by the tight sensitivity (same rows, same classifiers, same stream of " +
			"noise), and one-hot encoding.",
		Points: p.listPoints(), Open: p.openData, Draw: p.drawChart, Judge: p.judgeClaims, Notes: p.listNotes,
	}
}

// describeVariant tells the panels of Figure 3 from those of Figure 2.
func (p panel) describeVariant() string {
	if p.everything {
		return ", everything private"
	}
	return ""
}

func (p panel) describeSplit() string {
	if p.everything {
		return "every feature and the label private (Algorithm 3; balancing reads the labels, so its claim covers the " +
			"balanced rows only)"
	}
	return "the split of section 5.3"
}

func (p panel) listPoints() (out []frame.Point) {
	for _, e := range []struct {
		encoding feature.Encoding
		suffix   string
	}{{feature.Ordinal, ""}, {feature.OneHot, oneHot}} {
		add := func(series string, eps dp.Epsilon, parameters string) {
			out = append(out, frame.Point{Series: series + e.suffix, Epsilon: eps, Encoding: string(e.encoding),
				Parameters: parameters})
		}
		add(nonPrivate, 0, "")
		if !p.everything {
			add(publicOnly, 0, "")
		}
		for _, eps := range p.epsilons {
			add(brcPaper, eps, sensitivity+string(brc.Paper))
			add(brcLinear, eps, linearOutput)
			add(brcTight, eps, sensitivity+string(brc.Tight))
			add(diffprivlibLog, eps, "everything private, diffprivlib's defaults")
			add(privateLog, eps, "method=objective mode=cms11")
			add(ermTight, eps, "method=auto mode=tight")
		}
	}
	return out
}

func (p panel) openData(ctx context.Context, w *frame.World) (frame.Setup, error) {
	all, err := w.Read(ctx, p.schema, p.files...)
	if err != nil {
		return nil, err
	}
	if p.first > 0 {
		all = all.Subset(firstRows(p.first))
	}
	if p.everything {
		all = withAllPrivate(all)
	}
	return func(ctx context.Context, r frame.Repeat) (frame.Measure, error) {
		rows := sample.Balance(all, r.Stream("balance"))
		train, test := sample.HoldOut(rows, p.test, r.Stream("hold out"))
		t, err := newTrial(r, all, train, test)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, point frame.Point) (frame.Measurement, error) {
			if strings.TrimSuffix(point.Series, oneHot) == diffprivlibLog {
				return readPeer(r, p.data, point)
			}
			return t.measurePoint(ctx, point)
		}, nil
	}, nil
}

// tenth is section 5.1's test part.
const tenth = 0.1

func firstRows(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func withAllPrivate(t *dataset.Table) *dataset.Table {
	return &dataset.Table{Schema: allPrivate(t.Schema), Rows: t.Rows, Cols: t.Cols, Labels: t.Labels}
}

// allPrivate is s with every feature and the label private. The table has been
// read already, so the defaults for unreadable cells are never used.
func allPrivate(s *schema.Schema) *schema.Schema {
	out := *s
	out.Columns = slices.Clone(s.Columns)
	for j := range out.Columns {
		if c := &out.Columns[j]; c.Role == schema.Public {
			c.Role = schema.Private
			if c.Kind == schema.Number && c.Default == nil {
				c.Default = &c.Lower
			}
		}
	}
	out.Label.Role, out.Label.Default = schema.Private, 0
	return &out
}

// trial is one split of the rows.
type trial struct {
	repeat frame.Repeat
	train  engine.Table
	test   *dataset.Table
}

func newTrial(r frame.Repeat, all *dataset.Table, train, test []int) (*trial, error) {
	tab, err := memory.New(all.Subset(train))
	if err != nil {
		return nil, err
	}
	return &trial{repeat: r, train: tab, test: all.Subset(test)}, nil
}

func (t *trial) measurePoint(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	plan, err := t.newPlan(p)
	if err != nil {
		return frame.Measurement{}, err
	}
	return t.scorePlan(ctx, plan, p)
}

// fitModel draws from a stream that does not name the sensitivity: paper and tight
// see the same classifiers and almost the same noise but for its scale.
func (t *trial) fitModel(ctx context.Context, plan learn.Plan, p frame.Point, tape mech.Tape) (*model.Model, error) {
	src := t.repeat.Stream(fmt.Sprintf("ε = %s, %s", p.Epsilon, p.Encoding))
	return guard.Train(ctx, plan, t.train, guard.Uncounted{}, mech.NewTapedExit(src, tape))
}

// scorePlan fits a plan and tests the model.
func (t *trial) scorePlan(ctx context.Context, plan learn.Plan, p frame.Point) (frame.Measurement, error) {
	var seen scales
	m, err := t.fitModel(ctx, plan, p, &seen)
	if err != nil {
		return frame.Measurement{}, err
	}
	acc, err := accuracyOf(m, t.test)
	if err != nil {
		return frame.Measurement{}, err
	}
	out := frame.Measurement{Values: []frame.Value{{Metric: accuracy, Value: acc}}, Bill: m.Privacy.Epsilon}
	if m.Learner == "brc" {
		out.Values = append(out.Values, frame.Value{Metric: noiseScale, Value: seen.sum / float64(seen.n)})
	}
	return out, nil
}

func (t *trial) newPlan(p frame.Point) (learn.Plan, error) {
	s, n, enc := t.train.Schema(), t.train.Rows(), feature.Encoding(p.Encoding)
	if p.Epsilon == 0 {
		cols := nonprivate.All
		if p.Series == publicOnly || p.Series == publicOnly+oneHot {
			cols = nonprivate.Public
		}
		return logistic.Params{Encoding: enc, Columns: cols, NotPrivate: true}.Plan(s, n)
	}
	switch strings.TrimSuffix(p.Series, oneHot) {
	case privateLog, ermTight:
		e := erm.Defaults()
		e.Epsilon, e.Encoding = p.Epsilon, enc
		if strings.TrimSuffix(p.Series, oneHot) == privateLog {
			e.Method, e.Mode, e.Noise = erm.Objective, erm.CMS11, erm.Gamma
		}
		return e.Plan(s, n)
	}
	b := brc.Printed()
	b.Epsilon, b.Encoding = p.Epsilon, enc
	if p.Parameters == linearOutput {
		b.Sensitivity, b.Output = brc.Paper, brc.Linear
	} else {
		b.Sensitivity = brc.Sensitivity(p.Parameters[len(sensitivity):])
	}
	return b.Plan(s, n)
}

func accuracyOf(m *model.Model, test *dataset.Table) (float64, error) {
	p, err := m.Bind(test.Schema)
	if err != nil {
		return 0, err
	}
	scores, err := p.Scores(test.Cols, test.Rows)
	if err != nil {
		return 0, err
	}
	l := &test.Schema.Label
	r, err := metrics.Evaluate(test.Labels, scores, classNames(l.Levels), l.Positive, m.Threshold())
	if err != nil {
		return 0, err
	}
	return r.Accuracy, nil
}

func classNames(classes []schema.Level) (out []string) {
	for _, l := range classes {
		out = append(out, l.Value)
	}
	return out
}

// scales is a tape that adds up the noise scales that pass.
type scales struct {
	sum float64
	n   int
}

func (s *scales) Numbers(_ string, m mech.Mechanism, _ []mech.Ratio) []float64 {
	s.sum += m.Sensitivity() / m.Loss().Float()
	s.n++
	return nil
}

func (*scales) Choice(string, mech.Selector, []mech.Ratio) int { return -1 }

func (*scales) Report(string, response.Priced, []mech.Ratio) response.Report { return nil }

const (
	// tolerance is how far a mean may lie from a printed one and still be called
	// the same: the paper's are means of ten, printed as such or "roughly".
	tolerance = 0.01
	rounding  = 0.00005 // of a printed value
)

func (p panel) judgeClaims(s *frame.Summary) []frame.Check {
	same := func(what string, theirs float64, ours frame.Stat) frame.Check {
		return frame.Check{
			What: what, Paper: fmt.Sprintf("%.2f %%", 100*theirs), Ours: formatPercent(ours),
			Parts: []frame.Part{frame.Within(ours, theirs-tolerance-rounding, theirs+tolerance+rounding)},
		}
	}
	var checks []frame.Check
	if p.nonPrivate > 0 {
		checks = append(checks, same("logistic regression on all features", p.nonPrivate, s.Mean(nonPrivate, 0, accuracy)))
	}
	if p.publicOnly > 0 {
		checks = append(checks, same("logistic regression on public features", p.publicOnly, s.Mean(publicOnly, 0, accuracy)))
	}
	checks = append(checks, p.judgeReading(s, brcPaper, "BRC", same)...)
	for _, c := range p.judgeReading(s, brcLinear, "BRC, linear", same) {
		c.Later = "the reading of section 8, one linear classifier, added on 2026-11-22 after its results were known"
		checks = append(checks, c)
	}
	return checks
}

// judgeReading judges what the text says of BRC, for one reading of its output.
func (p panel) judgeReading(s *frame.Summary, series, name string,
	same func(string, float64, frame.Stat) frame.Check) (checks []frame.Check) {
	for _, st := range p.stated {
		checks = append(checks, same(fmt.Sprintf("%s at ε = %s", name, st.epsilon), st.accuracy,
			s.Mean(series, st.epsilon, accuracy)))
	}
	if p.above > 0 {
		checks = append(checks, checkExceeds(name+" exceeds the public features", p.epsilons, p.above,
			func(eps dp.Epsilon) frame.Stat { return s.Between(series, eps, publicOnly, 0, accuracy) }))
	}
	return append(checks, checkExceeds(name+" exceeds the private baseline (diffprivlib)", p.epsilons, p.epsilons[0],
		func(eps dp.Epsilon) frame.Stat { return s.Difference(series, diffprivlibLog, eps, accuracy) }))
}

// checkExceeds checks that BRC is above another series, beyond chance, at every ε
// from the given one on. lead is BRC less the other, paired by repeats.
func checkExceeds(what string, epsilons []dp.Epsilon, above dp.Epsilon, lead func(dp.Epsilon) frame.Stat) frame.Check {
	c := frame.Check{What: what, Paper: fmt.Sprintf("from ε = %s on (read as: with 95 %% confidence)",
		above)}
	var at []dp.Epsilon
	for _, eps := range epsilons {
		if lead(eps).IsAbove(0) {
			at = append(at, eps)
		}
		if eps >= above {
			c.Parts = append(c.Parts, frame.Above(lead(eps), 0))
		}
	}
	switch {
	case len(at) == 0:
		c.Ours = fmt.Sprintf("at no ε up to %s", epsilons[len(epsilons)-1])
	case slices.Equal(at, epsilons[len(epsilons)-len(at):]):
		c.Ours = fmt.Sprintf("from ε = %s on", at[0])
	default:
		for _, eps := range at {
			c.Ours = appendItem(c.Ours, eps.String())
		}
		c.Ours = "at ε = " + c.Ours + " only"
	}
	return c
}

// appendItem appends to a comma-separated list.
func appendItem(list, item string) string {
	if list == "" {
		return item
	}
	return list + ", " + item
}

func (p panel) listNotes(s *frame.Summary) (out []string) {
	for _, enc := range []struct{ suffix, name string }{{"", string(feature.Ordinal)}, {oneHot, string(feature.OneHot)}} {
		line := fmt.Sprintf("Encoding %s: all features %s", enc.name,
			formatPercent(s.Mean(nonPrivate+enc.suffix, 0, accuracy)))
		if !p.everything {
			line += ", public features " + formatPercent(s.Mean(publicOnly+enc.suffix, 0, accuracy))
		}
		for _, series := range []string{brcPaper, brcLinear, brcTight, diffprivlibLog, privateLog, ermTight} {
			line += "; " + series
			for _, eps := range p.epsilons {
				line += fmt.Sprintf(" %s: %s", eps, formatPercent(s.Mean(series+enc.suffix, eps, accuracy)))
				if eps != p.epsilons[len(p.epsilons)-1] {
					line += ","
				}
			}
		}
		out = append(out, line+".")
		d := s.Over(brcTight+enc.suffix, brcPaper+enc.suffix, p.epsilons, accuracy)
		out = append(out,
			fmt.Sprintf("Tight minus paper (%s, paired, mean over the five ε): %+.4f ± %.4f; with 99.9 %% confidence at "+
				"least %+.4f, and at most %+.4f.",
				enc.name, d.Mean, d.StdErr, d.AtLeast(0.001), d.AtMost(0.001)))
	}
	line := "Noise scale of a round, mean over rounds and repeats, tight beside paper:"
	for _, eps := range p.epsilons {
		line += fmt.Sprintf(" %.4f, %.4f at ε = %s;", s.Mean(brcTight, eps, noiseScale).Mean,
			s.Mean(brcPaper, eps, noiseScale).Mean, eps)
	}
	if p.finding != "" {
		out = append(out, p.finding)
	}
	return append(out, line[:len(line)-1]+".",
		"± is the standard error over repeats.")
}

func formatPercent(s frame.Stat) string {
	return fmt.Sprintf("%.2f ± %.2f %%", 100*s.Mean, 100*s.StdErr)
}
