// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"html/template"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// chart is a figure.svg made ready to stand inside the page.
type chart struct {
	svg template.HTML // empty for none
}

// drawn is what charts are made of: elements with the attributes they keep.
// Anything else, scripts and references above all, is refused, so a chart from
// a stranger's folder can do nothing to the page. Names of fonts are left to
// the page.
var drawn = map[string][]string{
	"svg":   {"viewBox", "role"},
	"title": nil,
	"desc":  nil,
	"g":     {"transform"},
	"path":  {"d", "style"},
	"text":  {"x", "y", "transform", "style"},
}

// dropped are attributes that mean nothing inside a page.
var dropped = []string{"width", "height", "xmlns", "xlink"}

var (
	plain  = regexp.MustCompile(`^[-+.,0-9A-Za-z ()]*$`)
	styled = regexp.MustCompile(`^(?:[a-z-]+:[-#.,0-9A-Za-z ']*(?:;|$))*$`)
	hex    = regexp.MustCompile(`#[0-9A-Fa-f]{6}\b`)
	family = regexp.MustCompile(`font-(?:family|variant|style):[^;]*;`)
)

var errNoChart = errors.New("must be a chart as experiments draw it")

// readChart copies a chart element by element, with its colours named so that
// the page can give them other values in the dark.
func readChart(text []byte) (chart, error) {
	var b strings.Builder
	d := xml.NewDecoder(bytes.NewReader(text))
	depth, roots := 0, 0
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return chart{}, fmt.Errorf("%w: %w", errNoChart, err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if (depth == 0) != (t.Name.Local == "svg") {
				return chart{}, fmt.Errorf("%w: svg must be its outermost element and no other", errNoChart)
			}
			if depth == 0 {
				roots++
			}
			depth++
			if err := openElement(&b, t); err != nil {
				return chart{}, err
			}
		case xml.EndElement:
			depth--
			b.WriteString("</" + t.Name.Local + ">")
			if t.Name.Local != "text" && t.Name.Local != "path" {
				b.WriteByte('\n')
			}
		case xml.CharData:
			if s := string(t); depth > 0 && strings.TrimSpace(s) != "" {
				b.WriteString(html.EscapeString(s))
			}
		}
	}
	if roots != 1 {
		return chart{}, errNoChart
	}
	return chart{template.HTML(b.String())}, nil
}

func openElement(b *strings.Builder, t xml.StartElement) error {
	keep, known := drawn[t.Name.Local]
	if !known {
		return fmt.Errorf("%w: element %s is none of its kind", errNoChart, t.Name.Local)
	}
	b.WriteString("<" + t.Name.Local)
	for _, a := range t.Attr {
		name, value := a.Name.Local, a.Value
		allowed := plain
		if name == "style" {
			allowed = styled
		}
		switch {
		case slices.Contains(dropped, name) || a.Name.Space == "xmlns":
			continue
		case !slices.Contains(keep, name) || !allowed.MatchString(value):
			return fmt.Errorf("%w: attribute %s of %s is none of its kind", errNoChart, name, t.Name.Local)
		case name == "style":
			value = renameColours(family.ReplaceAllString(value, ""))
		}
		fmt.Fprintf(b, ` %s="%s"`, name, html.EscapeString(value))
	}
	b.WriteString(">")
	return nil
}

// colour is one that charts use, and its name and value on this page.
type colour struct {
	light uint32
	name  string
	dark  uint32
}

// colours are those of package plot. The dark ones were searched for like the
// light ones there: apart for all eyes, and legible (TestDarkColours).
var colours = []colour{
	{0xFFFFFF, "paper", 0x15191D},
	{0x1F2328, "ink", 0xE6E8EA},
	{0x59636E, "quiet", 0xA7B0BA},
	{0xE3E6EA, "rule", 0x30373E},
	{0x0072B2, "blue", 0x6188F5},
	{0xD55E00, "vermilion", 0xE2803A},
	{0x274509, "moss", 0x80896D},
	{0xB8849E, "rose", 0xFFC8FD},
	{0x68254D, "plum", 0xB66CA9},
	{0x70834F, "olive", 0xCAEC9E},
}

// renameColours names the colours of a style. A translucent one may be off by one
// step a channel, lost if it was multiplied with its opacity.
func renameColours(style string) string {
	return hex.ReplaceAllStringFunc(style, func(s string) string {
		x, _ := strconv.ParseUint(s[1:], 16, 32)
		for _, c := range colours {
			if isNear(uint32(x), c.light) {
				return "var(--" + c.name + ")"
			}
		}
		return s
	})
}

func isNear(a, b uint32) bool {
	for shift := 0; shift < 24; shift += 8 {
		if d := int(a>>shift&0xff) - int(b>>shift&0xff); d < -1 || d > 1 {
			return false
		}
	}
	return true
}
