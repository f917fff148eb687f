// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
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
	rs, err = openRecords(path, &watchingReader{ctx: r.ctx, r: src}, r.s.Dialect, 256<<10)
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

func (r *reader) readText(path string, src io.Reader) error {
	rs, plan, _, err := r.openText(path, src)
	if err != nil {
		return err
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
		if r.rows >= r.opts.MaxRows {
			return rs.loseRecords(fmt.Sprintf("must not go beyond %d rows (all files together)", r.opts.MaxRows))
		}
		r.rows++
		for i, c := range plan.coders {
			if c == nil {
				continue
			}
			code, fate := c.code(coding.ReadText(c.Coder, rs.fields[i]))
			if fate.Refused() {
				fault := rs.fault(c.Want)
				fault.Column = c.Name
				if err := r.faults.addFault(fault); err != nil {
					return err
				}
			}
			c.keepCode(code, fate)
		}
		if err := r.endFullBlock(); err != nil {
			return err
		}
	}
}
