// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/sample"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// A quick panel of nineteen tables, by which changes of the default learner are judged. Equal cells
// and repeats have equal rows and equal noise, so two files differ by what changed.

// Fit is one line of a panel's file.
type Fit struct {
	Table string `json:"table"`
	// Scope is partly (private columns), everything, label (alone), or mixed (the label and private
	// columns).
	Scope   string  `json:"scope"`
	Delta   bool    `json:"delta"` // 1e-6 is given; rows are then added or removed if everything is private
	Epsilon float64 `json:"epsilon"`
	Repeat  int     `json:"repeat"`
	AUC     float64 `json:"auc"`
	LogLoss float64 `json:"log_loss"`
	// Calibration is the calibration error, with every row of equal weight.
	Calibration float64 `json:"calibration"`
	// PersonLoss and PersonCalibration are the same numbers with every person of equal weight; they are
	// those of rows if a row is a unit of its own.
	PersonLoss        float64 `json:"person_loss"`
	PersonCalibration float64 `json:"person_calibration"`
	Seconds           float64 `json:"seconds"`
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

const quickRows = 20_000

// quickTable is one table of the panel: drawn, or read and thinned to a share of positive rows.
type quickTable struct {
	name  string
	share float64 // 0 for the table's own
	read  func(ctx context.Context, w *frame.World) (*dataset.Table, error)
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
					of.share, c.read})
			}
		}
	}
	for i := range sketches {
		sk := &sketches[i]
		out = append(out, quickTable{sk.name, 0, func(context.Context, *frame.World) (*dataset.Table, error) { return sk.draw() }})
	}
	return out
}

// Run measures what the file does not hold yet, a line a fit, and returns all lines.
func (q *Quick) Run(ctx context.Context) ([]Fit, error) {
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
	for _, from := range quickTables() {
		if len(q.Tables) > 0 && !slices.ContainsFunc(q.Tables, func(s string) bool { return strings.Contains(from.name, s) }) {
			continue
		}
		t, err := from.read(ctx, w)
		if err != nil {
			return nil, err
		}
		for _, cell := range q.cells(from.name) {
			if done[cell] {
				continue
			}
			f, err := q.measure(ctx, &from, t, cell)
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", cell.Table, cell.name(), err)
			}
			line, err := json.Marshal(f)
			if err != nil {
				return nil, err
			}
			if _, err := file.Write(append(line, '\n')); err != nil {
				return nil, err
			}
			q.Say(f)
			fits = append(fits, f)
		}
	}
	return fits, nil
}

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
	return Fit{Table: f.Table, Scope: f.Scope, Delta: f.Delta, Epsilon: f.Epsilon, Repeat: f.Repeat}
}

