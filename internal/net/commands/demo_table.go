// SPDX-License-Identifier: Apache-2.0

package network

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/discreet-dp/discreet/internal/commands"
	"github.com/discreet-dp/discreet/internal/commands/cli"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// demoTable is the table of a demo, whose rows it deals out.
type demoTable struct {
	data   []string
	schema string

	parsed  *schema.Schema
	written *schema.Schema // of the folder
	units   []int          // by row: which row it is, or which person has it; -1 for rows of nobody
}

// prepare makes the folder, and writes there the rows by which models are measured: one half, or one quarter beside an
// auxiliary table.
func (d *demo) prepare(ctx context.Context, auxiliary bool) error {
	if entries, err := os.ReadDir(d.save); len(entries) > 0 || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return cli.Refuse("demo", "save", "must not exist yet, or be an empty folder", d.save)
	}
	people := census.CSV(0, census.People)
	d.parsed = census.Schema()
	read := func() (*dataset.Table, error) {
		return dataset.Read(ctx, d.parsed, dataset.Options{Stdin: bytes.NewReader(people)}, "-")
	}
	if d.schema != "" {
		s, _, err := commands.LoadSchema(d.schema)
		if err != nil {
			return err
		}
		d.parsed, read = s, func() (*dataset.Table, error) { return d.ReadTable(ctx, s, d.data) }
	}
	if len(d.parsed.Label.Levels) != 2 {
		return cli.Refuse("demo", "schema", "must have a label of two classes", len(d.parsed.Label.Levels))
	}
	tab, err := read()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(d.save, 0o700); err != nil {
		return err
	}
	if d.schema == "" {
		d.data = []string{d.path("census.csv")}
		if err := os.WriteFile(d.data[0], people, 0o600); err != nil {
			return err
		}
	}
	d.units = make([]int, tab.Rows)
	for i := range d.units {
		d.units[i] = i
		if tab.Persons != nil {
			d.units[i] = int(tab.Persons[i])
			if tab.Persons[i] == dataset.Nobody {
				d.units[i] = -1
			}
		}
	}
	d.script.WriteString("# Every command of this demo, in order; & marks a service. Run them in this folder.\n")
	return d.deal(ctx, "held-out.csv", func(unit int) bool { return unit%2 == 1 && (!auxiliary || unit%4 == 3) })
}

// writePrivateSchema writes the schema with every column private.
func (d *demo) writePrivateSchema() error {
	s := *d.parsed
	s.Columns = slices.Clone(s.Columns)
	for j := range s.Columns {
		if s.Columns[j].Role == schema.Public {
			s.Columns[j].Role = schema.Private
		}
	}
	s.Label.Role = schema.Private
	if d.schema == "" {
		s.Relation = dp.AddRemove // no site tells how many rows it has
	}
	text, err := s.YAML()
	if err != nil {
		return err
	}
	if d.written, err = schema.Parse(text); err != nil {
		return err
	}
	d.say("All agree on one schema, in which every column is private: " + schemaFile + ".")
	return d.write(schemaFile, string(text))
}

// writeSchema writes the schema as it is.
func (d *demo) writeSchema() error {
	text, err := d.parsed.YAML()
	if err != nil {
		return err
	}
	d.written = d.parsed
	d.say("All agree on one schema: " + schemaFile + ".")
	return d.write(schemaFile, string(text))
}

// dealMembers writes each institution's rows, and all of them in one table.
func (d *demo) dealMembers(ctx context.Context) error {
	for i, name := range d.names() {
		if err := d.deal(ctx, name+".csv", func(unit int) bool { return unit%2 == 0 && unit/2%d.members == i }); err != nil {
			return err
		}
	}
	return d.deal(ctx, "pooled.csv", func(unit int) bool { return unit%2 == 0 })
}

// count returns how many rows, or persons, satisfy a condition.
func (d *demo) count(of func(unit int) bool) int {
	found := map[int]bool{}
	for _, unit := range d.units {
		if of(unit) {
			found[unit] = true
		}
	}
	return len(found)
}

// deal writes the rows that satisfy a condition.
func (d *demo) deal(ctx context.Context, name string, of func(unit int) bool) error {
	f, err := os.OpenFile(d.path(name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	err = dataset.CopyRows(ctx, d.parsed, dataset.Options{}, f, dataset.CSV, nil, func(row int) bool { return of(d.units[row]) },
		d.data...)
	return errors.Join(err, f.Close())
}
