// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/parallel"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/pages"
)

// readParquet appends the rows of Parquet files.
func (r *reader) readParquet(paths []string) error {
	var files []*parquetFile
	for _, path := range paths {
		pf, f, err := openParquet(r.ctx, path)
		if err != nil {
			return err
		}
		defer f.Close()
		files = append(files, pf)
	}
	return r.readParquetFiles(files)
}

// readParquetFiles appends the rows of open files. Columns are independent: each processor takes the
// next column of the schema and reads it from all files.
func (r *reader) readParquetFiles(files []*parquetFile) error {
	var jobs []*columnJob
	rows := r.rows
	for _, pf := range files {
		layout, err := r.layOut(pf)
		if err != nil {
			return err
		}
		if pf.rows > int64(r.opts.MaxRows-rows) {
			return &FaultError{File: pf.path, Fault: fmt.Sprintf("must not go beyond %d rows (all files together)",
				r.opts.MaxRows)}
		}
		rows += int(pf.rows)
		for at, c := range layout.coders {
			if c == nil {
				continue
			}
			i := slices.IndexFunc(jobs, func(j *columnJob) bool { return j.coder == c })
			if i < 0 {
				i = len(jobs)
				jobs = append(jobs, &columnJob{coder: c, faults: faults{limit: r.faults.limit}})
			}
			jobs[i].files = append(jobs[i].files, pf)
			jobs[i].at = append(jobs[i].at, at)
		}
	}
	for _, j := range jobs {
		for i, pf := range j.files {
			j.bytes += pf.columnBytes(j.at[i])
		}
	}
	// The longest first: a long one begun last would keep one processor
	// waiting. Faults do not depend on this order (see gather).
	slices.SortStableFunc(jobs, func(a, b *columnJob) int { return cmp.Compare(b.bytes, a.bytes) })
	workers := runtime.GOMAXPROCS(0)
	if len(files) > 0 {
		workers *= files[0].waits()
	}
	parallel.Each(len(jobs), workers, func(i int) { jobs[i].err = jobs[i].readColumn(r.ctx, rows) })
	r.rows = rows
	return r.gatherFaults(jobs)
}

// layOut matches the columns of a Parquet file with the schema's.
func (r *reader) layOut(pf *parquetFile) (*layout, error) {
	plan, err := r.layoutByName(pf.path, 0, pf.names)
	if err != nil {
		return nil, err
	}
	for at, c := range plan.coders {
		if c == nil {
			continue
		}
		t := pf.columns[at].Type
		if want := c.CannotCarry(typeOf(t)); want != "" {
			return nil, &FaultError{File: pf.path, Column: c.Name, Fault: want + wayOut(t, c.Name)}
		}
	}
	return plan, nil
}

// typeOf returns a column's type as the coder knows it.
func typeOf(t pages.Type) coding.Type {
	out := coding.Type{Name: t.Name, Scale: t.Scale, Words: t.Name == "UUID"}
	out.Least, out.Most = t.Bounds()
	switch t.Meaning {
	case pages.Plain:
		out.Form = [...]coding.Form{pages.Ints: coding.Integer, pages.Floats: coding.Float, pages.Texts: coding.Text,
			pages.Truths: coding.Truth}[t.Kind()]
	default:
		out.Form = [...]coding.Form{pages.Unsupported: coding.Unknown, pages.Single: coding.Single,
			pages.Unsigned: coding.Decimal, pages.Day: coding.Day, pages.Instant: coding.Instant, pages.Local: coding.Instant,
			pages.Decimal: coding.Decimal, pages.Null: coding.None}[t.Meaning]
	}
	return out
}

// wayOut returns how to make a column of a type that can be read of one that cannot; "" if it can be.
func wayOut(t pages.Type, name string) string {
	if t.Meaning != pages.Unsupported {
		return ""
	}
	expression := "CAST(%s AS VARCHAR)"
	switch kind, _, _ := strings.Cut(t.Name, "("); kind {
	case "LIST":
		expression = "%s[1]"
	case "TIME", "INTERVAL":
		expression = "epoch(%s)"
	}
	quoted := `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	return fmt.Sprintf(", as this line of DuckDB does: COPY (SELECT * REPLACE ("+expression+" AS %[1]s) FROM 'old.parquet') "+
		"TO 'new.parquet'", quoted)
}

// gatherFaults sorts the faults of the columns by row.
func (r *reader) gatherFaults(jobs []*columnJob) error {
	var found []FaultError
	for _, j := range jobs {
		found = append(found, j.faults.found...)
		fault := (*FaultError)(nil)
		switch {
		case errors.As(j.err, &fault):
			found = append(found, *fault)
		case j.err != nil && !errors.Is(j.err, errEnough):
			return j.err
		}
	}
	slices.SortFunc(found, func(a, b FaultError) int {
		return cmp.Or(
			cmp.Compare(slices.Index(r.paths, a.File), slices.Index(r.paths, b.File)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column))
	})
	for i := range found {
		if err := r.faults.addFault(&found[i]); err != nil {
			return err
		}
	}
	return nil
}

// columnJob reads one column from files.
type columnJob struct {
	coder  *coder
	files  []*parquetFile
	at     []int // the column's position in each file
	bytes  int64
	faults faults
	err    error
}

func (pf *parquetFile) columnBytes(at int) (sum int64) {
	leaf := pf.columns[at].Leaf
	for g := range pf.groups {
		if leaf < len(pf.groups[g].Columns) {
			sum += pf.groups[g].Columns[leaf].MetaData.TotalCompressedSize
		}
	}
	return sum
}

func (j *columnJob) readColumn(ctx context.Context, rows int) error {
	j.coder.flushCodes()
	if j.coder.texts == nil {
		j.coder.out.Grow(rows)
	}
	for i, pf := range j.files {
		if err := j.readGroups(ctx, pf, j.at[i], groupRange{to: len(pf.groups)}); err != nil {
			return err
		}
	}
	return nil
}

// groupRange is row groups from..to-1 of a file; row is their first row.
type groupRange struct{ from, to, row int }

func (j *columnJob) readGroups(ctx context.Context, pf *parquetFile, at int, which groupRange) (err error) {
	defer recoverDamage(pf.path, &err)
	of := &pf.columns[at]
	row := which.row
	for g := which.from; g < which.to; g++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := pages.NewChunk(pf.section, pf.size, &pf.groups[g], of.Leaf, of.Type)
		if err != nil {
			return chunkFault(pf.path, j.coder.Name, err)
		}
		tr := translator{coder: j.coder, chunk: c}
		for {
			run, err := c.NextRun()
			if err == io.EOF {
				break
			}
			if err == nil {
				err = tr.appendCodes(&run, func(i int) error {
					return j.faults.addFault(&FaultError{File: pf.path, Column: j.coder.Name, Line: row + i + 1, Fault: j.coder.Want})
				})
			}
			if fault := (*FaultError)(nil); errors.As(err, &fault) || errors.Is(err, errEnough) {
				return err
			}
			if err != nil {
				return chunkFault(pf.path, j.coder.Name, err)
			}
			row += run.N
		}
	}
	return nil
}
