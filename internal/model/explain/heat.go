// SPDX-License-Identifier: Apache-2.0

//go:build !js

package explain

import "math"

// heat holds what the page needs to draw one pair: one row for each bin of the column with more bins.
type heat struct {
	Width, Height            float64
	Left, Right, Top, Bottom float64
	LabelX, TitleY           float64
	Across, Down             string // the columns' names
	Rows                     []heatRow
	X                        []tick // of a number, at the edges between cells
	Names                    []tick // of a category, under its cells
	Key                      []key
	KeyY, KeySize            float64
}

type heatRow struct {
	Name, Full string
	Middle     float64
	Tiles      []tile
}

// tile is a cell with the colour of its step.
type tile struct {
	At, Top, Width, Height float64
	Up                     bool    // the step is for the positive level
	Strength               float64 // 0 to 1
	Doubtful               bool    // within one standard deviation of zero
	Text                   string
}

// key is a colour in the legend.
type key struct {
	At, Middle float64
	Up         bool
	Strength   float64
	Text       string
}

// strongestStep is the largest step of all pairs, which makes their colours comparable; at least one
// hundredth of a nat.
func strongestStep(pairs []Pair) float64 {
	most := 0.01
	for i := range pairs {
		for _, row := range pairs[i].Cells {
			for _, c := range row {
				most = max(most, math.Abs(c.LogOdds))
			}
		}
	}
	return most
}

func drawPair(p *Pair, most float64) *heat {
	const row = 20.0
	d := &heat{Width: drawingWidth, Left: 124, Right: 348, Top: 26, LabelX: 116, TitleY: 14,
		Down: shortenName(p.Columns[0], 18), Across: shortenName(p.Columns[1], 34)}
	rows, across := p.Bins[0], p.Bins[1]
	at := func(r, c int) Cell { return p.Cells[r][c] }
	if len(across) > len(rows) {
		rows, across = across, rows
		d.Down, d.Across = shortenName(p.Columns[1], 18), shortenName(p.Columns[0], 34)
		at = func(r, c int) Cell { return p.Cells[c][r] }
	}
	d.Bottom = d.Top + row*float64(len(rows))
	width := (d.Right - d.Left) / float64(len(across))
	for r := range rows {
		top := d.Top + row*float64(r)
		out := heatRow{Full: rows[r].String(), Name: shortenName(rows[r].String(), 17), Middle: top + row/2 + 4}
		for c := range across {
			cell := at(r, c)
			t := tile{At: d.Left + float64(c)*width, Top: top, Width: width, Height: row, Up: cell.LogOdds > 0,
				Strength: math.Abs(cell.LogOdds) / most, Doubtful: cell.Deviation > 0 && math.Abs(cell.LogOdds) <= cell.Deviation}
			t.Text = rows[r].String() + ", " + across[c].String() + ": " + formatNats(cell.LogOdds)
			if cell.Deviation > 0 {
				t.Text += " ± " + formatSize(cell.Deviation)
			}
			out.Tiles = append(out.Tiles, t)
		}
		d.Rows = append(d.Rows, out)
	}
	below := 24.0
	if across[0].From != nil {
		free := 0.0
		for c := range len(across) + 1 {
			x := d.Left + float64(c)*width
			text := briefNumber(*across[len(across)-1].To)
			if c < len(across) {
				text = briefNumber(*across[c].From)
			}
			half := letter * float64(len([]rune(text))) / 2
			t := tick{At: x, From: min(max(x, d.Left+half-20), d.Width-half)}
			if t.From-half > free {
				t.Text, free = text, t.From+half+6
			}
			d.X = append(d.X, t)
		}
	} else {
		longest, free := 0, math.Inf(-1)
		for c := range across {
			t := tick{At: d.Left + (float64(c)+0.5)*width, Text: shortenName(across[c].String(), 15)}
			if t.At-free < 11 {
				continue
			}
			free = t.At
			longest = max(longest, len([]rune(t.Text)))
			d.Names = append(d.Names, t)
		}
		below = letter*float64(longest) + 16
	}
	d.KeyY, d.KeySize = d.Bottom+below, (d.Right-d.Left)/5
	for k, part := range []float64{-1, -0.5, 0, 0.5, 1} {
		x := d.Left + float64(k)*d.KeySize
		d.Key = append(d.Key, key{At: x, Middle: x + d.KeySize/2, Up: part > 0, Strength: math.Abs(part),
			Text: signedNumber(roundTo(part*most, 2))})
	}
	d.Height = d.KeyY + 32
	return d
}

// roundTo rounds to the given number of decimals.
func roundTo(x float64, digits int) float64 {
	p := math.Pow(10, float64(digits))
	return math.Round(x*p) / p
}
