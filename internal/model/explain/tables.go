// SPDX-License-Identifier: Apache-2.0

package explain

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

const (
	shownTables = 15 // per model of grids, the strongest
	shownCells  = 5  // per table, the strongest
	namedLevels = 4  // named for each part of a category
)

// Use is the total contribution of the tables of a model of grids that read a column.
type Use struct {
	Column    string `json:"column"`
	Protected bool   `json:"protected"` // whether the model's guarantee covers the column
	Tables    int    `json:"tables"`
	// Importance is the sum of the tables' importances.
	Importance float64 `json:"importance"`
}

// Table is one table of a model of grids.
type Table struct {
	Columns []string `json:"columns"`
	// Importance is the mean of |log-odds| over cells, each counted once, and over classes if there
	// are more than two.
	Importance float64     `json:"importance"`
	Cells      []TableCell `json:"strongest_cells"` // the largest first
}

// TableCell is one step of a table.
type TableCell struct {
	Where   []string `json:"where"` // by column: numbers or levels
	Class   string   `json:"level,omitempty"`
	LogOdds float64  `json:"log_odds"`
}

// addGrids explains a model of grids by its strongest tables, and by the total contribution of the
// tables that read each column.
func (e *Explanation) addGrids(m *model.Model, g *model.Grids) {
	if len(g.Intercepts) == 1 {
		e.Intercept = g.Intercepts[0]
	} else {
		e.addStarts(m, g.Intercepts)
	}
	uses := map[string]*Use{}
	for k := range g.Grids {
		t := tableOf(m, &g.Grids[k])
		for _, name := range t.Columns {
			u := uses[name]
			if u == nil {
				u = &Use{Column: name,
					Protected: protectsRole(m.Privacy.Scope, m.Schema.Columns[m.Schema.Find(name)].Role)}
				uses[name] = u
			}
			u.Tables++
			u.Importance += t.Importance
		}
		e.Tables = append(e.Tables, t)
	}
	for _, u := range uses {
		e.Uses = append(e.Uses, *u)
	}
	slices.SortFunc(e.Uses, func(a, b Use) int {
		return cmp.Or(cmp.Compare(b.Importance, a.Importance), cmp.Compare(a.Column, b.Column))
	})
	slices.SortStableFunc(e.Tables, func(a, b Table) int { return cmp.Compare(b.Importance, a.Importance) })
	e.TableCount = len(e.Tables)
	e.Tables = slices.Clip(e.Tables[:min(shownTables, len(e.Tables))])
}

func tableOf(m *model.Model, g *model.Grid) Table {
	t := Table{}
	var parts [][]string // by axis: what a part holds
	for i := range g.Axes {
		c := &m.Schema.Columns[m.Schema.Find(g.Axes[i].Column)]
		t.Columns = append(t.Columns, c.Name)
		parts = append(parts, partNames(c, &g.Axes[i]))
	}
	for k, steps := range g.Steps {
		class := ""
		if len(g.Steps) > 1 {
			class = m.Schema.Label.Levels[k].Value
		}
		t.Importance += meanSize(steps) / float64(len(g.Steps))
		for cell, z := range steps {
			where := make([]string, len(parts))
			for i, at := 0, cell; i < len(parts); i++ {
				where[i] = parts[i][at%len(parts[i])]
				at /= len(parts[i])
			}
			t.Cells = append(t.Cells, TableCell{where, class, z})
		}
	}
	slices.SortStableFunc(t.Cells, func(a, b TableCell) int {
		return cmp.Compare(math.Abs(b.LogOdds), math.Abs(a.LogOdds))
	})
	t.Cells = slices.Clip(t.Cells[:min(shownCells, len(t.Cells))])
	return t
}

// partNames describes the content of each part of an axis.
func partNames(c *schema.Column, a *model.GridAxis) (names []string) {
	if c.Kind != schema.Category {
		for p := range len(a.Edges) + 1 + c.Marks() {
			names = append(names, cutOf(c, a.Edges, p).String())
		}
		return names
	}
	levels := make([][]string, slices.Max(a.Parts)+1)
	levels = append(levels, make([][]string, max(0, 2-len(levels)))...)
	for code, p := range a.Parts {
		levels[p] = append(levels[p], c.CodeName(code))
	}
	for _, list := range levels {
		more := ""
		if n := len(list) - namedLevels; n > 0 {
			list, more = list[:namedLevels], fmt.Sprintf(" and %d more", n)
		}
		names = append(names, strings.Join(list, ", ")+more)
	}
	return names
}

// useRank is a line in the list of importance of a model of grids.
type useRank struct {
	Use
	Share float64
}

func (e *Explanation) rankUses() (out []useRank) {
	for _, u := range e.Uses {
		r := useRank{Use: u}
		if most := e.Uses[0].Importance; most > 0 {
			r.Share = 100 * u.Importance / most
		}
		out = append(out, r)
	}
	return out
}

// tableFigure is the figure of a table on the page.
type tableFigure struct {
	*Table
	ID, Title string
	Number    int
}

func (e *Explanation) tableFigures() (out []tableFigure) {
	for i := range e.Tables {
		t := &e.Tables[i]
		out = append(out, tableFigure{t, "table-" + strconv.Itoa(i+1), strings.Join(t.Columns, " × "), i + 1})
	}
	return out
}
