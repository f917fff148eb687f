// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/parallel"
)

// readCSV appends the rows of one CSV file.
func (r *reader) readCSV(path string) error {
	src, closeSrc, err := r.openSource(path)
	if err != nil {
		return err
	}
	defer closeSrc()
	return r.readText(path, src)
}

func (r *reader) openSource(path string) (io.Reader, func() error, error) {
	if path == "-" {
		return r.opts.Stdin, func() error { return nil }, nil
	}
	src, f, err := openFile(r.ctx, path)
	if err != nil {
		return nil, nil, err
	}
	return src, f.Close, nil
}

// openText begins to read the text of a CSV file, with its header if there is one.
func (r *reader) openText(path string, src io.Reader) (rs *records, plan *layout, names []string, err error) {
	rs, err = openRecords(path, &watchingReader{ctx: r.ctx, r: src}, r.s.Dialect, cmp.Or(r.buffer, 256<<10))
	if err != nil {
		return nil, nil, nil, err
	}
	if r.s.Dialect.Header {
		if names, err = rs.readNames(); err != nil {
			return nil, nil, nil, err
		}
		plan, err = r.layoutByName(path, rs.line, names)
		return rs, plan, names, err
	}
	n, or := len(r.s.FileColumns())+1, 0
	if r.opts.Labels == LabelsIgnored {
		or = n - 1
	}
	rs.expectCells(n, or)
	return rs, nil, nil, nil
}

// batches is the number of batches in memory: one whose cells are coded, one that waits, and one that
// is read.
const batches = 3

// readText appends the rows of CSV text. One goroutine splits it into cells, and others code them.
func (r *reader) readText(path string, src io.Reader) error {
	rs, plan, _, err := r.openText(path, src)
	if err != nil {
		return err
	}
	free, read := make(chan *rowBatch, batches), make(chan *rowBatch, 1)
	for range batches {
		free <- new(rowBatch)
	}
	go func() {
		defer close(read)
		for b := range free {
			rs.readBatch(b, max(1, r.faults.limit))
			read <- b
			if b.end != nil {
				return
			}
		}
	}()
	for b := range read {
		if plan == nil && len(b.lines) > 0 {
			plan = r.layoutByPosition(b.width)
		}
		if err = r.addBatch(path, b, plan); err != nil {
			break
		}
		free <- b
	}
	close(free)
	for range read { // until src is left alone
	}
	if err == io.EOF {
		return nil
	}
	return err
}

// addBatch appends the rows of a batch, and returns why there are no more.
func (r *reader) addBatch(path string, b *rowBatch, plan *layout) error {
	for from := 0; from < len(b.lines); {
		n := min(len(b.lines)-from, r.opts.MaxRows-r.rows)
		if r.keep != nil {
			n = min(n, r.blockRows-(r.rows-r.kept))
		}
		if n == 0 {
			if err := r.addFaults(b, from); err != nil {
				return err
			}
			return &FaultError{File: path, Line: b.lines[from],
				Fault: fmt.Sprintf("must not go beyond %d rows (all files together)", r.opts.MaxRows)}
		}
		if err := r.codeRows(path, b, plan, from, from+n); err != nil {
			return err
		}
		r.rows += n
		from += n
		if err := r.endFullBlock(); err != nil {
			return err
		}
	}
	if err := r.addFaults(b, len(b.lines)); err != nil {
		return err
	}
	return b.end
}

// addFaults adds the faults behind the given number of rows of a batch, and those before.
func (r *reader) addFaults(b *rowBatch, rows int) error {
	for ; len(b.faults) > 0 && b.faults[0].rows <= rows; b.faults = b.faults[1:] {
		if err := r.faults.addFault(b.faults[0].fault); err != nil {
			return err
		}
	}
	return nil
}

// codeRows codes rows from..to-1 of a batch, each column by itself, and then adds the faults in their order.
func (r *reader) codeRows(path string, b *rowBatch, plan *layout, from, to int) error {
	refused := make([][]int, len(plan.coders))
	parallel.Each(len(plan.coders), runtime.GOMAXPROCS(0), func(i int) {
		if c := plan.coders[i]; c != nil {
			refused[i] = c.codeCells(b, i, from, to)
		}
	})
	type place struct{ row, column int }
	var places []place
	for i, rows := range refused {
		for _, row := range rows {
			places = append(places, place{row, i})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(a.row-b.row, a.column-b.column) })
	for _, at := range places {
		if err := r.addFaults(b, at.row); err != nil {
			return err
		}
		c := plan.coders[at.column]
		if err := r.faults.addFault(&FaultError{File: path, Line: b.lines[at.row], Column: c.Name, Fault: c.Want}); err != nil {
			return err
		}
	}
	return r.addFaults(b, to-1)
}

// codeCells codes a column's cells of rows from..to-1 of a batch. It returns the rows whose cell is
// refused.
func (c *coder) codeCells(b *rowBatch, column, from, to int) (refused []int) {
	cells := b.cells[from*b.width : to*b.width]
	for row := from; row < to; row++ {
		code, fate := c.codeRecent(findCell(b.buf, b.text, cells[column]))
		if cells = cells[b.width:]; fate.Refused() {
			refused = append(refused, row)
		}
		c.count(fate, 1)
		c.pending = append(c.pending, code)
	}
	c.flushCodes()
	return refused
}
