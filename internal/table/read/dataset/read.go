// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"context"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strconv"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/ground/parallel"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Labels determines how a reader treats the label column.
type Labels int

const (
	// LabelsRequired reads the label column of every file.
	LabelsRequired Labels = iota
	// LabelsIgnored never reads a label; the column may be absent.
	LabelsIgnored
)

// Extra determines how to treat columns of a file that the schema lacks, in files with names.
type Extra int

const (
	// ExtraRefused treats one as a structural fault, since it may be a column under a wrong name.
	ExtraRefused Extra = iota
	// ExtraDropped neither reads them nor copies them in CopyRows.
	ExtraDropped
	// ExtraKept does not read them, but CopyRows copies them.
	ExtraKept
)

// ParseExtra parses refuse, drop or keep.
func ParseExtra(text string) (Extra, error) {
	i := slices.Index([]string{"refuse", "drop", "keep"}, text)
	if i < 0 {
		return 0, &dp.ParamError{Op: "predict", Param: "extra", Want: "must be refuse, drop or keep",
			Got: strconv.Quote(text)}
	}
	return Extra(i), nil
}

// Options are the options of one reading. The zero Options reads a labelled table of any size.
type Options struct {
	Labels Labels
	Extra  Extra
	// MaxRows refuses a longer table; 0 means 2^31-1, the largest limit.
	MaxRows int
	// Persons identifies persons in this reading; nil for a new secret and new numbers.
	Persons *PersonKeys
	// Ordered makes ReadBlocks pass on one block at a time in order, and divide its columns among the
	// processors.
	Ordered bool
	// Count makes tables tell their Counts. They are NOT PRIVATE: only a reading without a guarantee has
	// them.
	Count bool
	// Stdin is the input for the path "-", as CSV, or Cells.
	Stdin io.Reader
}

// Read reads the table in the files, one after another in the given order, into memory. It takes about
// as many bytes as its codes and, for numbers, 8 bytes per distinct value. FormatOf determines a
// file's format. A path may also be a folder or a pattern (listFiles), or the address of a table in a
// database (package sqlrows). No table is read twice (CheckOnce). With a header, in Parquet and in a database, columns are matched by name
// in any order. A column that the schema ignores may be absent; a column that it derives must be
// absent.
//
// A structural fault is a *FaultError. It does not depend on the content of a private cell, a private
// label, or any cell with a default (G-READ-1).
func Read(ctx context.Context, s *schema.Schema, opts Options, paths ...string) (*Table, error) {
	r, err := newReader(ctx, s, opts, paths)
	if err != nil {
		return nil, err
	}
	if err := r.readFiles(); err != nil {
		return nil, err
	}
	return r.makeTable(), nil
}

// reader is one reading of some files into columns.
type reader struct {
	ctx    context.Context
	s      *schema.Schema
	opts   Options
	paths  []string
	faults faults
	buffer int // bytes of CSV text that are split at once; 0: as many as is usual

	cols    []*coder // parallel to the schema's Columns; nil: ignored or derived
	persons *coder   // one of cols: the persons of the rows; nil: not read
	label   *coder   // nil: not read
	rows    int

	stream *cellStream // the last one of standard input

	// For a table that is read in blocks, see ReadBlocks.
	blockRows int
	blocks    int // number of blocks begun
	kept      int // rows in the blocks passed on
	keep      func(block int, t *Table) error
	handing   chan error // result of the block being passed on; nil: there is none
}

