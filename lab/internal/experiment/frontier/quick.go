// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/learn/additive"
	"github.com/discreet-dp/discreet/internal/learn/auto"
	"github.com/discreet-dp/discreet/internal/learn/grids"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// A quick panel of tables, by which changes of the default learner are judged. Equal cells
// and repeats have equal rows and equal noise, so two files differ by what changed.

// Fit is one line of a panel's file.
type Fit struct {
	Table string `json:"table"`
	// Scope is partly (private columns), everything, label (alone), or mixed (the label and private
	// columns).
	Scope    string  `json:"scope"`
	Relation string  `json:"relation,omitempty"` // replace-one if empty, but for everything with a δ
	Delta    bool    `json:"delta"`              // 1e-6 is given; rows are then added or removed if everything is private
	Epsilon  float64 `json:"epsilon"`
	Repeat   int     `json:"repeat"`
	AUC      float64 `json:"auc"`
	LogLoss  float64 `json:"log_loss"`
	// Calibration is the calibration error, with every row of equal weight.
	Calibration float64 `json:"calibration"`
	// PersonLoss and PersonCalibration are the same numbers with every person of equal weight; they are
	// those of rows if a row is a unit of its own.
	PersonLoss        float64 `json:"person_loss"`
	PersonCalibration float64 `json:"person_calibration"`
	// Slope is that of a logistic line through the whole score, fitted on the rows held out, and Shift what
	// it adds at the mean score; both are 0 with several classes, or if all scores are equal.
	Slope      float64 `json:"slope,omitempty"`
	SlopeError float64 `json:"slope_error,omitempty"` // standard error
	Shift      float64 `json:"shift,omitempty"`
	ShiftError float64 `json:"shift_error,omitempty"`
	// Constant is the log loss of the known shares of the classes or, where the label is private, of the
	// shares that the whole ε releases. Public is that of public columns and labels alone; 0 if there are none.
	Constant float64 `json:"constant"`
	Public   float64 `json:"public,omitempty"`
	Seconds  float64 `json:"seconds"`
}

// Quick says what of the panel to measure.
type Quick struct {
	Out, Datasets string
	Learner       string // auto, additive, grids or average, of the latter two
	Repeats       int
	Tables        []string // substrings of names; none for all
	Scopes        []string // none for all
	Deltas        []bool   // whether 1e-6 is given
	Epsilons      []float64
	Say           func(Fit)
}

// job is the cells to measure on one table.
type job struct {
	table string
	open  func(ctx context.Context, w *frame.World) (split, error)
	cells []Fit // in the order of repeats
}

// split returns the rows that train in a repeat, and those held out.
type split func(repeat int) (train, held *dataset.Table, err error)

const quickRows = 20_000

// quickTable is one table of the panel: drawn, or read and thinned to a share of positive rows.
type quickTable struct {
	name   string
	share  float64 // 0 for the table's own
	trains int     // rows, or persons; 0 for 70 % of at most quickRows rows
	read   func(ctx context.Context, w *frame.World) (*dataset.Table, error)
}

func quickTables() (out []quickTable) {
	for _, of := range []struct {
		name  string
		share float64
	}{{"Adult", 0}, {"Adult", 0.05}, {"Bank", 0}, {"Bank, 20 columns", 0}, {"Bank, 20 columns", 0.05}, {"Credit", 0},
		{"Credit", 0.05}, {"Sepsis", 0}, {"Phishing", 0}, {"ACSEmployment", 0},
		{"WISDM", 0}, {"KDD Cup 99, kinds", 0}, {"Characters", 0}} {
		for _, c := range calibratedTables() {
			if c.name == of.name {
				out = append(out, quickTable{cmp.Or(map[bool]string{true: of.name + " at 5 %"}[of.share > 0], of.name),
					of.share, 0, c.read})
			}
		}
	}
	for i := range sketches {
		sk := &sketches[i]
		out = append(out, quickTable{sk.name, 0, sk.trains,
			func(context.Context, *frame.World) (*dataset.Table, error) { return sk.draw(1) }})
	}
	return out
}

