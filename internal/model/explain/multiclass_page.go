// SPDX-License-Identifier: Apache-2.0

//go:build !js

package explain

import (
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// classFigure is a column of the page, one cell per bin and class.
type classFigure struct {
	*ClassShape
	ID     string
	Source string
	Share  float64 // of the most important column's importance, percent
	Rows   []classRow
	Banded bool
	Small  []smallDrawing // of a number, by class
	Heads  []classRow     // of a category: the rows with the largest cells
	Folded bool           // shown when it is opened: the column is none of the most important
}

type classRow struct {
	Name  string
	Cells []classCell
}

type classCell struct {
	LogShare, Deviation float64
	Tint                string // CSS class of the cell
}

// tints is the number of shades on each side of zero; one more for each
// doubling of the odds, the last for all beyond.
const tints = 6

func tintOf(z float64) string {
	shade := int(math.Round(math.Abs(z) / math.Ln2))
	switch {
	case shade == 0:
		return ""
	case z > 0:
		return "up" + strconv.Itoa(min(shade, tints))
	}
	return "down" + strconv.Itoa(min(shade, tints))
}

func (e *Explanation) classFigures() (out []classFigure) {
	for i := range e.ClassShapes {
		sh := &e.ClassShapes[i]
		f := classFigure{ClassShape: sh, ID: "column-" + strconv.Itoa(i+1)}
		if most := e.ClassShapes[0].Importance; most > 0 {
			f.Share = 100 * sh.Importance / most
		}
		for _, b := range sh.Bins {
			row := classRow{Name: Cut{b.Level, b.From, b.To}.String()}
			for k, z := range b.LogShares {
				row.Cells = append(row.Cells, classCell{z, b.Deviations[k], tintOf(z)})
				f.Banded = f.Banded || b.Deviations[k] > 0
			}
			f.Rows = append(f.Rows, row)
		}
		f.Folded = i >= shownColumns
		if sh.Kind == schema.Category {
			f.Heads = largestRows(f.Rows)
		} else {
			f.Small = e.drawClasses(sh)
		}
		f.Source = e.describeSource(sh.Protected, string(sh.Role), f.Banded)
		out = append(out, f)
	}
	return out
}
