// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/plot"
)

// A page holds what it was given, as text, warns where it must, and loads nothing.
func TestPage(t *testing.T) {
	s := &Sheet{Title: "a <b> & c", Lead: "lead", Tables: []Table{{Title: "Numbers", Head: []string{"", "estimate"},
		Rows: [][]string{{"AUC", "<script>"}}, Note: "note"}},
		Charts: []*plot.Lines{{Title: "Chart", Subtitle: "of two points", XLabel: "x", YLabel: "y",
			Series: []plot.Series{{Name: "s", X: []float64{0, 1}, Y: []float64{0, 1}}}}}}
	text := func() string {
		var b bytes.Buffer
		if err := s.WriteHTML(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	page := text()
	for _, want := range []string{"<title>a &lt;b&gt; &amp; c</title>", `<th scope="row">AUC</th><td>&lt;script&gt;</td>`,
		`alt="Chart. of two points"`, "default-src &#39;none&#39;", "note", "prefers-color-scheme:dark"} {
		if !strings.Contains(page, want) && !strings.Contains(page, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if strings.Contains(page, "class=\"alarm\"") || strings.Contains(page, "http:") || strings.Contains(page, "<script") {
		t.Error("the page warns of nothing, or loads something")
	}
	s.Alarm = "NOT PRIVATE"
	if !strings.Contains(text(), `<p class="alarm">NOT PRIVATE</p>`) {
		t.Error("the page does not warn")
	}
	s.Charts[0].XLabel = ""
	if s.WriteHTML(&bytes.Buffer{}) == nil {
		t.Error("a chart without a label is drawn")
	}
}
