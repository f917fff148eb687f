// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
)

// runRows is how many rows are scored and added up at a time: what is kept of them in between stays in
// the processor's nearest cache.
const runRows = 1 << 10

// Sum implements engine.Table. Memory the size of s on each core and, if rows have scores, 4 bytes for
// each number of a row's, which stay until another score is asked about.
func (m *Table) Sum(ctx context.Context, s engine.Statistic) ([]int64, error) {
	view := m.view()
	size, err := s.Size(view)
	if err != nil {
		return nil, err
	}
	if err := m.checkPersons("sums", weighed); err != nil {
		return nil, err
	}
	p := &pass{Table: m, view: view, of: s, score: engine.ScoreOf(s)}
	if p.score != nil {
		m.scored.Lock()
		defer m.scored.Unlock()
		p.known = m.scored.take(p.score, m.positive, m.t.Rows)
	}
	p.columns = slices.Compact(slices.Sorted(slices.Values(engine.ColumnsRead(s, p.known))))
	sums := make([]int64, size)
	var all sync.Mutex // guards sums
	err = m.eachWorker(ctx, runRows, func(next func() (from, to int, ok bool)) {
		part := p.addRuns(next)
		all.Lock()
		defer all.Unlock()
		part.AddTo(sums)
	})
	if err != nil {
		return nil, err
	}
	if p.score != nil {
		m.scored.score = p.score.Keep()
	}
	return sums, nil
}

// pass is one statistic on its way.
type pass struct {
	*Table
	view    *engine.View
	of      engine.Statistic
	columns []int
	score   engine.Score // nil if none is kept
	known   int          // of its terms are added
}

// addRuns adds up the runs that next gives it.
func (p *pass) addRuns(next func() (from, to int, ok bool)) engine.Adder {
	run := &engine.Run{View: p.view, Cols: make([]column.Column, len(p.t.Cols))}
	for _, j := range p.columns {
		c := &p.t.Cols[j]
		run.Cols[j] = column.Column{Codes: c.Codes.Run(0, 0), Values: c.Values, Marks: c.Marks}
	}
	scorer := func() {}
	if p.score != nil {
		scorer = p.score.Scorer(run, p.known)
	}
	adder := p.of.Adder(run)
	for from, to, ok := next(); ok; from, to, ok = next() {
		for _, j := range p.columns {
			run.Cols[j].Codes = p.t.Cols[j].Codes.Run(from, to)
		}
		run.Labels = p.t.Labels[from:to]
		if p.weights != nil {
			run.Weights = p.weights[from:to]
		}
		if p.score != nil {
			width := p.score.Width()
			run.Scores = p.scored.rows[from*width : to*width]
		}
		scorer()
		adder.Add()
	}
	return adder
}

// scored is the last score that was asked about, and what the rows have of it.
type scored struct {
	sync.Mutex
	score    engine.Score // nil: none
	positive int          // the label's code
	rows     []int32      // by row, then number
}

// known is how many terms of s the rows have.
func (k *scored) known(s engine.Score, positive int) int {
	if k.score == nil || k.positive != positive || !s.Extends(k.score) {
		return 0
	}
	return k.score.Len()
}

// take gives the rows to s, and says how many terms of it they have. Until s is kept they have none.
func (k *scored) take(s engine.Score, positive, rows int) (known int) {
	known = k.known(s, positive)
	k.score, k.positive = nil, positive
	if n := rows * s.Width(); len(k.rows) != n {
		k.rows = make([]int32, n)
	}
	return known
}

// KnownTerms is how many of the first terms of score need no columns in the next question, about a
// class: what rows have of them is kept.
func (m *Table) KnownTerms(against int, score engine.Score) int {
	if against == engine.WholeLabel {
		against = m.positive
	}
	m.scored.Lock()
	defer m.scored.Unlock()
	return m.scored.known(score, against)
}

// eachWorker calls work on every core, at least once, with a function that gives it the next so many
// rows. It fails only when ctx ends, and the rows with it.
func (m *Table) eachWorker(ctx context.Context, rows int, work func(next func() (from, to int, ok bool))) error {
	var taken atomic.Int64
	var workers sync.WaitGroup
	runs := (m.t.Rows + rows - 1) / rows
	next := func() (from, to int, ok bool) {
		r := int(taken.Add(1) - 1)
		if r >= runs || ctx.Err() != nil {
			return 0, 0, false
		}
		return r * rows, min((r+1)*rows, m.t.Rows), true
	}
	for range max(1, min(runtime.GOMAXPROCS(0), runs)) {
		workers.Go(func() { work(next) })
	}
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("memory: %w", err)
	}
	return nil
}