// open reads the table and splits it by repeats.
func (of *quickTable) open(ctx context.Context, w *frame.World) (split, error) {
	all, err := of.read(ctx, w)
	if err != nil {
		return nil, err
	}
	return func(repeat int) (train, held *dataset.Table, err error) {
		stream := func(use string) rng.Source { return replay.Seeded(uint64(repeat+1), "quick, "+of.name+", "+use) }
		rows, share := allRows(all), 0.3
		if of.trains > 0 {
			units := all.Rows
			if all.Persons != nil {
				units = int(slices.Max(all.Persons))
			}
			share = 1 - float64(of.trains)/float64(units)
		}
		if all.Persons != nil {
			train, test := sample.HoldOutUnits(all, share, stream("hold out"))
			return all.Subset(train), all.Subset(test), nil
		}
		if of.share > 0 {
			rows = thinClass(all.Labels, rows, uint8(all.Schema.Label.Positive), of.share, frame.Repeat{Number: repeat, Seed: 1})
		}
		if len(rows) > quickRows {
			_, rows = sample.HoldOut(rows, float64(quickRows)/float64(len(rows)), stream("choose"))
		}
		trained, test := sample.HoldOut(rows, share, stream("hold out"))
		return all.Subset(trained), all.Subset(test), nil
	}, nil
}

// Run measures the panel.
func (q *Quick) Run(ctx context.Context) ([]Fit, error) {
	var jobs []job
	for _, t := range quickTables() {
		jobs = append(jobs, job{t.name, t.open, q.cells(t.name)})
	}
	return q.run(ctx, jobs)
}