func newReader(ctx context.Context, s *schema.Schema, opts Options, paths []string) (*reader, error) {
	if len(paths) == 0 {
		return nil, &dp.ParamError{Op: "dataset", Param: "data", Want: "must name at least one file"}
	}
	if opts.MaxRows < 0 || opts.MaxRows > math.MaxInt32 {
		return nil, &dp.ParamError{Op: "dataset", Param: "rows", Want: "must be at most 2^31-1", Got: opts.MaxRows}
	}
	if opts.MaxRows == 0 {
		opts.MaxRows = math.MaxInt32
	}
	if p := s.Label.Position; p < 0 || p > len(s.FileColumns()) {
		return nil, &dp.ParamError{Op: "dataset", Param: "label position", Want: "must be among the columns of the schema",
			Got: p}
	}
	if err := coding.CheckDerived(s); err != nil {
		return nil, err
	}
	if opts.Stdin == nil && slices.ContainsFunc(paths, isStdin) {
		return nil, &dp.ParamError{Op: "dataset", Param: "data",
			Want: "must name files, since there is no standard input here", Got: "-"}
	}
	r := &reader{ctx: Hold(ctx), s: s, opts: opts}
	var err error
	if r.paths, err = listFiles(r.ctx, paths); err != nil {
		return nil, err
	}
	if err := checkOnce(r.ctx, opts.Stdin, r.paths); err != nil {
		return nil, err
	}
	if r.cols, r.label, err = newCoders(s); err != nil {
		return nil, err
	}
	if opts.Labels == LabelsIgnored {
		r.label = nil
	}
	if at := s.PersonColumn(); at >= 0 {
		if opts.Labels == LabelsIgnored { // no one asks whose the rows are
			r.cols[at] = nil
		} else if opts.Persons != nil {
			r.cols[at] = newPersonCoder(s, opts.Persons.ids)
		}
		r.persons = r.cols[at]
	}
	if opts.Count {
		countCells(r.allCoders())
	}
	return r, nil
}

// readFiles reads all files in order. Consecutive Parquet files are read together, so that their
// columns, and not the files, are divided among the processors.
func (r *reader) readFiles() error {
	for from := 0; from < len(r.paths); {
		to := from + 1
		var err error
		if FormatOf(r.paths[from]) == Parquet {
			for to < len(r.paths) && FormatOf(r.paths[to]) == Parquet {
				to++
			}
			if r.keep != nil {
				err = r.readWindows(r.paths[from:to])
			} else {
				err = r.readParquet(r.paths[from:to])
			}
		} else if IsAddress(r.paths[from]) {
			err = r.readSQL(r.paths[from])
		} else if r.paths[from] == Cells {
			err = r.readCells()
		} else {
			err = r.readCSV(r.paths[from])
		}
		if fault := (*FaultError)(nil); errors.As(err, &fault) {
			err = r.faults.addFault(fault) // the file could not be read on
		}
		if err != nil {
			return err
		}
		from = to
	}
	return r.checkRows(r.paths[0])
}

// checkRows refuses a table without rows under replace-one. Under add-remove, such a table is a
// neighbour of a table with one row, and refusing it would distinguish the two. A file that could not be
// read on leaves the number of rows unknown.
func (r *reader) checkRows(file string) error {
	if r.rows == 0 && len(r.faults.found) == 0 && r.s.Relation == dp.ReplaceOne {
		return r.faults.addFault(&FaultError{File: file, Fault: "must have at least one row (all files together)"})
	}
	return nil
}

// allCoders returns the coders of all columns, and that of the label.
func (r *reader) allCoders() []*coder { return append(slices.Clone(r.cols), r.label) }

func (r *reader) makeTable() *Table {
	t := &Table{Schema: r.s, Rows: r.rows - r.kept, Cols: make([]column.Column, len(r.cols))}
	procs := 1
	if t.Rows >= batch {
		procs = runtime.GOMAXPROCS(0)
	}
	parallel.Each(len(r.cols), procs, func(j int) {
		if c := r.cols[j]; c != nil && c != r.persons {
			t.Cols[j] = c.takeColumn()
		}
	})
	if r.persons != nil {
		t.Persons = r.persons.takePersons()
	}
	if r.label != nil {
		t.Labels = r.label.takeColumn().Codes.U8
		if t.Labels == nil { // no rows, which is not the same as no labels
			t.Labels = []uint8{}
		}
	}
	if r.opts.Count {
		t.Counts = takeCounts(r.allCoders())
	}
	t.Derive()
	return t
}
