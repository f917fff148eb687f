// SPDX-License-Identifier: Apache-2.0

package evaluation

import (
	"fmt"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cut assigns each row to its cells. The new table has one row for each row of t, which depends on
// that row alone: its label, its person, and its cell in each partition (1.1).
func (pl *Plan) Cut(t *dataset.Table) (*dataset.Table, error) {
	if t.Labels == nil {
		return nil, fmt.Errorf("evaluate: the table must have labels")
	}
	scores := make([][]float64, len(pl.Models))
	for i, m := range pl.Models {
		p, err := m.Bind(t.Schema)
		if err != nil {
			return nil, err
		}
		if scores[i], err = p.Scores(t.Cols, t.Rows); err != nil {
			return nil, err
		}
	}
	codes := make([][]uint32, len(pl.parts))
	for k := range codes {
		codes[k] = make([]uint32, t.Rows)
	}
	width := pl.Models[0].Width()
	row, out := make([][]float64, len(scores)), make([]uint32, len(codes))
	for i, y := range t.Labels {
		for k := range scores {
			row[k] = scores[k][i*width:][:width]
		}
		pl.cutRow(row, int(y), out)
		if pl.groups != nil { // each group has the cells of one partition
			group := t.Cols[pl.by].Codes.At(i)
			if pl.byLabel() {
				out[0] += group * uint32(pl.grid.cells())
			} else {
				out[0] += group * uint32(2*pl.grid.cells())
			}
		}
		for k, c := range out {
			codes[k][i] = c
		}
	}
	cut := &dataset.Table{Schema: pl.cellSchema(), Rows: t.Rows, Labels: t.Labels, Persons: t.Persons}
	for k, of := range codes {
		cut.Cols = append(cut.Cols, column.Column{Codes: column.Narrow(of, pl.parts[k].cells)})
	}
	return cut, nil
}

// cutRow writes the cells of one row, given each model's scores and the label.
func (pl *Plan) cutRow(scores [][]float64, y int, out []uint32) {
	bit := func(x bool) int {
		if x {
			return 1
		}
		return 0
	}
	l, g := &pl.schema.Label, &pl.grid
	switch {
	case pl.byLabel() && len(scores) == 1:
		out[0] = uint32(g.cell(scores[0][0]))
	case pl.byLabel():
		out[0] = uint32(g.cell(scores[0][0])*g.cells() + g.cell(scores[1][0]))
	case len(scores) == 2:
		out[0] = uint32(2*(g.cell(scores[0][0])*g.cells()+g.cell(scores[1][0])) + bit(y == l.Positive))
	case len(l.Levels) == 2:
		out[0] = uint32(2*g.cell(scores[0][0]) + bit(y == l.Positive))
	default:
		for k := range l.Levels {
			out[k] = uint32(2*g.cell(scores[0][k]) + bit(y == k))
		}
		out[len(l.Levels)] = uint32(bit(y == feature.ArgMax(scores[0])))
	}
}

// cellSchema returns the schema of the table that Cut makes. Its columns are public only if a cell
// follows from public columns (1.2).
func (pl *Plan) cellSchema() *schema.Schema {
	s := &schema.Schema{Name: pl.schema.Name, Unit: pl.schema.Unit, Relation: pl.schema.Relation,
		Person: pl.schema.Person, Label: pl.schema.Label}
	for _, p := range pl.parts {
		c := schema.Column{Name: p.name, Role: schema.Private, Kind: schema.Category}
		cells := p.cells
		if pl.byLabel() {
			c.Role, cells = schema.Public, cells/2
		}
		for i := range cells {
			c.Levels = append(c.Levels, schema.Level{Value: strconv.Itoa(i)})
		}
		s.Columns = append(s.Columns, c)
	}
	return s
}
