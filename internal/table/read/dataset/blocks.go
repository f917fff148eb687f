// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/parallel"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// ReadBlocks reads the table in the files by the rules of Read, one block of rows at a time. It calls
// keep with each block and its number, from 0. A block is a table with its own dictionaries and with
// the persons of all blocks. It has rows rows or a few more; a block from a Parquet file consists of
// whole row groups. The blocks together are the rows in order. Several goroutines call keep at once,
// in any order (but see Options.Ordered). At most one more block than there are processors is in
// memory. It returns the total number of rows.
func ReadBlocks(ctx context.Context, s *schema.Schema, opts Options, rows int,
	keep func(block int, t *Table) error, paths ...string) (total int, err error) {
	if rows < 1 {
		return 0, &dp.ParamError{Op: "dataset", Param: "rows of a block", Want: "must be at least 1", Got: rows}
	}
	r, err := newReader(ctx, s, opts, paths)
	if err != nil {
		return 0, err
	}
	r.blockRows, r.keep = rows, keep
	err = r.readFiles()
	if err == nil && r.rows > r.kept {
		err = r.endBlock()
	}
	if handedOn := r.waitForBlock(); err == nil {
		err = handedOn
	}
	if err != nil {
		return 0, err
	}
	return r.rows, nil
}

// endFullBlock ends the current block if it has all its rows.
func (r *reader) endFullBlock() error {
	if r.keep == nil || r.rows-r.kept < r.blockRows {
		return nil
	}
	return r.endBlock()
}

// endBlock passes on the rows read since the last block, while reading continues.
func (r *reader) endBlock() error {
	t := r.makeTable()
	r.kept = r.rows
	return r.handOn(t)
}

func (r *reader) handOn(t *Table) error {
	r.blocks++
	if err := r.waitForBlock(); err != nil {
		return err
	}
	block, handing := r.blocks-1, make(chan error, 1)
	r.handing = handing
	go func() { handing <- r.keep(block, t) }()
	return nil
}

// waitForBlock waits until the block that was passed on is stored.
func (r *reader) waitForBlock() error {
	if r.handing == nil {
		return nil
	}
	err := <-r.handing
	r.handing = nil
	return err
}

// window is a set of row groups of a file that make one block.
type window struct {
	pf   *parquetFile
	at   []int // by column of the schema, the label last: its position in the file; -1 if it is not read
	part groupRange
	rows int
	done error
}

