// SPDX-License-Identifier: Apache-2.0

// Package coverage measures how often the intervals of private evaluations hold the true numbers.
//
// Of each table there is a pool of rows whose scores are computed once, by one model. A draw takes
// held-out rows from the pool with replacement, so that the pool is the population and its exact
// numbers are the true ones; it measures them with fresh noise and asks whether each interval holds
// its number. Beside each stands the half-width of an interval without noise, from exact counts.
package coverage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/guard"
	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/model/metrics"
	"github.com/discreet-dp/discreet/internal/privacy/mech"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
	"github.com/discreet-dp/discreet/internal/train/evaluation"
)

// File is the name of the file of lines.
const File = "coverage.jsonl"

// Options are the choices behind a run.
type Options struct {
	Datasets string   // the folder of data sets; "" for the usual one
	Tables   []string // names; none for all
	Epsilons []dp.Epsilon
	Rows     []int
	Draws    int
	Seed     uint64
	Path     string // of the lines; what stands there is not measured again
	Progress func(line string)
}

// Line is one measured point.
type Line struct {
	Table   string             `json:"table"`
	Epsilon float64            `json:"epsilon"`
	Rows    int                `json:"rows"`
	Draws   int                `json:"draws"`
	Seed    uint64             `json:"seed"`
	True    map[string]float64 `json:"true"`
	Numbers map[string]*Tally  `json:"numbers"`
}

// Tally is what became of the intervals of one number.
type Tally struct {
	Held      int     `json:"held"`    // that hold the true number
	Below     int     `json:"below"`   // that lie wholly below it
	Clipped   int     `json:"clipped"` // that have an end if the number cannot go beyond
	HalfWidth float64 `json:"half_width"`
	// Exact is the half-width of an interval without noise.
	Exact float64 `json:"exact_half_width"`
	Bias  float64 `json:"bias"` // mean of the estimates less the true number
}

// band names the simultaneous band of costs.
const band = "cost_band"

// costs are those of the band.
var costs = evaluation.Costs{FalsePositive: 1, FalseNegative: 2}

// pool is a table with a model.
type pool struct {
	name  string
	t     *dataset.Table // whose rows, or persons, are drawn
	truth *dataset.Table // whose numbers are the true ones; nil for t
	m     *model.Model
	delta dp.Delta
}

// Run measures every point that Path has no line of.
func Run(ctx context.Context, o Options) error {
	done, err := readLines(o.Path)
	if err != nil {
		return err
	}
	for _, source := range sources() {
		if len(o.Tables) > 0 && !contains(o.Tables, source.name) {
			continue
		}
		var p *pool
		for _, eps := range o.Epsilons {
			for _, rows := range o.Rows {
				if done[key(source.name, eps.Float(), rows)] {
					continue
				}
				if p == nil {
					if p, err = source.open(ctx, o.Datasets); err != nil {
						return fmt.Errorf("coverage: %s: %w", source.name, err)
					}
				}
				line, err := p.measure(ctx, eps, rows, o)
				if err != nil {
					return fmt.Errorf("coverage: %s: %w", source.name, err)
				}
				if err := appendLine(o.Path, line); err != nil {
					return err
				}
				if o.Progress != nil {
					o.Progress(line.String())
				}
			}
		}
	}
	return nil
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func key(table string, eps float64, rows int) string {
	return fmt.Sprintf("%s %g %d", table, eps, rows)
}

func readLines(path string) (map[string]bool, error) {
	done := map[string]bool{}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, fmt.Errorf("coverage: %s must hold lines of this program: %w", path, err)
		}
		done[key(l.Table, l.Epsilon, l.Rows)] = true
	}
	return done, lines.Err()
}

func appendLine(path string, l *Line) error {
	b, err := json.Marshal(l)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	return errors.Join(err, f.Close())
}

