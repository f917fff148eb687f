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
	Tables      []Table
	Charts      []Chart
}

// Table is a table with a head. The first cell of a row names the row.
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
