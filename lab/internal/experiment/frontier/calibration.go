// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/model/shrink"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// calibrated is a table whose scores are looked at.
type calibrated struct {
	name   string
	read   func(ctx context.Context, w *frame.World) (*dataset.Table, error)
	skews  []float64 // shares of the first class it is thinned to, besides as it is
	scopes []string
}

// Scopes of a series.
const (
	scopePartly = "partly private"
	scopeWhole  = "everything private"
	scopeDelta  = "everything private, δ"
)

const (
	calibrationDelta = dp.Femto / 1_000_000 // 1e-6
	mostCalibrated   = 70_000               // rows of a table that are looked at
	fewestCalibrated = 40                   // rows of the class that is thinned
	// baseLoss is the log loss of the classes' shares as the whole price releases them.
	baseLoss = "log_loss_of_released_shares"
)

var (
	calibrationBudgets = []dp.Epsilon{10_000_000, 30_000_000, 100_000_000, 300_000_000, 1_000_000_000, 3_000_000_000,
		10_000_000_000}
	allScopes  = []string{scopePartly, scopeWhole, scopeDelta}
	thinShares = []float64{0.05, 0.01}
)

func calibratedTables() (out []calibrated) {
	for _, f := range []struct {
		name, schema string
		files        []string
	}{
		{"Adult", "adult.yaml", []string{"adult/adult.data.gz", "adult/adult.test.gz"}},
		{"Bank", "bank.yaml", []string{"bank/bank-full.csv.gz"}},
		{"Bank, 20 columns", "bank-additional.yaml", []string{"bank/bank-additional-full.csv.gz"}},
		{"Credit", "credit.yaml", []string{"credit/UCI_Credit_Card.csv.gz"}},
		{"Sepsis", "sepsis.yaml", []string{"sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv.gz"}},
		{"KDD Cup 99", "kdd99.yaml", []string{"kdd99/kddcup.data_10_percent.gz"}},
		{"Phishing", "phishing.yaml", []string{"phishing/phishing_websites.csv.gz"}},
		{"KDD Cup 99, kinds", "kdd99-kinds.yaml", []string{"kdd99/kddcup.data_10_percent.gz"}},
		{"WISDM", "wisdm.yaml", []string{"wisdm/WISDM_ar_v1.1_transformed.arff.gz"}},
	} {
		read := func(ctx context.Context, w *frame.World) (*dataset.Table, error) {
			return w.Read(ctx, f.schema, f.files...)
		}
		out = append(out, calibrated{f.name, read, thinShares, allScopes})
	}
	for _, f := range []struct{ name, text, file string }{
		{"ACSEmployment", acsSchema(), "acs/ACSemployment_train.csv.gz"},
		{"Characters", charactersSchema(), "characters/characters_train.csv.gz"},
	} {
		read := func(ctx context.Context, w *frame.World) (*dataset.Table, error) {
			s, err := schema.Parse([]byte(f.text))
			if err != nil {
				return nil, err
			}
			path, err := w.File(f.file)
			if err != nil {
				return nil, err
			}
			t, err := dataset.Read(ctx, s, dataset.Options{}, path)
			if err != nil {
				return nil, err
			}
			w.PermuteLabels(t.Labels)
			return t, nil
		}
		out = append(out, calibrated{f.name, read, thinShares, allScopes})
	}
	for i := range inventions {
		v := &inventions[i]
		read := func(_ context.Context, w *frame.World) (*dataset.Table, error) {
			t, err := v.generate(1)
			if err == nil {
				w.PermuteLabels(t.Labels)
			}
			return t, err
		}
		out = append(out, calibrated{"invented, " + v.name, read, nil, allScopes})
	}
	return out
}