// String is the line for people.
func (l *Line) String() string {
	text := fmt.Sprintf("%-12s eps %-4g n %-6d", l.Table, l.Epsilon, l.Rows)
	for _, name := range []string{"auc", "log_loss", "accuracy", band} {
		t := l.Numbers[name]
		if t == nil {
			continue
		}
		text += fmt.Sprintf("  %s %.1f%%/%d clip %.0f%% hw %.4f (%.4f) bias %+.4f", name, 100*float64(t.Held)/float64(l.Draws),
			t.Below, 100*float64(t.Clipped)/float64(l.Draws), t.HalfWidth, t.Exact, t.Bias)
	}
	return text
}

// measure draws held-out rows again and again.
func (p *pool) measure(ctx context.Context, eps dp.Epsilon, rows int, o Options) (*Line, error) {
	params := evaluation.Params{Epsilon: eps, Delta: p.delta, Models: []*model.Model{p.m}, Threshold: 0.5}
	known := rows
	if p.t.Schema.Relation == dp.AddRemove {
		known = 0
	}
	pl, err := params.Plan(p.t.Schema, known)
	if err != nil {
		return nil, err
	}
	cut, err := pl.Cut(p.t)
	if err != nil {
		return nil, err
	}
	truth, costAt, err := p.exact(pl)
	if err != nil {
		return nil, err
	}
	l := &Line{Table: p.name, Epsilon: eps.Float(), Rows: rows, Draws: o.Draws, Seed: o.Seed, True: truth,
		Numbers: map[string]*Tally{}}
	for name := range truth {
		l.Numbers[name] = new(Tally)
	}
	if costAt != nil {
		l.Numbers[band] = new(Tally)
	}
	units := p.listUnits()
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for draw := w; draw < o.Draws && ctx.Err() == nil; draw += workers {
				name := fmt.Sprintf("%s, %g, %d, draw %d", p.name, eps.Float(), rows, draw)
				src := replay.Seeded(o.Seed, name)
				held := drawUnits(cut, units, rows, src)
				tab, err := memory.New(held)
				if err == nil {
					var r *evaluation.Release
					if r, err = guard.Train(ctx, pl, tab, guard.Uncounted{}, mech.NewExit(src)); err == nil {
						err = l.add(r, exactCounts(r, held), truth, costAt, draw == 0, &mu)
					}
				}
				if err != nil {
					mu.Lock()
					failed = err
					mu.Unlock()
					return
				}
			}
		})
	}
	wg.Wait()
	for _, t := range l.Numbers {
		t.HalfWidth /= float64(o.Draws)
		t.Bias /= float64(o.Draws)
	}
	return l, errors.Join(failed, ctx.Err())
}

// listUnits are the rows of each person, or each row for itself.
func (p *pool) listUnits() [][]int {
	if p.t.Persons == nil {
		units := make([][]int, p.t.Rows)
		for i := range units {
			units[i] = []int{i}
		}
		return units
	}
	rows, persons := p.t.CountPersons()
	units := make([][]int, len(rows))
	for i, person := range p.t.Persons {
		units[person] = append(units[person], i)
	}
	return units[len(rows)-persons:] // without no one
}

// drawUnits takes n units with replacement. A person who is taken twice becomes two.
func drawUnits(cut *dataset.Table, units [][]int, n int, src rng.Source) *dataset.Table {
	var of []int
	var persons []uint32
	for i := range n {
		for _, row := range units[guard.Below(src, uint64(len(units)))] {
			of, persons = append(of, row), append(persons, uint32(i+1))
		}
	}
	held := cut.Subset(of)
	if cut.Persons != nil {
		held.Persons = persons
	}
	return held
}

// exactCounts is the same release without noise.
func exactCounts(r *evaluation.Release, held *dataset.Table) *evaluation.Release {
	exact := *r
	exact.Variance, exact.Cells = 0, nil
	var rows []uint32
	if held.Persons != nil {
		rows, _ = held.CountPersons()
	}
	for k, cells := range r.Cells {
		counts := make([]float64, len(cells))
		for i, y := range held.Labels {
			cell := int(held.Cols[k].Codes.At(i))
			if r.Bins != nil { // of public cells, without the label
				if cell *= 2; int(y) == r.Positive {
					cell++
				}
			}
			weight := 1.0
			if rows != nil {
				weight = 1 / float64(rows[held.Persons[i]])
			}
			counts[cell] += weight
		}
		exact.Cells = append(exact.Cells, counts)
	}
	return &exact
}

