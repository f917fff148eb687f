// SPDX-License-Identifier: Apache-2.0

package additive

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/learntest"
	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/explain"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// world is a population whose log-odds are a sum of one function per column:
// columns are independent given the label.
type world struct {
	s     *schema.Schema
	prior float64        // share of the positive label
	truth [][]float64    // log-odds by column and code
	given [2][][]float64 // probabilities by label, column and code
}

const (
	codes   = 8
	columns = 4
)

// newWorld draws a population: functions are walks over the codes, of numbers
// and of categories in turn.
func newWorld(seed uint64) *world {
	text := "name: w\nunit: one row\nrelation: replace-one\n" +
		"file: {delimiter: \",\", quote: '\"', header: true}\ncolumns:\n"
	for k := range columns {
		if k%2 == 0 {
			text += fmt.Sprintf("  - {name: c%d, role: private, number: {lower: 0, upper: %d, integer: true, "+
				"default: 0}}\n", k, codes-1)
		} else {
			text += fmt.Sprintf("  - {name: c%d, role: private, category: {levels: [a, b, c, d, e, f, g]}}\n", k)
		}
	}
	s, err := schema.Parse([]byte(text +
		"  - {name: y, role: private, label: {levels: [n, p], positive: p, default: n}}\n"))
	if err != nil {
		panic(err)
	}
	w := &world{s: s, prior: 0.3}
	src := replay.Seeded(seed, "world")
	for range columns {
		var g, p, q [codes]float64
		var sp, sq float64
		x := 0.0
		for b := range codes {
			x += gauss(src) * 0.4
			g[b] = x
			share := 0.5 + uniform(src)
			p[b], q[b] = share*math.Exp(g[b]/2), share*math.Exp(-g[b]/2)
			sp, sq = sp+p[b], sq+q[b]
		}
		truth := make([]float64, codes)
		for b := range codes {
			p[b], q[b] = p[b]/sp, q[b]/sq
			truth[b] = math.Log(p[b] / q[b])
		}
		w.truth = append(w.truth, truth)
		w.given[1], w.given[0] = append(w.given[1], p[:]), append(w.given[0], q[:])
	}
	return w
}

func uniform(src rng.Source) float64 { return float64(rng.Below(src, 1<<40)) / (1 << 40) }

func gauss(src rng.Source) float64 {
	return math.Sqrt(-2*math.Log(uniform(src)+1e-15)) * math.Cos(2*math.Pi*uniform(src))
}

// draw is a table of so many people.
func (w *world) draw(rows int, seed uint64) *dataset.Table {
	src := replay.Seeded(seed, "rows")
	t := &dataset.Table{Schema: w.s, Rows: rows, Labels: make([]uint8, rows),
		Cols: make([]column.Column, len(w.s.Columns))}
	at := make([][]uint32, columns)
	for i := range rows {
		if uniform(src) < w.prior {
			t.Labels[i] = 1
		}
		for k := range columns {
			u, b := uniform(src), 0
			for ; b < codes-1 && u > w.given[t.Labels[i]][k][b]; b++ {
				u -= w.given[t.Labels[i]][k][b]
			}
			at[k] = append(at[k], uint32(b))
		}
	}
	for k := range columns {
		t.Cols[k] = column.Column{Codes: column.Narrow(at[k], codes)}
		if k%2 == 0 {
			for b := range codes {
				t.Cols[k].Values = append(t.Cols[k].Values, float64(b))
			}
		}
	}
	return t
}

// covered is rules whose intervals are looked at.
type covered struct {
	name     string
	rows     int
	epsilon  dp.Epsilon
	delta    dp.Delta
	relation dp.Relation
	open     bool // every column is public, the label alone is private
}

func (c *covered) plan(t *testing.T, s *schema.Schema) *Plan {
	t.Helper()
	s.Relation = c.relation
	for j := range s.Columns {
		if c.open && s.Columns[j].Role == schema.Private {
			s.Columns[j].Role = schema.Public
		}
	}
	pl, err := Params{Epsilon: c.epsilon, Delta: c.delta, Rows: c.rows}.Plan(s, 0)
	if err != nil {
		t.Fatal(err)
	}
	if pl.rules.gaussian != (c.delta > 0) {
		t.Fatalf("the noise is Gaussian: %v", pl.rules.gaussian)
	}
	return pl
}