// acsSchema and charactersSchema declare what the README of the data sets does.
func acsSchema() string {
	text := "name: acs\nunit: one person\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n" +
		"  - {name: AGEP, role: public, number: {lower: 0, upper: 95, default: 0}}\n" +
		"  - {name: SCHL, role: private, number: {lower: 0, upper: 25, default: 0}}\n"
	for _, c := range []struct {
		name   string
		role   string
		levels int
	}{
		{"MAR", "private", 5}, {"RELP", "private", 18}, {"DIS", "private", 2}, {"ESP", "private", 9}, {"CIT", "private", 5},
		{"MIG", "private", 3}, {"MIL", "private", 5}, {"ANC", "private", 4}, {"NATIVITY", "private", 2},
		{"DEAR", "private", 2}, {"DEYE", "private", 2}, {"DREM", "private", 2}, {"SEX", "public", 2}, {"RAC1P", "private", 9},
	} {
		text += fmt.Sprintf("  - {name: %s, role: %s, category: {levels: [0", c.name, c.role)
		for k := 1; k < c.levels; k++ {
			text += fmt.Sprintf(", %d", k)
		}
		text += "]}}\n"
	}
	return text + "  - {name: ESR, role: public, label: {levels: [0, 1], positive: 1, default: 0}}\n"
}

func charactersSchema() string {
	text := "name: characters\nunit: one stroke\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	for i, bounds := range [][2]float64{{0, 8}, {0, 50}, {0, 64}, {0, 50}, {-2, 64}, {0, 64}, {0, 80}} {
		text += fmt.Sprintf("  - {name: V%d, role: private, number: {lower: %g, upper: %g, default: %g}}\n", i+1, bounds[0],
			bounds[1], bounds[0])
	}
	return text + "  - {name: Class, role: public, label: {levels: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], default: 1}}\n"
}

// nameSeries names what is measured; share is 0 for a table as it is.
func nameSeries(table string, share float64, scope string) string {
	if share > 0 {
		table = fmt.Sprintf("%s at %g %%", table, 100*share)
	}
	return table + ", " + scope
}

// listSeries calls do for each series of the table.
func (c *calibrated) listSeries(do func(share float64, scope string)) {
	for _, share := range append([]float64{0}, c.skews...) {
		for _, scope := range c.scopes {
			do(share, scope)
		}
	}
}

// thinClass keeps so many of the rows with a class that they are the given share of all, in a
// random choice. It is nil if fewer would be left than say anything, or where the class is as
// rare already.
func thinClass(labels []uint8, rows []int, class uint8, share float64, stream frame.Repeat) []int {
	var of, others []int
	for _, i := range rows {
		if labels[i] == class {
			of = append(of, i)
		} else {
			others = append(others, i)
		}
	}
	keep := int(share * float64(len(others)) / (1 - share))
	if keep < fewestCalibrated || keep >= len(of) {
		return nil
	}
	of, _ = sample.HoldOut(of, 0, stream.Stream(fmt.Sprintf("thin to %g", share)))
	return append(others, of[:keep]...)
}

// newCalibration is frontier/calibration.
func newCalibration() *frame.Figure {
	var points []frame.Point
	var series []string
	for _, c := range calibratedTables() {
		c.listSeries(func(share float64, scope string) {
			name := nameSeries(c.name, share, scope)
			series = append(series, name)
			for _, eps := range append([]dp.Epsilon{0}, calibrationBudgets...) {
				points = append(points, frame.Point{Series: name, Epsilon: eps})
			}
		})
	}
	return &frame.Figure{
		Name: "frontier/calibration", Paper: "our claim, against the public part or the base rate",
		Title: "Log loss and calibration of the default learner against ε", Data: "all tables", Repeats: 25, Quick: 1,
		Claim: "At no ε is log loss above that of the public part, or where nothing is public of the classes' shares as " +
			"that ε releases them, and it does not rise with ε.",
		Protocol: "Each repeat takes at most 70,000 rows, trains on 70 % of them and tests on the rest. Tables as they " +
			"are, and with rows of the positive class, or the first, dropped until it is 5 % and 1 %; columns of the example " +
			"schemas, or everything private under replace-one, or everything private under add-remove with δ = 1e-6. At " +
			"ε = 0: the public columns alone, or the true shares of classes. Invented tables repeat columns, crowd them into " +
			"a part of their bounds, have rare labels, and 5 to 100 columns.",
		Points: points, Open: openCalibration,
		Draw:  func(s *frame.Summary) *plot.Lines { return drawCalibration(s, series) },
		Judge: func(s *frame.Summary) []frame.Check { return judgeCalibration(s, series) },
		Notes: func(s *frame.Summary) []string { return listCalibration(s, series) },
	}
}

