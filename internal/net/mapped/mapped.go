// SPDX-License-Identifier: Apache-2.0

// Package mapped reads tables whose files differ in names, spellings, units and formats from a schema
// that several institutions share. Each row is translated separately, so that guarantees are
// unaffected.
package mapped

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/ground/yamltext"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Map describes how a site's files differ from the shared schema.
type Map struct {
	// Files is the schema for reading the files.
	Files *schema.Schema

	shared *schema.Schema
	of     form
}

// form is the file format of a map.
type form struct {
	File    *dialect       `yaml:"file"`
	Columns map[string]own `yaml:"columns"` // by their shared names, including the label's
}

// dialect is the text format of the site's files, which have a header.
type dialect struct {
	Delimiter string   `yaml:"delimiter"`
	Quote     string   `yaml:"quote"`
	Encoding  string   `yaml:"encoding"`
	Decimal   string   `yaml:"decimal"`
	Thousands string   `yaml:"thousands"`
	Minus     string   `yaml:"minus"`
	Trim      bool     `yaml:"trim"`
	Missing   []string `yaml:"missing"`
}

// own describes a column of the site.
type own struct {
	Name   string            `yaml:"name"`   // in the files
	Levels map[string]string `yaml:"levels"` // from the site's spelling to the shared level
	Format string            `yaml:"format"` // of dates
	Divide float64           `yaml:"divide"` // > 0: a cell divided by it has the shared unit
}

// Load reads a map to a shared schema. Its errors quote only words of the schema, because the file may
// be another one.
func Load(path string, shared *schema.Schema) (*Map, error) {
	f, err := openfile.Regular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, yamltext.MaxBytes+1))
	if err != nil {
		return nil, err
	}
	m := &Map{shared: shared}
	if yamltext.Decode("map", text, &m.of) != nil || len(m.of.Columns) == 0 && m.of.File == nil {
		return nil, fmt.Errorf("map: %s must be a map of a site's columns, with its keys and no others (docs/sites-protocol.md)", path)
	}
	if err := m.derive(); err != nil {
		return nil, fmt.Errorf("map: %s: %w", path, err)
	}
	return m, nil
}

// derive makes Files from the shared schema.
func (m *Map) derive() error {
	s, err := m.copyShared()
	if err != nil {
		return err
	}
	if d := m.of.File; d != nil {
		if d.Minus != "" && d.Minus != "trailing" {
			return errors.New("minus must be trailing, or left out")
		}
		s.Dialect = schema.Dialect{Delimiter: first(d.Delimiter), Quote: first(d.Quote), Header: true, Encoding: d.Encoding,
			Decimal: first(d.Decimal), Thousands: first(d.Thousands), TrailingMinus: d.Minus != "", Trim: d.Trim, Missing: d.Missing}
	}
	if !s.Dialect.Header {
		return errors.New("the shared schema must have files with a header, or the map a part file")
	}
	for name, as := range m.of.Columns {
		bad := func(want string) error { return fmt.Errorf("column %q %s", name, want) }
		if name == s.Label.Name {
			if as.Format != "" || as.Divide != 0 {
				return bad("is the label, which has a name and levels alone")
			}
			s.Label.Name = cmp.Or(as.Name, name)
			if s.Label.Levels, err = respell(s.Label.Levels, as.Levels); err != nil {
				return bad(err.Error())
			}
			continue
		}
		at := slices.IndexFunc(m.shared.FileColumns(), func(c schema.Column) bool { return c.Name == name })
		if at < 0 {
			return errors.New("each of columns must be a column of the shared schema's files, or its label")
		}
		c := &s.Columns[at]
		switch {
		case as.Levels != nil && c.Kind != schema.Category:
			return bad("has no levels in the shared schema")
		case as.Format != "" && c.Date == "":
			return bad("is no date in the shared schema")
		case as.Divide != 0 && (c.Kind != schema.Number || c.Date != ""):
			return bad("is no number in the shared schema")
		case as.Divide != 0 && (!(as.Divide > 0) || math.IsInf(as.Divide, 0)):
			return bad("must be divided by a number > 0")
		case as.Divide != 0 && (len(c.Special) > 0 || slices.ContainsFunc(s.Columns, func(d schema.Column) bool {
			return slices.Contains(d.From, at)
		})):
			return bad("cannot be divided: it has special values, or another column follows from it")
		}
		if s.Parts == name {
			s.Parts = cmp.Or(as.Name, name)
		}
		if s.Person != nil && s.Person.Column == name {
			s.Person.Column = cmp.Or(as.Name, name)
		}
		c.Name, c.Date = cmp.Or(as.Name, name), cmp.Or(as.Format, c.Date)
		if c.Levels, err = respell(c.Levels, as.Levels); err != nil {
			return bad(err.Error())
		}
		if as.Divide != 0 {
			widen(c, as.Divide)
		}
	}
	text, err := s.YAML()
	if err == nil {
		m.Files, err = schema.Parse(text) // which finds what does not fit together
	}
	return err
}