func (l *Line) add(r, exact *evaluation.Release, truth map[string]float64, costAt []float64, first bool, mu *sync.Mutex) error {
	plain, err := r.Report(evaluation.Choice{})
	if err != nil {
		return err
	}
	var all []evaluation.Estimate
	if costAt != nil {
		chosen, err := r.Report(evaluation.Choice{Costs: &costs})
		if err != nil {
			return err
		}
		for _, p := range chosen.Points {
			for _, n := range p.Numbers {
				if n.Name == "cost" {
					all = append(all, n.Estimate)
				}
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	for name, want := range truth {
		e, ok := plain.Find(name)
		if !ok {
			return fmt.Errorf("there is no number %s", name)
		}
		low, high := bounds(name, e)
		l.Numbers[name].note(e, want, low, high)
	}
	if first {
		sharp, err := exact.Report(evaluation.Choice{})
		if err != nil {
			return err
		}
		for name := range truth {
			e, _ := sharp.Find(name)
			l.Numbers[name].Exact = (e.High - e.Low) / 2
		}
	}
	b := l.Numbers[band]
	if b == nil {
		return nil
	}
	held, clipped, width := true, false, 0.0
	for k, n := range all {
		held = held && n.Low <= costAt[k] && costAt[k] <= n.High
		clipped = clipped || n.Low <= 0 || n.High >= max(costs.FalsePositive, costs.FalseNegative)
		width += (n.High - n.Low) / 2 / float64(len(all))
	}
	if held {
		b.Held++
	}
	if clipped {
		b.Clipped++
	}
	b.HalfWidth += width
	return nil
}

// bounds are between what a number lies.
func bounds(name string, e evaluation.Estimate) (low, high float64) {
	if name == "log_loss" {
		return 0, math.Inf(1)
	}
	return 0, 1
}

func (t *Tally) note(e evaluation.Estimate, want, low, high float64) {
	if e.Low <= want && want <= e.High {
		t.Held++
	}
	if e.High < want {
		t.Below++
	}
	if e.Low <= low || e.High >= high {
		t.Clipped++
	}
	t.HalfWidth += (e.High - e.Low) / 2
	t.Bias += e.Value - want
}

// exact is the true numbers, and the true cost at each cut for a label of two classes.
func (p *pool) exact(pl *evaluation.Plan) (map[string]float64, []float64, error) {
	t := p.t
	if p.truth != nil {
		t = p.truth
	}
	predictor, err := p.m.Bind(t.Schema)
	if err != nil {
		return nil, nil, err
	}
	scores, err := predictor.Scores(t.Cols, t.Rows)
	if err != nil {
		return nil, nil, err
	}
	l := &t.Schema.Label
	levels := schema.Values(l.Levels)
	r, err := metrics.Evaluate(t.Labels, scores, levels, l.Positive, 0.5)
	if err != nil {
		return nil, nil, err
	}
	truth := map[string]float64{"auc": *r.AUC, "log_loss": r.LogLoss, "accuracy": r.Accuracy}
	if len(levels) > 2 {
		return truth, nil, nil
	}
	truth["pr_auc"], truth["lift_at_10_percent"] = *r.Ranking.PRAUC, *r.Ranking.LiftTop10
	cuts := pl.Cuts()
	costAt := make([]float64, len(cuts))
	for i, s := range scores {
		own := int(t.Labels[i]) == l.Positive
		for k, c := range cuts {
			switch {
			case own && s < c:
				costAt[k] += costs.FalseNegative / float64(t.Rows)
			case !own && s >= c:
				costAt[k] += costs.FalsePositive / float64(t.Rows)
			}
		}
	}
	return truth, costAt, nil
}
