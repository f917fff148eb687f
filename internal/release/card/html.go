// SPDX-License-Identifier: Apache-2.0

package card

import (
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/yamltext"
)

//go:embed page.css
var style string

// WriteHTML writes the card as one self-contained page. On paper each sheet says which model it is of.
func (c *Card) WriteHTML(w io.Writer) error {
	var b strings.Builder
	text := html.EscapeString
	class := "lead"
	if !c.isPrivate() {
		class += " alarm"
	}
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>%s</title>
<style>
%s@page{@bottom-left{content:"%.16s"}}
</style>
</head>
<body>
<main>
<h1>%s</h1>
<p class="%s">%s</p>
`, text(c.title()), style, text(c.Checksum), text(c.title()), class, text(c.lead()))
	for _, s := range c.sections() {
		fmt.Fprintf(&b, "<section>\n<h2>%s</h2>\n<dl>\n", text(s.Title))
		for _, l := range s.Lines {
			fmt.Fprintf(&b, "<dt>%s</dt>\n<dd>", text(l.Key))
			for _, t := range l.Text {
				fmt.Fprintf(&b, "<p>%s</p>", text(t))
			}
			b.WriteString("</dd>\n")
		}
		b.WriteString("</dl>\n</section>\n")
	}
	b.WriteString("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// Format returns the function that writes the card as html, yaml or a record of the registry; nil for another
// name.
func (c *Card) Format(name string) func(io.Writer) error {
	return map[string]func(io.Writer) error{"html": c.WriteHTML, "yaml": c.WriteYAML, "registry": c.WriteRegistry}[name]
}

func (c *Card) title() string { return "Privacy card: " + c.Predicts + " from " + c.Dataset }

// WriteYAML writes the facts for programs.
func (c *Card) WriteYAML(w io.Writer) error { return writeYAML(w, c) }

func writeYAML(w io.Writer, v any) error {
	text, err := yamltext.Encode(v)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}