// The deviations that a model states hold what they promise: in each set of
// rules, 95 % intervals of the log-odds, added up over columns as predict
// --interval does, hold the true ones of new rows about that often, over 40
// populations, tables and noises. Seeds are fixed, so it never fails by chance.
func TestDeviationsCoverTheTruth(t *testing.T) {
	size.OnlyLong(t, "280 fits")
	for _, c := range []covered{
		{"one pick", 2_000, dp.Nano / 8, 0, dp.ReplaceOne, false},
		{"two picks", 4_000, dp.Nano / 5, 0, dp.ReplaceOne, false},
		{"in turn, kept in part", 4_000, dp.Nano, 0, dp.ReplaceOne, false},
		{"add-remove, kept in part", 4_000, dp.Nano, 0, dp.AddRemove, false},
		{"two passes", 20_000, 2 * dp.Nano, 0, dp.ReplaceOne, false},
		{"gaussian, in turn", 4_000, dp.Nano / 2, 1e-5 * dp.Femto, dp.ReplaceOne, false},
		{"gaussian, kept in part", 20_000, dp.Nano / 2, 1e-5 * dp.Femto, dp.ReplaceOne, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, halves, all := 0.0, 0.0, 0.0
			for fit := range uint64(40) {
				w := newWorld(fit)
				pl := c.plan(t, w.s)
				m := learntest.Fit(t, pl, w.draw(c.rows, fit), &mechtest.Recorder{}, fit)
				unseen := w.draw(200, fit+1000)
				for i := range unseen.Rows {
					off, variance := w.offset(m, unseen, i)
					all++
					if math.Abs(off) < 1.96*math.Sqrt(variance) {
						in++
					}
					if math.Abs(off) < 0.98*math.Sqrt(variance) {
						halves++
					}
				}
			}
			t.Logf("%.3f; %.3f at half the deviation", in/all, halves/all)
			if !(in/all > 0.87 && in/all < 0.99) {
				t.Errorf("95 %% intervals hold %.3f of the rows", in/all)
			}
			if halves/all > 0.88 {
				t.Errorf("at half the deviation they still hold %.3f: the test tells nothing", halves/all)
			}
		})
	}
}

// What noise alone does is stated so that 95 % intervals made of it, as predict --interval makes
// them, hold what fits to the same rows come to on the mean: 8 fits of each of 15 tables, each
// held against the mean of the other 7, whose own noise widens the interval. Over 60 tables they
// hold .91 to .93 here, if no column takes back the noise of another, with a deviation of at
// most .038 between tables, and .95 and .97 with one of .018 if the label alone is private. So
// the mean of 15 leaves the band below in one of 10,000 runs with other seeds; these are fixed, so
// it never fails by chance.
func TestIntervalsHoldWhatNoiseDoes(t *testing.T) {
	size.OnlyLong(t, "720 fits")
	const tables, fits, rows = 15, 8, 200
	for _, c := range []covered{
		{"picks", 4_000, dp.Nano / 5, 0, dp.ReplaceOne, false},
		{"in turn", 4_000, dp.Nano, 0, dp.ReplaceOne, false},
		{"two passes", 20_000, 2 * dp.Nano, 0, dp.ReplaceOne, false},
		{"gaussian", 20_000, dp.Nano / 2, 1e-5 * dp.Femto, dp.ReplaceOne, false},
		{"label alone", 4_000, dp.Nano, 0, dp.ReplaceOne, true},
		{"label alone, gaussian", 2_000, dp.Nano, 4e-4 * dp.Femto, dp.ReplaceOne, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			in, halves := 0.0, 0.0
			for table := range uint64(tables) {
				w := newWorld(table)
				pl := c.plan(t, w.s)
				train, unseen := w.draw(c.rows, table), w.draw(rows, table+1000)
				var z, half [fits][rows]float64
				var sum [rows]float64
				for fit := range fits {
					m := learntest.Fit(t, pl, train, &mechtest.Recorder{}, table*fits+uint64(fit))
					var cols []column.Column
					for _, c := range m.Schema.Columns {
						k := slices.IndexFunc(w.s.Columns, func(d schema.Column) bool { return c.Name == d.Name })
						cols = append(cols, unseen.Cols[k])
					}
					iv, err := explain.NewIntervals(m, cols)
					if err != nil {
						t.Fatal(err)
					}
					for i := range rows {
						low, high := iv.At(i)
						a, b := math.Log(low/(1-low)), math.Log(high/(1-high))
						z[fit][i], half[fit][i] = (a+b)/2, (b-a)/2
						sum[i] += z[fit][i]
					}
				}
				for fit := range fits {
					for i := range rows {
						off := math.Abs(z[fit][i] - (sum[i]-z[fit][i])/(fits-1))
						wide := half[fit][i] * math.Sqrt(1+1.0/(fits-1))
						if off <= wide {
							in += 1.0 / (tables * fits * rows)
						}
						if off <= wide/2 {
							halves += 1.0 / (tables * fits * rows)
						}
					}
				}
			}
			t.Logf("%.3f; %.3f at half the width", in, halves)
			if !(in > 0.87 && in < 0.99) {
				t.Errorf("95 %% intervals hold %.3f", in)
			}
			if halves > 0.86 {
				t.Errorf("at half the width they still hold %.3f: the test tells nothing", halves)
			}
		})
	}
}

// offset is by how much the model misses the log-odds of a row given the columns
// that it has, and the variance it states for that.
func (w *world) offset(m *model.Model, t *dataset.Table, row int) (off, variance float64) {
	off = m.Classifier.(*model.Additive).Intercept - math.Log(w.prior/(1-w.prior))
	for _, sh := range m.Classifier.(*model.Additive).Shapes {
		k := slices.IndexFunc(w.s.Columns, func(c schema.Column) bool { return c.Name == sh.Column })
		b := t.Cols[k].Codes.At(row)
		off += sh.LogOdds[b] - w.truth[k][b]
		variance += sh.Noise[b] * sh.Noise[b]
	}
	return off, variance
}