// exceed is by how much log loss at eps is above that without private columns.
func exceed(s *frame.Summary, series string, eps dp.Epsilon) frame.Stat {
	if d := s.Change(series, eps, logLoss, baseLoss); d.N > 0 {
		return d
	}
	return s.Between(series, eps, series, 0, logLoss)
}

// judgeCalibration asks of each table and scope what is promised.
func judgeCalibration(s *frame.Summary, series []string) (out []frame.Check) {
	for _, name := range series {
		start := s.Mean(name, 0, logLoss)
		if start.N == 0 { // no such table: too few rows of the class
			continue
		}
		above, rising := "", ""
		for i, eps := range calibrationBudgets {
			if d := exceed(s, name, eps); d.Mean-d.StdErr > calibrationSlack {
				above += fmt.Sprintf("%+.4f ± %.4f at ε = %s; ", d.Mean, d.StdErr, eps)
			}
			if i == 0 {
				continue
			}
			if d := s.Between(name, eps, name, calibrationBudgets[i-1], logLoss); d.Mean-d.StdErr > calibrationSlack {
				rising += fmt.Sprintf("%+.4f ± %.4f at ε = %s; ", d.Mean, d.StdErr, eps)
			}
		}
		out = append(out,
			newPromise(name+": log loss above that without private columns", above),
			newPromise(name+": log loss rises with ε", rising))
	}
	return out
}

// calibrationSlack is how much of log loss is not looked at, nats: what a noisy base rate costs.
const calibrationSlack = 0.0005

func newPromise(what, broken string) frame.Check {
	paper := fmt.Sprintf("by at most a standard error and %g", calibrationSlack)
	c := frame.Check{What: what, Paper: paper, Ours: "nowhere", Holds: broken == ""}
	if !c.Holds {
		c.Ours = broken[:len(broken)-2]
	}
	return c
}

// listCalibration gives log loss, calibration error and AUC of each series.
func listCalibration(s *frame.Summary, series []string) (out []string) {
	for _, name := range series {
		if s.Mean(name, 0, logLoss).N == 0 {
			continue
		}
		for _, metric := range []string{logLoss, calibration, auc} {
			text := fmt.Sprintf("%s, %s: %.4f without private columns", name, metric, s.Mean(name, 0, metric).Mean)
			for _, eps := range calibrationBudgets {
				text += fmt.Sprintf("; %s at ε = %s", formatNumber(s.Mean(name, eps, metric)), eps)
			}
			out = append(out, text+".")
		}
	}
	return out
}

// drawCalibration shows how much of the log loss without private columns is left, in the mean over
// the tables of each scope, and the worst of them.
func drawCalibration(s *frame.Summary, series []string) *plot.Lines {
	l := &plot.Lines{
		Title: "Log loss against that without private columns", XLabel: "privacy loss ε of the fit",
		Subtitle: fmt.Sprintf("%d tables; mean of %d repeats", len(series)/len(allScopes), s.Repeats),
		YLabel:   "part of the log loss that is left", LogX: true,
	}
	for _, scope := range allScopes {
		mean, worst := plot.Series{Name: scope + ", mean"}, plot.Series{Name: scope + ", worst table"}
		for _, eps := range calibrationBudgets {
			sum, n, most := 0.0, 0.0, 0.0
			for _, name := range series {
				start := s.Mean(name, 0, logLoss)
				if start.N == 0 || !hasScope(name, scope) {
					continue
				}
				left := s.Mean(name, eps, logLoss).Mean / start.Mean
				sum, n, most = sum+left, n+1, math.Max(most, left)
			}
			if n == 0 {
				continue
			}
			mean.X, mean.Y = append(mean.X, eps.Float()), append(mean.Y, sum/n)
			worst.X, worst.Y = append(worst.X, eps.Float()), append(worst.Y, most)
		}
		if len(mean.X) > 0 {
			l.Series = append(l.Series, mean, worst)
		}
	}
	return l
}

func hasScope(series, scope string) bool {
	return len(series) > len(scope) && series[len(series)-len(scope):] == scope
}

