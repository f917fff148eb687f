// SPDX-License-Identifier: Apache-2.0

//go:build !js

package explain

import (
	"math"
	"strconv"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// classFigure is the figure of one column on the page, with one cell per bin and class.
type classFigure struct {
	*ClassShape
	ID     string
	Source string
	Share  float64 // in percent of the most important column's importance
	Rows   []classRow
	Banded bool
	Small  []smallDrawing // for a number, by class
	Heads  []classRow     // for a category: the rows with the largest cells
	Folded bool           // shown only when opened: the column is not among the most important
}

type classRow struct {
	Name  string
	Cells []classCell
}

type classCell struct {
	LogShare, Deviation float64
	Tint                string // CSS class of the cell
}

// tints is the number of shades on each side of zero. Each stands for one more doubling of the odds,
// the last for everything beyond.
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
			row := classRow{Name: b.String()}
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
		f.Source = e.describeSource(sh.Protected, string(sh.Role))
		out = append(out, f)
	}
	return out
}