// run measures what the file does not hold yet, a line a fit, and returns all lines.
func (q *Quick) run(ctx context.Context, jobs []job) ([]Fit, error) {
	fits, err := ReadFits(q.Out)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	done := map[Fit]bool{}
	for _, f := range fits {
		done[f.cell()] = true
	}
	file, err := os.OpenFile(q.Out, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	w := frame.NewWorld(q.Datasets)
	for _, j := range jobs {
		if len(q.Tables) > 0 && !slices.ContainsFunc(q.Tables, func(s string) bool { return strings.Contains(j.table, s) }) {
			continue
		}
		cells := slices.DeleteFunc(slices.Clone(j.cells), func(f Fit) bool { return done[f] })
		err := measureCells(ctx, j.open, w, q.Learner, cells, func(f Fit) error {
			line, err := json.Marshal(f)
			if err != nil {
				return err
			}
			q.Say(f)
			fits = append(fits, f)
			_, err = file.Write(append(line, '\n'))
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return fits, nil
}

// measureCells opens a table if there are cells to measure, and hands over one fit after another.
func measureCells(ctx context.Context, open func(context.Context, *frame.World) (split, error), w *frame.World, learner string,
	cells []Fit, each func(Fit) error) error {
	if len(cells) == 0 {
		return nil
	}
	rows, err := open(ctx, w)
	if err != nil {
		return err
	}
	var of rowsOfRepeat
	for i, cell := range cells {
		if i == 0 || cell.Repeat != cells[i-1].Repeat {
			of = rowsOfRepeat{learner: learner}
			if of.train, of.held, err = rows(cell.Repeat); err != nil {
				return err
			}
		}
		f, err := of.measure(ctx, cell)
		if err == nil {
			err = each(f)
		}
		if err != nil {
			return fmt.Errorf("%s, %s: %w", cell.Table, cell.name(), err)
		}
	}
	return nil
}

// undeclared is the relation add-remove if nobody declares the number of rows.
const undeclared = "add-remove undeclared"

// ReadFits reads a panel's file.
func ReadFits(name string) (fits []Fit, err error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var f Fit
		if err := json.Unmarshal(lines.Bytes(), &f); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fits = append(fits, f)
	}
	return fits, nil
}

// cell is what is measured, without the figures.
func (f *Fit) cell() Fit {
	return Fit{Table: f.Table, Scope: f.Scope, Relation: f.Relation, Delta: f.Delta, Epsilon: f.Epsilon, Repeat: f.Repeat}
}

// name is that of a cell of every table.
func (f *Fit) name() string {
	return strings.TrimSpace(fmt.Sprintf("%-10s %-5s %4g %s", f.Scope, map[bool]string{true: "delta", false: "pure"}[f.Delta],
		f.Epsilon, strings.TrimPrefix(f.Relation, string(dp.ReplaceOne))))
}

func (q *Quick) cells(table string) (out []Fit) {
	for repeat := range q.Repeats {
		for _, scope := range []string{"partly", "everything", "label", "mixed"} {
			if len(q.Scopes) > 0 && !slices.Contains(q.Scopes, scope) {
				continue
			}
			for _, delta := range q.Deltas {
				for _, eps := range q.Epsilons {
					out = append(out, Fit{Table: table, Scope: scope, Delta: delta, Epsilon: eps, Repeat: repeat})
				}
			}
		}
	}
	return out
}

// rowsOfRepeat are the rows of one repeat.
type rowsOfRepeat struct {
	learner     string
	train, held *dataset.Table
	public      float64 // log loss of public columns alone, once it is measured
}

func (r *rowsOfRepeat) measure(ctx context.Context, f Fit) (Fit, error) {
	stream := func(use string) rng.Source { return replay.Seeded(uint64(f.Repeat+1), "quick, "+f.Table+", "+use) }
	t := calibrationTrial{train: under(r.train, &f), test: under(r.held, &f)}
	began := time.Now()
	noise := stream(fmt.Sprintf("%s, %t, %g", f.Scope, f.Delta, f.Epsilon))
	rows := countUnits(r.train)
	if f.Relation == undeclared {
		rows = 0
	}
	trainOne := func(learner string, eps float64) ([]float64, error) {
		return trainAndScore(ctx, learner, eps, f.Delta, rows, t.train, t.test, mech.NewExit(noise))
	}
	var scores []float64
	var err error
	if r.learner == "average" {
		scores, err = averageOf(trainOne, f.Epsilon, f.Delta)
	} else {
		scores, err = trainOne(r.learner, f.Epsilon)
	}
	if err != nil {
		return f, err
	}
	f.Seconds = math.Round(1000*time.Since(began).Seconds()) / 1000
	report, err := t.evaluate(scores)
	if err != nil {
		return f, err
	}
	f.AUC, f.LogLoss, f.Calibration = 0.5, report.LogLoss, report.CalibrationError
	if report.AUC != nil { // unknown if none of the rows held out has some class
		f.AUC = *report.AUC
	}
	f.PersonLoss, f.PersonCalibration = report.LogLoss, report.CalibrationError
	if t.test.Persons != nil {
		f.PersonLoss, f.PersonCalibration = byPerson(t.test, scores)
	}
	fitLine(&f, t.test, scores)
	eps, exit := dp.Epsilon(0), (*mech.Exit)(nil) // of a public label
	if t.train.Schema.Label.Role == schema.Private {
		eps, exit = dp.Epsilon(math.Round(f.Epsilon*dp.Nano)), mech.NewExit(stream("constant"))
	}
	if report, err = t.evaluate(t.scoreShares(eps, exit)); err != nil {
		return f, err
	}
	f.Constant = report.LogLoss
	if f.Scope == "partly" {
		if r.public == 0 {
			if err = r.measurePublic(ctx, &t); err != nil {
				return f, err
			}
		}
		f.Public = r.public
	}
	return f, nil
}

// measurePublic fits the public columns beside a private one that has one value in all rows.
func (r *rowsOfRepeat) measurePublic(ctx context.Context, t *calibrationTrial) error {
	train, s := *t.train, *t.train.Schema
	s.Columns, s.Pairs = slices.Clone(s.Columns), nil
	train.Schema, train.Cols = &s, slices.Clone(train.Cols)
	hidden := s.ByRole(schema.Private)
	if len(s.ByRole(schema.Public)) == 0 {
		return nil
	}
	for i, j := range hidden {
		if i > 0 {
			s.Columns[j].Role = schema.Ignored
			continue
		}
		train.Cols[j].Codes = column.Narrow(make([]uint32, train.Rows), max(1, len(s.Columns[j].Levels), len(train.Cols[j].Values)))
	}
	test := *t.test
	test.Schema = &s
	scores, err := trainAndScore(ctx, "additive", dp.MaxEpsilon.Float(), false, countUnits(&train), &train, &test, mech.NewExit(replay.Seeded(1, "public")))
	if err != nil {
		return err
	}
	report, err := t.evaluate(scores)
	if err == nil {
		r.public = report.LogLoss
	}
	return err
}

// countUnits counts the persons of a table, or its rows if it has none.
func countUnits(t *dataset.Table) int {
	_, persons := t.CountPersons()
	return cmp.Or(persons, t.Rows)
}

// trainAndScore trains on so many rows, or persons, that are public or declared; 0 if they are neither.
func trainAndScore(ctx context.Context, learner string, eps float64, delta bool, rows int, train, test *dataset.Table, exit *mech.Exit) ([]float64, error) {
	tab, err := memory.New(train)
	if err != nil {
		return nil, err
	}
	pl, err := planOf(learner, eps, delta, train.Schema, rows)
	if err != nil {
		return nil, err
	}
	m, err := guard.Train(ctx, pl, tab, guard.Uncounted{}, exit)
	if err != nil {
		return nil, err
	}
	bound, err := m.Bind(test.Schema)
	if err != nil {
		return nil, err
	}
	return bound.Scores(test.Cols, test.Rows)
}

// fitLine fits a logistic line through the log-odds of scores.
func fitLine(f *Fit, t *dataset.Table, scores []float64) {
	if t.Schema.Classes() > 2 {
		return
	}
	x, mean := make([]float64, len(scores)), 0.0
	for i, p := range scores {
		x[i] = math.Log(math.Max(p, 1e-9) / math.Max(1-p, 1e-9))
		mean += x[i] / float64(len(x))
	}
	shift, slope := 0.0, 1.0
	for range 30 {
		var g, h [3]float64 // gradient, and curvature by shift, both, slope
		for i, x := range x {
			z := x - mean
			p := 1 / (1 + math.Exp(-mean-shift-slope*z))
			if int(t.Labels[i]) == t.Schema.Label.Positive {
				g[0], g[1] = g[0]+1, g[1]+z
			}
			g[0], g[1] = g[0]-p, g[1]-p*z
			w := p * (1 - p)
			h[0], h[1], h[2] = h[0]+w, h[1]+w*z, h[2]+w*z*z
		}
		d := h[0]*h[2] - h[1]*h[1]
		if !(d > 1e-9*h[0]*h[0]) { // all scores are equal, or the classes apart
			return
		}
		step := [2]float64{(h[2]*g[0] - h[1]*g[1]) / d, (h[0]*g[1] - h[1]*g[0]) / d}
		shift, slope = shift+step[0], slope+step[1]
		if math.Abs(step[0])+math.Abs(step[1]) < 1e-6 {
			f.Shift, f.Slope, f.ShiftError, f.SlopeError = shift, slope, math.Sqrt(h[2]/d), math.Sqrt(h[0]/d)
			return
		}
	}
}

// averageOf is the mean log-odds of additive and of grids, each for half of the price: with a δ half of
// ρ, about ε/√2.
func averageOf(train func(string, float64) ([]float64, error), eps float64, delta bool) ([]float64, error) {
	each := eps / 2
	if delta {
		each = eps / math.Sqrt2
	}
	a, err := train("additive", each)
	if err != nil {
		return nil, err
	}
	b, err := train("grids", each)
	if err != nil {
		return nil, err
	}
	logit := func(p float64) float64 { return math.Log(math.Max(p, 1e-9) / math.Max(1-p, 1e-9)) }
	for i := range a {
		a[i] = 1 / (1 + math.Exp(-(logit(a[i])+logit(b[i]))/2))
	}
	return a, nil
}

func planOf(learner string, epsilon float64, withDelta bool, s *schema.Schema, rows int) (learn.Plan, error) {
	eps, delta := dp.Epsilon(math.Round(epsilon*dp.Nano)), dp.Delta(0)
	if withDelta {
		delta = calibrationDelta
	}
	switch learner {
	case "grids":
		return grids.Params{Epsilon: eps, Delta: delta, Rows: rows}.Plan(s, rows)
	case "additive":
		return additive.Params{Epsilon: eps, Delta: delta, Rows: rows}.Plan(s, rows)
	}
	return auto.Params{Epsilon: eps, Delta: delta, Rows: rows}.Plan(s, rows)
}

// under is the table with the roles of a scope.
func under(t *dataset.Table, f *Fit) *dataset.Table {
	switch {
	case f.Scope == "everything" && (f.Relation == "" && f.Delta || f.Relation != "" && f.Relation != string(dp.ReplaceOne)):
		return closeColumns(t, dp.AddRemove)
	case f.Scope == "everything":
		return closeColumns(t, dp.ReplaceOne)
	}
	s, out := *t.Schema, *t
	s.Columns, out.Schema = slices.Clone(s.Columns), &s
	s.Relation, s.Label.Role = dp.ReplaceOne, schema.Public
	if f.Scope != "partly" {
		s.Label.Role, s.Label.Default = schema.Private, 0
	}
	if f.Scope == "label" {
		for j := range s.Columns {
			if s.Columns[j].Role == schema.Private {
				s.Columns[j].Role = schema.Public
			}
		}
	}
	return &out
}

// byPerson is the log loss and the calibration error, in ten equal steps of the score, with every
// person of equal weight.
func byPerson(t *dataset.Table, scores []float64) (loss, calibration float64) {
	rows := map[uint32]float64{}
	for _, p := range t.Persons {
		rows[p]++
	}
	var all, off [10]float64
	for i, p := range scores {
		w, y := 1/rows[t.Persons[i]], 0.0
		if int(t.Labels[i]) == t.Schema.Label.Positive {
			y = 1
		}
		loss -= w * (y*math.Log(math.Max(p, 1e-12)) + (1-y)*math.Log(math.Max(1-p, 1e-12)))
		k := min(9, int(10*p))
		all[k], off[k] = all[k]+w, off[k]+w*(p-y)
	}
	for k := range all {
		calibration += math.Abs(off[k])
	}
	return loss / float64(len(rows)), calibration / float64(len(rows))
}
