// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

const blockRows = 1 << 18

// Source is a set of table files that may be read several times.
type Source struct {
	Paths   []string
	Options dataset.Options // of coding and copying
	// Begin is called at the start of "reading" or "writing", and returns a function for its end; may
	// be nil.
	Begin func(what string) (end func())
	// BlockRows is the approximate number of rows to score at once; 0 for a default.
	BlockRows int
	// Rewind returns standard input from its beginning; nil if no path is "-".
	Rewind func() io.Reader
}

// open returns the options for one more pass over the files.
func (s *Source) open(what string) (dataset.Options, func()) {
	opts, end := s.Options, func() {}
	opts.Ordered = true
	if s.Begin != nil && what != "" {
		end = s.Begin(what)
	}
	if s.Rewind != nil {
		opts.Stdin = s.Rewind()
	}
	return opts, end
}

// Write writes the rows of the source with the model's predictions for each, and counts them. It reads, scores and writes a block of rows at a time, so that memory does not grow with
// the number of rows, except that a threshold by the share of rows takes 8 bytes per row. Errors are
// as for dataset.Read; rows that were written before an error stay in w.
func (p Params) Write(ctx context.Context, m *model.Model, src *Source, w io.Writer, format dataset.Format) (
	_ *Tally, err error) {
	if err := dataset.CheckReadTwice(ctx, src.Paths...); err != nil {
		return nil, err
	}
	ctx = dataset.Hold(ctx) // which is read up to three times
	from, err := p.findThreshold(ctx, m, src)
	if err != nil {
		return nil, err
	}
	opts, end := src.open("writing")
	defer end()
	reading, stopReading := context.WithCancel(ctx)
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	st := &stream{p: p, m: m, Tally: NewTally(m, from), blocks: make(chan *block), done: make(chan struct{}),
		exhausted: stopWriting}
	st.cells = make([]coding.Counts, len(m.Schema.Columns))
	defer func() {
		stopReading()
		<-st.done
	}()
	go st.readBlocks(reading, src)
	if !st.advance() {
		if st.failed != nil {
			return nil, st.failed
		}
		return &st.Tally, p.writeNothing(ctx, m, src, opts, w, format)
	}
	err = dataset.CopyRows(writing, m.Schema, opts, w, format, st.columns(), st.reach, src.Paths...)
	if err == nil || writing.Err() != nil || errors.As(err, new(*dataset.FaultError)) {
		for st.advance() { // coding says what is wrong with a table, and has the first word
		}
		switch {
		case st.failed != nil:
			err = st.failed
		case ctx.Err() == nil && (err == nil || writing.Err() != nil) && st.next != st.rows:
			err = errors.New("predict: the rows must stay as they are while they are read")
		}
	}
	return &st.Tally, err
}

// writeNothing writes a table without rows, with the same columns.
func (p Params) writeNothing(
	ctx context.Context, m *model.Model, src *Source, opts dataset.Options, w io.Writer, format dataset.Format,
) error {
	reading, _ := src.open("")
	t, err := dataset.Read(ctx, m.Schema, reading, src.Paths...)
	if err != nil {
		return err
	}
	added, err := p.columnsOf(m, t, nil, nil)
	if err != nil {
		return err
	}
	return dataset.CopyRows(ctx, m.Schema, opts, w, format, added, nil, src.Paths...)
}

// findThreshold returns the score from which on rows are predicted positive.
func (p Params) findThreshold(ctx context.Context, m *model.Model, src *Source) (from float64, err error) {
	if !p.Threshold.NeedsScores() {
		return p.Threshold.At(m, nil), nil
	}
	opts, end := src.open("reading")
	defer end()
	var scores []float64
	rows := cmp.Or(src.BlockRows, blockRows)
	_, err = dataset.ReadBlocks(ctx, m.Schema, opts, rows, func(_ int, t *dataset.Table) error {
		some, err := m.Scores(t.Cols, t.Rows)
		scores = append(scores, some...)
		return err
	}, src.Paths...)
	return p.Threshold.At(m, scores), err
}

// block holds rows from..to-1 of the source with the columns that are added.
type block struct {
	from, to int
	added    []dataset.Added
	labels   []uint8
	scores   []float64
	cells    []coding.Counts // see dataset.Table
}

// stream passes blocks from the goroutine that reads and scores them to the one that writes.
type stream struct {
	p      Params
	m      *model.Model
	blocks chan *block
	done   chan struct{} // closed when reading has ended
	failed error         // of reading, once it has ended

	now       *block
	next      int    // the next row to write
	exhausted func() // called if a row has no block
	Tally
}

// readBlocks scores all blocks in order.
func (st *stream) readBlocks(ctx context.Context, src *Source) {
	defer close(st.done)
	opts, _ := src.open("")
	opts.Count = true
	next := 0
	rows := cmp.Or(src.BlockRows, blockRows)
	_, st.failed = dataset.ReadBlocks(ctx, st.m.Schema, opts, rows, func(_ int, t *dataset.Table) error {
		b := &block{from: next, to: next + t.Rows, cells: t.Counts}
		next = b.to
		var err error
		if b.scores, err = st.m.Scores(t.Cols, t.Rows); err != nil {
			return err
		}
		b.labels = st.p.labelsOf(st.m, b.scores, st.from)
		if b.added, err = st.p.columnsOf(st.m, t, b.scores, b.labels); err != nil {
			return err
		}
		select {
		case st.blocks <- b:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}, src.Paths...)
	close(st.blocks)
}

// advance takes the next block; false after the last one.
func (st *stream) advance() bool {
	b, ok := <-st.blocks
	if ok {
		st.now = b
		st.addBlock(b.scores, b.labels, b.cells)
	}
	return ok
}

// columns returns the columns added to all blocks. A value is that of the row reached last.
func (st *stream) columns() []dataset.Added {
	out := make([]dataset.Added, len(st.now.added))
	for i, a := range st.now.added {
		out[i].Name = a.Name
		if a.Text != nil {
			out[i].Text = func(row int) string { return st.now.added[i].Text(row - st.now.from) }
			continue
		}
		out[i].Number = func(row int) float64 { return st.now.added[i].Number(row - st.now.from) }
	}
	return out
}

// reach advances to the block of a row; false if there is none.
func (st *stream) reach(row int) bool {
	for row >= st.now.to {
		if !st.advance() {
			st.exhausted()
			return false
		}
	}
	st.next = row + 1
	return true
}