func openCalibration(ctx context.Context, w *frame.World) (frame.Setup, error) {
	type source struct {
		table  func() (*dataset.Table, error)
		share  float64
		scope  string
		thins  uint8
		random string
	}
	sources := map[string]source{}
	for _, c := range calibratedTables() {
		table := sync.OnceValues(func() (*dataset.Table, error) { return c.read(ctx, w) })
		c.listSeries(func(share float64, scope string) {
			sources[nameSeries(c.name, share, scope)] = source{table, share, scope, 0, c.name}
		})
	}
	return func(_ context.Context, r frame.Repeat) (frame.Measure, error) {
		return func(ctx context.Context, p frame.Point) (frame.Measurement, error) {
			from := sources[p.Series]
			all, err := from.table()
			if err != nil {
				return frame.Measurement{}, err
			}
			if all.Schema.Classes() == 2 {
				from.thins = uint8(all.Schema.Label.Positive)
			}
			rows := allRows(all)
			if len(rows) > mostCalibrated {
				_, rows = sample.HoldOut(rows, float64(mostCalibrated)/float64(len(rows)), r.Stream(from.random+", choose"))
			}
			if from.share > 0 {
				if rows = thinClass(all.Labels, rows, from.thins, from.share, r); rows == nil {
					return frame.Measurement{}, nil
				}
			}
			train, test := sample.HoldOut(rows, 0.3, r.Stream(from.random+", hold out"))
			t := &calibrationTrial{repeat: r, train: all.Subset(train), test: all.Subset(test)}
			switch from.scope {
			case scopeWhole:
				t.train, t.test = closeColumns(t.train, dp.ReplaceOne), closeColumns(t.test, dp.ReplaceOne)
			case scopeDelta:
				t.train, t.test, t.delta = closeColumns(t.train, dp.AddRemove), closeColumns(t.test, dp.AddRemove), calibrationDelta
			}
			return t.measure(ctx, p)
		}, nil
	}, nil
}

// calibrationTrial is one split of one series.
type calibrationTrial struct {
	repeat      frame.Repeat
	train, test *dataset.Table
	delta       dp.Delta
}

func (t *calibrationTrial) measure(ctx context.Context, p frame.Point) (frame.Measurement, error) {
	scores, err := t.scorePoint(ctx, p)
	if err != nil {
		return frame.Measurement{}, err
	}
	r, err := t.evaluate(scores)
	if err != nil {
		return frame.Measurement{}, err
	}
	out := frame.Measurement{Bill: p.Epsilon, Values: []frame.Value{
		{Metric: logLoss, Value: r.LogLoss}, {Metric: calibration, Value: r.CalibrationError}}}
	if r.AUC != nil {
		out.Values = append(out.Values, frame.Value{Metric: auc, Value: *r.AUC})
	}
	if p.Epsilon > 0 && t.train.Schema.Label.Role == schema.Private {
		exit := mech.NewExit(t.repeat.Stream(fmt.Sprintf("%s, ε = %s, shares alone", p.Series, p.Epsilon)))
		if r, err = t.evaluate(t.scoreShares(p.Epsilon, exit)); err != nil {
			return frame.Measurement{}, err
		}
		out.Values = append(out.Values, frame.Value{Metric: baseLoss, Value: r.LogLoss})
	}
	return out, nil
}

// scorePoint trains and scores the rows that test; at ε = 0 without private columns.
func (t *calibrationTrial) scorePoint(ctx context.Context, p frame.Point) ([]float64, error) {
	s := t.train.Schema
	if p.Epsilon == 0 && (s.Label.Role == schema.Private || len(s.ByRole(schema.Public)) == 0) {
		return t.scoreShares(0, nil), nil
	}
	tab, err := memory.New(t.train)
	if err != nil {
		return nil, err
	}
	a := additive.Params{Epsilon: cmp.Or(p.Epsilon, dp.Nano), Delta: t.delta}
	pl, err := a.Plan(s, t.train.Rows)
	if err != nil {
		return nil, err
	}
	noise := t.repeat.Stream(fmt.Sprintf("%s, ε = %s", p.Series, p.Epsilon))
	m, err := guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(noise))
	if err != nil {
		return nil, err
	}
	if p.Epsilon == 0 {
		if err := t.keepPublic(m); err != nil {
			return nil, err
		}
	}
	bound, err := m.Bind(t.test.Schema)
	if err != nil {
		return nil, err
	}
	return bound.Scores(t.test.Cols, t.test.Rows)
}