// name is that of a cell of every table.
func (f *Fit) name() string {
	return fmt.Sprintf("%-10s %-5s %4g", f.Scope, map[bool]string{true: "delta", false: "pure"}[f.Delta], f.Epsilon)
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

// measure trains on 70 % of at most quickRows rows and evaluates the others.
func (q *Quick) measure(ctx context.Context, from *quickTable, all *dataset.Table, f Fit) (Fit, error) {
	stream := func(use string) rng.Source { return replay.Seeded(uint64(f.Repeat+1), "quick, "+f.Table+", "+use) }
	var train, test []int
	if all.Persons != nil {
		train, test = sample.HoldOutUnits(all, 0.3, stream("hold out"))
	} else {
		rows := allRows(all)
		if from.share > 0 {
			rows = thinClass(all.Labels, rows, uint8(all.Schema.Label.Positive), from.share, frame.Repeat{Number: f.Repeat, Seed: 1})
		}
		if len(rows) > quickRows {
			_, rows = sample.HoldOut(rows, float64(quickRows)/float64(len(rows)), stream("choose"))
		}
		train, test = sample.HoldOut(rows, 0.3, stream("hold out"))
	}
	t := under(all, f.Scope, f.Delta)
	held := t.Subset(test)
	tab, err := memory.New(t.Subset(train))
	if err != nil {
		return f, err
	}
	began := time.Now()
	noise := stream(fmt.Sprintf("%s, %t, %g", f.Scope, f.Delta, f.Epsilon))
	rows := cmp.Or(guard.PublicUnits(tab), len(train)) // declared if it is private
	trainOne := func(learner string, eps float64) ([]float64, error) {
		pl, err := planOf(learner, eps, f.Delta, t.Schema, rows)
		if err != nil {
			return nil, err
		}
		m, err := guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(noise))
		if err != nil {
			return nil, err
		}
		bound, err := m.Bind(t.Schema)
		if err != nil {
			return nil, err
		}
		return bound.Scores(held.Cols, held.Rows)
	}
	var scores []float64
	if q.Learner == "average" {
		scores, err = averageOf(trainOne, f.Epsilon, f.Delta)
	} else {
		scores, err = trainOne(q.Learner, f.Epsilon)
	}
	if err != nil {
		return f, err
	}
	f.Seconds = math.Round(1000*time.Since(began).Seconds()) / 1000
	r, err := (&calibrationTrial{test: held}).evaluate(scores)
	if err != nil {
		return f, err
	}
	f.AUC, f.LogLoss, f.Calibration = 0.5, r.LogLoss, r.CalibrationError
	if r.AUC != nil { // unknown if none of the rows held out has some class
		f.AUC = *r.AUC
	}
	f.PersonLoss, f.PersonCalibration = r.LogLoss, r.CalibrationError
	if held.Persons != nil {
		f.PersonLoss, f.PersonCalibration = byPerson(held, scores)
	}
	return f, nil
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
func under(t *dataset.Table, scope string, delta bool) *dataset.Table {
	if scope == "everything" {
		return closeColumns(t, map[bool]dp.Relation{true: dp.AddRemove, false: dp.ReplaceOne}[delta])
	}
	s, out := *t.Schema, *t
	s.Columns, out.Schema = slices.Clone(s.Columns), &s
	s.Relation, s.Label.Role = dp.ReplaceOne, schema.Public
	if scope != "partly" {
		s.Label.Role, s.Label.Default = schema.Private, 0
	}
	if scope == "label" {
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

// figures are those that a panel compares; more is better of the first alone.
var figures = []struct {
	name string
	of   func(*Fit) float64
}{
	{"AUC", func(f *Fit) float64 { return f.AUC }},
	{"log loss", func(f *Fit) float64 { return f.LogLoss }},
	{"calibration", func(f *Fit) float64 { return f.Calibration }},
	{"loss by person", func(f *Fit) float64 { return f.PersonLoss }},
	{"calibration by person", func(f *Fit) float64 { return f.PersonCalibration }},
}

// Compare prints means over tables by cell, and, if there is a baseline, the paired difference to it
// with the standard error of repeats within tables, the least and the most of that mean with one
// table left out, and the tables furthest below and above.
func Compare(out io.Writer, fits, baseline []Fit) {
	before := map[Fit]*Fit{}
	for i := range baseline {
		before[baseline[i].cell()] = &baseline[i]
	}
	names, seen := []string{"all"}, map[string]bool{}
	for i := range fits {
		if n := fits[i].name(); !seen[n] {
			seen[n], names = true, append(names, n)
		}
	}
	for _, figure := range figures {
		fmt.Fprintf(out, "%s\n", figure.name)
		for _, name := range names {
			values, changes := map[string][]float64{}, map[string][]float64{}
			for i := range fits {
				f := &fits[i]
				if name != "all" && f.name() != name {
					continue
				}
				values[f.Table] = append(values[f.Table], figure.of(f))
				if b := before[f.cell()]; b != nil {
					changes[f.Table] = append(changes[f.Table], figure.of(f)-figure.of(b))
				}
			}
			mean, _ := meanOfTables(values, "")
			fmt.Fprintf(out, "  %-22s %.4f", name, mean)
			if len(changes) > 0 {
				fmt.Fprintf(out, "  %s", describeChange(changes))
			}
			fmt.Fprintln(out)
		}
	}
}

// meanOfTables is the mean over tables but one of their means, and its standard error.
func meanOfTables(of map[string][]float64, without string) (mean, stdErr float64) {
	tables := 0.0
	for t, xs := range of {
		if t == without {
			continue
		}
		m, v, n := 0.0, 0.0, float64(len(xs))
		for _, x := range xs {
			m += x / n
		}
		for _, x := range xs {
			v += (x - m) * (x - m)
		}
		mean, stdErr, tables = mean+m, stdErr+v/(n*math.Max(1, n-1)), tables+1
	}
	return mean / tables, math.Sqrt(stdErr) / tables
}

func describeChange(changes map[string][]float64) string {
	mean, stdErr := meanOfTables(changes, "")
	low, high, worst, best := math.Inf(1), math.Inf(-1), "", ""
	by := func(t string) float64 { m, _ := meanOfTables(map[string][]float64{t: changes[t]}, ""); return m }
	for t := range changes {
		m, _ := meanOfTables(changes, t)
		low, high = math.Min(low, m), math.Max(high, m)
		if worst == "" || by(t) < by(worst) {
			worst = t
		}
		if best == "" || by(t) > by(best) {
			best = t
		}
	}
	return fmt.Sprintf("%+.4f ± %.4f  but one %+.4f to %+.4f  %s %+.4f  %s %+.4f", mean, stdErr, low, high,
		worst, by(worst), best, by(best))
}
