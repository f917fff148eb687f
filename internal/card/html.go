// SPDX-License-Identifier: Apache-2.0

package card

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"

	"github.com/goccy/go-yaml"
)

//go:embed page.html.tmpl
var layout string

var page = template.Must(template.New("card").Parse(layout))

// WriteHTML writes the card as one page that loads nothing.
func (c *Card) WriteHTML(w io.Writer) error {
	var b bytes.Buffer
	view := map[string]any{"Title": c.title(), "Lead": c.lead(), "Private": c.isPrivate(), "Sections": c.sections()}
	if err := page.Execute(&b, view); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (c *Card) title() string { return "Privacy card: " + c.Predicts + " from " + c.Dataset }

// Format returns what writes the card as html, pdf, yaml or as a record of the registry; nil for another
// name.
func (c *Card) Format(name string) func(io.Writer) error {
	return map[string]func(io.Writer) error{"html": c.WriteHTML, "pdf": c.WritePDF, "yaml": c.WriteYAML,
		"registry": c.WriteRegistry}[name]
}

// WriteYAML writes the facts for programs.
func (c *Card) WriteYAML(w io.Writer) error { return writeYAML(w, c) }

func writeYAML(w io.Writer, v any) error {
	text, err := yaml.MarshalWithOptions(v, yaml.UseLiteralStyleIfMultiline(true))
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