// keepPublic leaves a model its exact part, which has public columns alone, and moves its intercept to where the rows
// that train are as often positive as it says.
func (t *calibrationTrial) keepPublic(m *model.Model) error {
	s, add := t.train.Schema, m.Classifier.(*model.Additive)
	private := func(name string) bool { return s.Columns[s.Find(name)].Role == schema.Private }
	add.Shapes = slices.DeleteFunc(add.Shapes, func(sh model.Shape) bool { return private(sh.Column) })
	add.Pairs = slices.DeleteFunc(add.Pairs, func(p model.PairShape) bool { return private(p.Columns[0]) || private(p.Columns[1]) })
	low, high := add.Intercept-5, add.Intercept+5
	for high-low > 1e-4 {
		add.Intercept = (low + high) / 2
		bound, err := m.Bind(s)
		if err != nil {
			return err
		}
		scores, err := bound.Scores(t.train.Cols, t.train.Rows)
		if err != nil {
			return err
		}
		surplus := 0.0
		for i, p := range scores {
			surplus += p
			if int(t.train.Labels[i]) == s.Label.Positive {
				surplus--
			}
		}
		if surplus < 0 {
			low = add.Intercept
		} else {
			high = add.Intercept
		}
	}
	return nil
}

func (t *calibrationTrial) evaluate(scores []float64) (*metrics.Report, error) {
	label := &t.test.Schema.Label
	classes := schema.Values(label.Levels)
	return metrics.Evaluate(t.test.Labels, scores, classes, label.Positive, 0.5)
}

// scoreShares gives every row the shares of the classes among the rows that train: the true ones,
// half a row added to each, or at an ε as noisy counts have them, of which a row moves one or two.
func (t *calibrationTrial) scoreShares(eps dp.Epsilon, exit *mech.Exit) []float64 {
	classes := t.train.Schema.Classes()
	counts, of := make([]float64, classes), map[uint32]float64{}
	for _, p := range t.train.Persons {
		of[p]++
	}
	for i, l := range t.train.Labels {
		if t.train.Persons == nil {
			counts[l]++
		} else { // rows of a person count for one
			counts[l] += 1 / of[t.train.Persons[i]]
		}
	}
	rows := floats.Sum(counts)
	shares := make([]float64, classes)
	for k, n := range counts {
		shares[k] = (n + 0.5) / (rows + 0.5*float64(classes))
	}
	if eps > 0 {
		shares = t.releaseShares(counts, eps, exit)
	}
	if classes == 2 {
		shares = shares[t.train.Schema.Label.Positive:][:1]
	}
	return slices.Repeat(shares, t.test.Rows)
}

// releaseShares estimates the shares of classes from noisy counts of them, and from the number of
// rows if that is public.
func (t *calibrationTrial) releaseShares(counts []float64, eps dp.Epsilon, exit *mech.Exit) []float64 {
	open := t.train.Schema.Relation == dp.ReplaceOne
	moves, others := 1.0, float64(len(counts)-1)
	if open {
		moves = 2
	}
	var values []mech.Ratio
	for _, n := range counts {
		values = append(values, mech.Ratio{Num: int64(math.Round(n)), Den: 1})
	}
	noisy := exit.Release("rows of a class", mech.Sized(mech.LaplaceFor(eps, moves, len(counts))), values...)
	rows, noise := floats.Sum(counts), math.Sqrt2*moves/eps.Float()
	deviation := func(float64) float64 { return noise }
	if !open {
		rows = 0
		for _, n := range noisy {
			rows += n
		}
		rows = math.Max(rows, 1)
		deviation = func(share float64) float64 { return noise * math.Sqrt((1-share)*(1-share)+others*share*share) }
	}
	return shrink.Shares(noisy, rows, false, deviation)
}