func (m *Map) copyShared() (*schema.Schema, error) {
	text, err := m.shared.YAML()
	if err != nil {
		return nil, err
	}
	return schema.Parse(text)
}

func first(text string) rune {
	if text == "" {
		return 0
	}
	c, _ := utf8.DecodeRuneInString(text)
	return c
}

// respell replaces the spellings of levels by the site's. A level without one keeps the shared
// spellings.
func respell(levels []schema.Level, as map[string]string) ([]schema.Level, error) {
	if as == nil {
		return levels, nil
	}
	out := slices.Clone(levels)
	used := 0
	for k := range out {
		l := &out[k]
		var own []string
		for _, spelling := range slices.Sorted(maps.Keys(as)) {
			if as[spelling] == levels[k].Value {
				own = append(own, spelling)
			}
		}
		if used += len(own); len(own) > 0 {
			l.Value, l.Aliases = own[0], own[1:]
			continue
		}
		for _, spelling := range append([]string{l.Value}, l.Aliases...) {
			if _, taken := as[spelling]; taken {
				return nil, fmt.Errorf("must say how %q is spelt, whose shared spelling has another meaning", l.Value)
			}
		}
	}
	if used != len(as) {
		return nil, errors.New("must name levels of the shared schema")
	}
	return out, nil
}

// widen makes a number's bounds so wide that Convert clamps exactly to the shared bounds.
func widen(c *schema.Column, by float64) {
	c.Lower, c.Upper = c.Lower*by, c.Upper*by
	for range 4 { // more than two roundings
		c.Lower, c.Upper = math.Nextafter(c.Lower, math.Inf(-1)), math.Nextafter(c.Upper, math.Inf(1))
	}
	if c.Default != nil {
		d := *c.Default * by
		c.Default = &d
	}
	c.Integer, c.Transform, c.Edges, c.Quantiles = false, schema.Identity, nil, false
}

// Convert converts a table that was read with Files to the table of the shared schema. The result is
// the same as from files in shared terms.
func (m *Map) Convert(t *dataset.Table) *dataset.Table {
	out := *t
	out.Schema, out.Cols = m.shared, slices.Clone(t.Cols)
	for j := range m.shared.Columns {
		if as := m.of.Columns[m.shared.Columns[j].Name]; as.Divide != 0 {
			divide(&out.Cols[j], &m.shared.Columns[j], as.Divide)
		}
	}
	return &out
}

// divide converts a column to the shared unit. Codes stay in the order of their first appearance.
func divide(of *column.Column, c *schema.Column, by float64) {
	type cell struct {
		value float64
		mark  uint8
	}
	codes, to := map[cell]uint32{}, make([]uint32, len(of.Values))
	var values []float64
	var marks []uint8
	for code, x := range of.Values {
		next := cell{value: c.Clamp(quotient(x, by))}
		if of.Marks != nil {
			next.mark = of.Marks[code]
		}
		if next.mark != 0 {
			next.value = *c.Default // there is one beside marks
		}
		at, seen := codes[next]
		if !seen {
			at = uint32(len(values))
			codes[next], values = at, append(values, next.value)
			if of.Marks != nil {
				marks = append(marks, next.mark)
			}
		}
		to[code] = at
	}
	read := make([]uint32, of.Codes.Len())
	of.Codes.Read(0, read)
	for i, code := range read {
		read[i] = to[code]
	}
	*of = column.Column{Codes: column.Narrow(read, len(values)), Values: values, Marks: marks}
}

// quotient returns the float64 nearest to the quotient of two decimal numbers.
func quotient(x, by float64) float64 {
	a, _ := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64)) // finite, like by, which is not 0
	b, _ := new(big.Rat).SetString(strconv.FormatFloat(by, 'g', -1, 64))
	out, _ := a.Quo(a, b).Float64()
	return out
}

// Words describes the map, one sentence per column.
func (m *Map) Words() (lines []string) {
	for _, name := range slices.Sorted(maps.Keys(m.of.Columns)) {
		as := m.of.Columns[name]
		line := fmt.Sprintf("Column %q of the files is %q", cmp.Or(as.Name, name), name)
		if as.Divide != 0 {
			line += fmt.Sprintf(", divided by %g", as.Divide)
		}
		if as.Format != "" {
			line += ", with dates written " + as.Format
		}
		var levels []string
		for _, spelling := range slices.Sorted(maps.Keys(as.Levels)) {
			levels = append(levels, fmt.Sprintf("%q is %q", spelling, as.Levels[spelling]))
		}
		if len(levels) > 0 {
			line += "; " + strings.Join(levels, ", ")
		}
		lines = append(lines, line+".")
	}
	return lines
}