// readWindows passes on the rows of Parquet files. Blocks are independent: each processor takes the
// next one.
func (r *reader) readWindows(paths []string) error {
	if r.rows > r.kept { // of a CSV file before them
		if err := r.endBlock(); err != nil {
			return err
		}
	}
	var windows []*window
	for _, path := range paths {
		pf, f, err := openParquet(r.ctx, path)
		if err != nil {
			return err
		}
		defer f.Close()
		if windows, err = r.appendWindows(windows, pf, groupRange{to: len(pf.groups)}); err != nil {
			return err
		}
	}
	if r.opts.Ordered {
		return r.readInOrder(windows)
	}
	var mu sync.Mutex
	next, failed := 0, len(windows)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(windows)) {
		workers.Go(func() {
			for {
				mu.Lock()
				k, end := next, failed
				next++
				mu.Unlock()
				if k >= end {
					return
				}
				// What is wrong with a table does not depend on who was first: windows before one
				// that failed are read to their ends.
				t, err := r.readWindow(windows[k], 1, &mu)
				if err == nil {
					err = r.keep(r.blocks+k, t)
				}
				if windows[k].done = err; err != nil {
					mu.Lock()
					failed = min(failed, k)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	for _, w := range windows {
		if w.done != nil {
			return w.done
		}
	}
	r.blocks += len(windows)
	r.kept = r.rows
	return nil
}

// readInOrder passes on one window after another, while the next one is read.
func (r *reader) readInOrder(windows []*window) error {
	var mu sync.Mutex
	for _, w := range windows {
		t, err := r.readWindow(w, runtime.GOMAXPROCS(0), &mu)
		if err == nil {
			err = r.handOn(t)
		}
		if err != nil {
			return err
		}
	}
	r.kept = r.rows
	return nil
}

// appendWindows divides row groups of a file into windows.
func (r *reader) appendWindows(windows []*window, pf *parquetFile, which groupRange) ([]*window, error) {
	layout, err := r.layOut(pf)
	if err != nil {
		return nil, err
	}
	if pf.rows > int64(r.opts.MaxRows-r.rows) {
		return nil, &FaultError{File: pf.path, Fault: fmt.Sprintf("must not go beyond %d rows (all files together)",
			r.opts.MaxRows)}
	}
	at := make([]int, len(r.cols)+1)
	for j := range at {
		at[j] = -1
	}
	for place, c := range layout.coders {
		if c != nil && c == r.label {
			at[len(r.cols)] = place
		}
		for j := range r.cols {
			if c != nil && c == r.cols[j] {
				at[j] = place
			}
		}
	}
	row := 0
	for g := range which.from {
		row += int(pf.groups[g].NumRows)
	}
	w := &window{pf: pf, at: at, part: groupRange{from: which.from, row: row}}
	for g := which.from; g < which.to; g++ {
		w.part.to = g + 1
		w.rows += int(pf.groups[g].NumRows)
		row += int(pf.groups[g].NumRows)
		if w.rows >= r.blockRows {
			windows = append(windows, w)
			w = &window{pf: pf, at: at, part: groupRange{from: g + 1, row: row}}
		}
	}
	if w.rows > 0 {
		windows = append(windows, w)
	}
	for g := which.from; g < which.to; g++ {
		r.rows += int(pf.groups[g].NumRows)
	}
	return windows, nil
}

// readWindow reads the columns of a window, procs of them at once.
func (r *reader) readWindow(w *window, procs int, mu *sync.Mutex) (*Table, error) {
	part := &reader{ctx: r.ctx, s: r.s, opts: r.opts, paths: r.paths, rows: w.rows}
	var err error
	if part.cols, part.label, err = newCoders(r.s); err != nil {
		return nil, err
	}
	if r.label == nil {
		part.label = nil
	}
	if at := r.s.PersonColumn(); at >= 0 {
		if r.persons != nil {
			part.persons = newPersonCoder(r.s, r.persons.ids.fork())
		}
		part.cols[at] = part.persons
	}
	if r.opts.Count {
		countCells(part.allCoders())
	}
	var jobs []*columnJob
	var places []int // in the file, of the jobs' columns
	for j, at := range w.at {
		if at < 0 {
			continue
		}
		job := &columnJob{coder: part.label}
		if j < len(part.cols) {
			job.coder = part.cols[j]
		}
		jobs, places = append(jobs, job), append(places, at)
	}
	parallel.Each(len(jobs), procs*w.pf.waits(), func(k int) {
		jobs[k].coder.out.Grow(w.rows)
		jobs[k].err = jobs[k].readGroups(r.ctx, w.pf, places[k], w.part)
	})
	if err := part.gatherFaults(jobs); err != nil {
		return nil, err
	}
	t := part.makeTable()
	if part.persons != nil {
		mu.Lock()
		r.persons.ids.renumber(part.persons.ids, t.Persons)
		mu.Unlock()
	}
	return t, nil
}

// ReadParquet reads a table from the bytes of one Parquet file, by the rules of Read. name is the
// file's name in faults.
func ReadParquet(ctx context.Context, s *schema.Schema, opts Options, name string, data []byte) (*Table, error) {
	r, pf, err := openBytes(ctx, s, opts, name, data)
	if err != nil {
		return nil, err
	}
	if err := r.readParquetFiles([]*parquetFile{pf}); err != nil {
		return nil, err
	}
	return r.makeTable(), nil
}

// ReadParquetBlocks reads a labelled table from the bytes of one Parquet file as ReadBlocks does, one
// block at a time. name is the file's name in faults.
func ReadParquetBlocks(ctx context.Context, s *schema.Schema, opts Options, name string, data []byte, rows int,
	keep func(block int, t *Table) error) error {
	r, pf, err := openBytes(ctx, s, opts, name, data)
	if err != nil {
		return err
	}
	r.blockRows = rows
	return r.readBlocksOf(pf, groupRange{to: len(pf.groups)}, keep)
}

func openBytes(ctx context.Context, s *schema.Schema, opts Options, name string, data []byte) (*reader, *parquetFile, error) {
	pf, err := newParquetFile(name, bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, nil, err
	}
	opts.Stdin = bytes.NewReader(nil)
	r, err := newReader(ctx, s, opts, []string{"-"})
	return r, pf, err
}

// readBlocksOf passes on row groups of a file, one block at a time.
func (r *reader) readBlocksOf(pf *parquetFile, which groupRange, keep func(block int, t *Table) error) error {
	windows, err := r.appendWindows(nil, pf, which)
	var mu sync.Mutex
	for k := 0; k < len(windows) && err == nil; k++ {
		var t *Table
		if t, err = r.readWindow(windows[k], 1, &mu); err == nil {
			err = keep(k, t)
		}
	}
	return err
}
