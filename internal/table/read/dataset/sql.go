// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/object"
	"github.com/discreet-dp/discreet/internal/table/read/sqlrows"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// IsAddress reports whether path is the address of a table in a database.
func IsAddress(path string) bool { return sqlrows.IsAddress(path) }

// CheckPaths refuses an invalid address of a table or of an object: one without the table's name, or
// with a password. It opens nothing.
func CheckPaths(paths ...string) error {
	for _, path := range paths {
		check := func(string) error { return nil }
		switch {
		case sqlrows.IsAddress(path):
			check = sqlrows.Check
		case object.IsAddress(path):
			check = object.Check
		}
		if err := check(path); err != nil {
			return err
		}
	}
	return nil
}

// openSQL opens a table in a database and lays its columns out.
func (r *reader) openSQL(address string) (*sqlrows.Table, *layout, error) {
	t, err := sqlrows.Open(r.ctx, address)
	if err != nil {
		return nil, nil, err
	}
	plan, err := r.layOutSQL(address, t)
	if err != nil {
		t.Close()
		return nil, nil, err
	}
	return t, plan, nil
}

func (r *reader) layOutSQL(address string, t *sqlrows.Table) (*layout, error) {
	plan, err := r.layoutByName(address, 0, namesOf(t.Columns))
	if err != nil {
		return nil, err
	}
	for k, c := range plan.coders {
		if c == nil {
			continue
		}
		if want := c.CannotCarry(t.Columns[k].Type); want != "" {
			return nil, &FaultError{File: address, Column: c.Name, Fault: want}
		}
	}
	return plan, nil
}

func namesOf(columns []sqlrows.Column) (names []string) {
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}

// readSQL appends the rows of a table in a database.
func (r *reader) readSQL(address string) (err error) {
	t, plan, err := r.openSQL(address)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := t.Close(); err == nil {
			err = closeErr
		}
	}()
	var read []int
	var coders []*coder
	var dated []bool // texts are dates as databases write them
	for k, c := range plan.coders {
		if c != nil {
			read, coders = append(read, k), append(coders, c)
			dated = append(dated, c.IsDate() && t.Columns[k].Affinity == "date")
		}
	}
	if err := t.Read(read); err != nil {
		return err
	}
	for row := 1; ; row++ {
		cells, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if row%batch == 0 {
			if err := r.ctx.Err(); err != nil {
				return err
			}
		}
		if r.rows >= r.opts.MaxRows {
			return &FaultError{File: address, Line: row,
				Fault: fmt.Sprintf("must not go beyond %d rows (all files together)", r.opts.MaxRows)}
		}
		r.rows++
		for i, c := range coders {
			code, fate := c.codeSQL(&cells[i], dated[i])
			if fate.Refused() {
				fault := &FaultError{File: address, Line: row, Column: c.Name, Fault: c.Want}
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

// codeSQL codes a cell of a table in a database. If dated, a text may be a date as databases write it.
func (c *coder) codeSQL(v *sqlrows.Cell, dated bool) (code uint32, fate coding.Fate) {
	switch v.Form {
	case coding.Integer:
		if c.recent.integers == nil {
			allocate(&c.recent.integers)
		}
		known := &c.recent.integers[uint64(v.Integer)%uint64(len(c.recent.integers))]
		if known.code != 0 && known.cell == v.Integer {
			return known.code - 1, known.fate
		}
		if code, fate = c.code(c.ReadInteger(v.Integer)); !fate.Refused() && code < uncoded {
			known.cell, known.code, known.fate = v.Integer, code+1, fate
		}
		return code, fate
	case coding.Float:
		return c.code(c.ReadFloat(v.Float))
	case coding.Single:
		return c.code(c.ReadSingle(float32(v.Float)))
	case coding.Truth:
		return c.code(c.ReadTruth(v.Integer == 1))
	case coding.Day:
		return c.code(c.ReadDay(int(v.Integer)))
	case coding.Instant:
		return c.code(c.ReadInstant(v.Integer, 0))
	case coding.Decimal:
		return c.code(coding.ReadDecimal(c.Coder, v.Text))
	case coding.Text:
		if days, ok := schema.ParseDate("YYYY-MM-DD", v.Text); dated && ok {
			return c.code(c.ReadDay(days))
		}
		return c.codeRecent(v.Text)
	}
	return c.code(c.ReadMissing())
}

// readSQLNames returns the names of a table's columns.
func readSQLNames(address string) ([]string, error) {
	t, err := sqlrows.Open(context.Background(), address)
	if err != nil {
		return nil, err
	}
	return namesOf(t.Columns), t.Close()
}

// readSQLTypes returns the types of a table's columns, in the terms of a codebook. It reads them from
// the database's catalogue, and no row.
func readSQLTypes(address string) (map[string]string, error) {
	t, err := sqlrows.Open(context.Background(), address)
	if err != nil {
		return nil, err
	}
	types := map[string]string{}
	for _, c := range t.Columns {
		types[c.Name] = cmp.Or(c.Affinity, termOf(c.Type))
	}
	return types, t.Close()
}
