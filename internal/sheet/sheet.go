// SPDX-License-Identifier: Apache-2.0

// Package sheet writes pages of numbers and charts that load nothing: light and dark, on screens and on
// paper.
package sheet

import (
	_ "embed"
	"html/template"
	"io"
)

// Sheet is a page.
type Sheet struct {
	Title string
	// Alarm is a warning in red above all else; "" for none. Lead is what a reader must know first.
	Alarm, Lead string
	Tables      []Table
	Charts      []Chart
}

// Table is rows of cells below a head. The first cell of a row names it.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
	Note  string
}

//go:embed sheet.html.tmpl
var layout string

var page = template.Must(template.New("sheet").Parse(layout))

// WriteHTML writes the page.
func (s *Sheet) WriteHTML(w io.Writer) error {
	view := struct {
		*Sheet
		Drawn []*drawnChart
	}{Sheet: s}
	for i := range s.Charts {
		d, err := s.Charts[i].draw()
		if err != nil {
			return err
		}
		view.Drawn = append(view.Drawn, d)
	}
	return page.Execute(w, view)
}
