// SPDX-License-Identifier: Apache-2.0

// Package sheet writes self-contained pages of numbers and charts: in light and dark colours, for
// screens and for paper.
package sheet

import (
	"bytes"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"github.com/discreet-dp/discreet/internal/plot"
)

// Sheet is a page.
type Sheet struct {
	Title string
	// Alarm is a red warning at the top; "" for none. Lead is the most important information for a
	// reader.
	Alarm, Lead string
	Tables      []Table
	Charts      []*plot.Lines
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
	type chart struct {
		Title, Subtitle string
		Source          template.URL
	}
	view := struct {
		*Sheet
		Drawn []chart
	}{Sheet: s}
	for _, c := range s.Charts {
		var svg bytes.Buffer
		if err := c.WriteSVG(&svg); err != nil {
			return fmt.Errorf("sheet: %s: %w", c.Title, err)
		}
		data := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(svg.Bytes())
		view.Drawn = append(view.Drawn, chart{c.Title, c.Subtitle, template.URL(data)})
	}
	return page.Execute(w, view)
}
