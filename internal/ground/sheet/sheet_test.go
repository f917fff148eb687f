// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"bytes"
	"math"
	"strings"
	"testing"
)

// A page holds what it was given, as text, warns where it must, and loads nothing.
func TestPage(t *testing.T) {
	s := &Sheet{Title: "a <b> & c", Lead: "lead", Parts: []Part{{Title: "Numbers", Text: []string{"a <sentence>"},
		Table: Table{Head: []string{"", "estimate"}, Rows: [][]string{{"AUC", "<script>"}}, Note: "note"},
		Picks: &Picks{Label: "threshold", First: 1, Tables: []Pick{{"at 0", Table{Rows: [][]string{{"none"}}}}, {"at 1", Table{}}}},
		Charts: []Chart{{Title: "Chart", Subtitle: "of <two> points", XLabel: "x", YLabel: "y", Note: "below",
			Lines: []Line{{Name: "s", X: []float64{0, 1}, Y: []float64{0, 1}, Low: []float64{-1, 0.5}, High: []float64{0.5, 1}},
				{Name: "t", X: []float64{0.5}, Y: []float64{0.25}, Low: []float64{0}, High: []float64{1}, Dashed: true, Band: true}}}}}}}
	text := func() string {
		var b bytes.Buffer
		if err := s.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := text()
	for _, want := range []string{"<title>a &lt;b&gt; &amp; c</title>", `<th scope="row">AUC</th><td>&lt;script&gt;</td>`,
		`<thead><tr><td></td><th scope="col">estimate</th></tr></thead>`, `aria-label="Chart. of &lt;two&gt; points"`, "default-src &#39;none&#39;", "note", "below", "<p>a &lt;sentence&gt;</p>",
		`id="pick0-1" aria-label="at 1" title="at 1" checked>`, "#pick0-0:checked~.picked0{display:block}",
		// Points stand where their numbers say, spreads are cut at the edges.
		`d="M44.00,260.00L374.00,10.00"`, `d="M44.00,135.00L44.00,260.00M374.00,10.00L374.00,135.00"`,
		`d="M209.00,10.00L209.00,260.00Z"`, `class="line dashed" stroke="#D55E00"`, "prefers-color-scheme:dark"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page lacks %s", want)
		}
	}
	steps := Chart{XLabel: "x", YLabel: "y", Lines: []Line{{X: []float64{0, 0.5}, Until: []float64{0.5, 1}, Y: []float64{0, 0.5},
		Low: []float64{0, 0.5}, High: []float64{0.5, 1}}}}
	if d, err := steps.draw(); err != nil || d.Lines[0].Path != "M44.00,260.00L209.00,260.00M209.00,135.00L374.00,135.00" ||
		d.Lines[0].Area != "M44.00,260.00L209.00,260.00L209.00,135.00L44.00,135.00ZM209.00,135.00L374.00,135.00L374.00,10.00L209.00,10.00Z" ||
		d.Lines[0].Marks+d.Lines[0].Bars != "" {
		t.Errorf("steps are drawn as %+v, %v", d, err)
	}
	if strings.Contains(page, "class=\"alarm\"") || strings.Contains(page, "http:") || strings.Contains(page, "<script") {
		t.Error("the page warns of nothing, or loads something")
	}
	long := "share of rows predicted " + strings.Repeat("x", labelRoom-24)
	for label, want := range map[string]string{long: ">" + long + "<", long + "y": ">" + long[:labelRoom-1] + "…<"} {
		if s.Parts[0].Charts[0].XLabel = label; !strings.Contains(text(), want) {
			t.Errorf("a label of %d letters is not drawn as %s", len(label), want)
		}
	}
	s.Alarm = "NOT PRIVATE"
	if !strings.Contains(text(), `<p class="alarm">NOT PRIVATE</p>`) {
		t.Error("the page does not warn")
	}
	for name, change := range map[string]func(*Chart){
		"no label":    func(c *Chart) { c.XLabel = "" },
		"no line":     func(c *Chart) { c.Lines = nil },
		"three lines": func(c *Chart) { c.Lines = append(c.Lines, c.Lines[0]) },
		"no point":    func(c *Chart) { c.Lines = []Line{{Name: "s"}} },
		"fewer y":     func(c *Chart) { c.Lines = []Line{{X: []float64{0, 1}, Y: []float64{0}}} },
		"fewer high":  func(c *Chart) { c.Lines = []Line{{X: []float64{0}, Y: []float64{0}, Low: []float64{0}}} },
		"fewer ends":  func(c *Chart) { c.Lines = []Line{{X: []float64{0}, Y: []float64{0}, Until: []float64{}}} },
		"turned step": func(c *Chart) { c.Lines = []Line{{X: []float64{0.5}, Y: []float64{0}, Until: []float64{0.4}}} },
		"beyond":      func(c *Chart) { c.Lines = []Line{{X: []float64{0}, Y: []float64{1.001}}} },
		"before":      func(c *Chart) { c.Lines = []Line{{X: []float64{-0.001}, Y: []float64{1}}} },
		"NaN":         func(c *Chart) { c.Lines = []Line{{X: []float64{0}, Y: []float64{math.NaN()}}} },
		"beyond its own axis": func(c *Chart) {
			c.Low, c.High, c.Lines = -1, 0.5, []Line{{X: []float64{0}, Y: []float64{0.75}}}
		},
		"turned axis": func(c *Chart) { c.Low, c.High = 1, 0 },
		"NaN spread": func(c *Chart) {
			c.Lines = []Line{{X: []float64{0}, Y: []float64{0}, Low: []float64{0}, High: []float64{math.NaN()}}}
		},
	} {
		wrong := s.Parts[0].Charts[0]
		change(&wrong)
		if err := (&Sheet{Parts: []Part{{Charts: []Chart{wrong}}}}).WriteHTML(&bytes.Buffer{}); err == nil {
			t.Errorf("%s: drawn", name)
		}
	}
}
