// SPDX-License-Identifier: Apache-2.0

// Package sheet writes self-contained pages of numbers and charts: in light and dark colours, for
// screens and for paper.
package sheet

import (
	_ "embed"
	"html/template"
	"io"
)

// Sheet is a page.
type Sheet struct {
	Title string
	// Alarm is a red warning at the top; "" for none. Lead is the most important information for a
	// reader.
	Alarm, Lead string
	Parts       []Part
}

// Part is a part of a page under a title: sentences, a table, charts, and tables of which the reader picks one.
type Part struct {
	Title string
	Text  []string
	Table
	Charts []Chart
	Picks  *Picks
}

// Table is a table with a head. The first cell of a row names the row.
type Table struct {
	Head []string
	Rows [][]string
	Note string
}

// Picks are tables of which one is shown. The arrow keys move between them.
type Picks struct {
	Label  string // what is picked
	First  int    // the one that is shown first
	Tables []Pick
}

// Pick is one of them, with the name that its button has.
type Pick struct {
	Name string
	Table
}

//go:embed sheet.html.tmpl
var layout string

var page = template.Must(template.New("sheet").Parse(layout))

// WriteHTML writes the page.
func (s *Sheet) WriteHTML(w io.Writer) error {
	type part struct {
		*Part
		Drawn []*drawnChart
	}
	view := struct {
		*Sheet
		Parts []part
	}{Sheet: s}
	for i := range s.Parts {
		p := part{Part: &s.Parts[i]}
		for k := range p.Charts {
			d, err := p.Charts[k].draw()
			if err != nil {
				return err
			}
			p.Drawn = append(p.Drawn, d)
		}
		view.Parts = append(view.Parts, p)
	}
	return page.Execute(w, view)
}
