// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"fmt"
	"io"
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

func (r *reader) readText(path string, src io.Reader) error {
	text, err := openText(path, &countingReader{ctx: r.ctx, r: src, p: &r.progress})
	if err != nil {
		return err
	}
	rs, err := newRecords(path, text, r.s.Dialect, 256<<10)
	if err != nil {
		return err
	}
	if err := rs.skipPreamble(); err != nil {
		return err
	}
	var plan *layout
	if r.s.Dialect.Header {
		names, err := rs.readNames()
		if err != nil {
			return err
		}
		if plan, err = r.layoutByName(path, rs.line, names); err != nil {
			return err
		}
	}
	for {
		err := rs.readRecord()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			fault := (*FaultError)(nil)
			if rs.lost || !errors.As(err, &fault) {
				return err
			}
			if err := r.faults.addFault(fault); err != nil {
				return err
			}
			continue
		}
		if plan == nil {
			plan = r.layoutByPosition(len(rs.fields))
		}
		if len(rs.fields) != len(plan.coders) {
			if err := r.faults.addFault(rs.fault(fmt.Sprintf("must have %d cells", len(plan.coders)))); err != nil {
				return err
			}
			continue
		}
		if r.rows >= r.opts.MaxRows {
			return rs.loseRecords(fmt.Sprintf("must not go beyond %d rows (all files together)", r.opts.MaxRows))
		}
		r.rows++
		for i, c := range plan.coders {
			if c == nil {
				continue
			}
			code, ok := c.codeText(rs.fields[i])
			if !ok {
				fault := rs.fault(c.Want)
				fault.Column = c.Name
				if err := r.faults.addFault(fault); err != nil {
					return err
				}
			}
			c.keepCode(code)
		}
		if err := r.endFullBlock(); err != nil {
			return err
		}
	}
}
