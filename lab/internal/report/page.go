// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Page is what WriteHTML writes.
type Page struct {
	Figures []*Figure
	// Catalogue tells about figures what their folders do not, in the order in
	// which they stand on the page. Those that are not among Figures are named
	// as not measured; those of Figures it lacks stand last.
	Catalogue []About
}

// About is what is known of a figure before it is measured.
type About struct {
	Name, Paper, Title, Claim, Protocol string
	Code                                string // digest of the code that it depends on today; "" if that is not at hand
}

var (
	//go:embed page.html.tmpl
	layout string
	//go:embed page.css
	style string
	//go:embed page.js
	script string

	page = template.Must(template.New("page").Funcs(template.FuncMap{
		"number": formatNumber, "epsilon": formatEpsilon, "plural": pluralise, "metric": metricText, "short": shortCommit,
		"sentence": asSentence, "tied": keepTogether,
	}).Parse(layout))
)

// WriteHTML writes the page. Equal pages have equal bytes.
func (p *Page) WriteHTML(w io.Writer) error {
	v := view{
		Style:  template.CSS(paletteCSS() + style),
		Script: template.JS(script),
	}
	sum := sha256.Sum256([]byte(script))
	v.Policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" +
		base64.StdEncoding.EncodeToString(sum[:]) + "'"
	v.fillPage(p)
	var b bytes.Buffer
	if err := page.Execute(&b, &v); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("report: write page: %w", err)
	}
	return nil
}

// view is what the layout sees.
type view struct {
	Style  template.CSS
	Script template.JS
	Policy string
	Counts []count
	Papers []paper
	Ran    int
}

type count struct {
	Verdict word
	N       int
}

// paper is a section of the page.
type paper struct {
	ID, Citation string
	Figures      []entry
	Absent       []About
}

// entry is a figure of the page.
type entry struct {
	*Figure
	About   About
	ID      string
	Chart   template.HTML
	Verdict word
	Records string // address of records.jsonl; empty for none
	Older   bool   // than the code
}

// word is an outcome of a figure or a check for people.
type word struct{ Class, Mark, Text string }

var words = map[string]word{
	reproduced: {"good", "✓", "reproduced"},
	differs:    {"bad", "✗", "differs"},
	cannotTell: {"open", "?", "cannot tell"},
	unjudged:   {"open", "…", "not judged"},
}

func (v *view) fillPage(p *Page) {
	v.Ran = len(p.Figures)
	for _, o := range []string{reproduced, differs, cannotTell, unjudged} {
		n := 0
		for _, f := range p.Figures {
			if f.Outcome == o {
				n++
			}
		}
		if n > 0 {
			v.Counts = append(v.Counts, count{words[o], n})
		}
	}
	for _, a := range p.Catalogue {
		s := v.sectionOf(a)
		if i := slices.IndexFunc(p.Figures, func(f *Figure) bool { return f.Name == a.Name }); i >= 0 {
			s.Figures = append(s.Figures, entryOf(p.Figures[i], a))
		} else {
			s.Absent = append(s.Absent, a)
		}
	}
	for _, f := range p.Figures {
		if !slices.ContainsFunc(p.Catalogue, func(a About) bool { return a.Name == f.Name }) {
			a := About{Name: f.Name, Title: f.Name, Claim: f.Claim}
			s := v.sectionOf(a)
			s.Figures = append(s.Figures, entryOf(f, a))
		}
	}
}

// sectionOf finds or begins the section of a figure's paper.
func (v *view) sectionOf(a About) *paper {
	folder, _, _ := strings.Cut(a.Name, "/")
	id := "paper-" + anchorOf(folder)
	i := slices.IndexFunc(v.Papers, func(p paper) bool { return p.ID == id })
	if i < 0 {
		i = len(v.Papers)
		citation := a.Paper
		if citation == "" {
			citation = folder
		}
		v.Papers = append(v.Papers, paper{ID: id, Citation: citation})
	}
	return &v.Papers[i]
}

func entryOf(f *Figure, a About) entry {
	e := entry{Figure: f, About: a, ID: anchorOf(f.Name), Chart: f.chart.svg, Verdict: words[f.Outcome]}
	if e.Claim == "" {
		e.Claim = a.Claim
	}
	e.Older = a.Code != "" && slices.ContainsFunc(f.Code, func(code string) bool { return code != a.Code })
	if f.Link != "" && f.records {
		e.Records = (&url.URL{Path: strings.TrimSuffix(f.Link, "/") + "/" + recordsFile}).String()
	}
	return e
}

// anchorOf makes an anchor of a name. Distinct names have distinct anchors.
func anchorOf(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			b.WriteByte(c)
		case c == '/':
			b.WriteByte('-')
		default:
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// paletteCSS is the colours of the charts as the page's own, for both schemes;
// paper is always light.
func paletteCSS() string {
	var light, dark strings.Builder
	for _, c := range colours {
		fmt.Fprintf(&light, "--%s:#%06x;", c.name, c.light)
		fmt.Fprintf(&dark, "--%s:#%06x;", c.name, c.dark)
	}
	return fmt.Sprintf(":root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n", light.String(),
		dark.String())
}

func formatEpsilon(x float64) string {
	if x == 0 {
		return "–"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

func pluralise(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

// metricText spells a metric's name for people.
func metricText(name string) string { return strings.ReplaceAll(name, "_", " ") }

// asSentence begins with a capital and ends with a full stop.
func asSentence(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(s[size:], ".") + "."
}

var ties = strings.NewReplacer(" %", "\u00a0%", " ± ", "\u00a0±\u00a0", "ε = ", "ε\u00a0=\u00a0")

// keepTogether keeps what is read as one number on one line.
func keepTogether(s string) string { return ties.Replace(s) }

// shortCommit is how much of a commit tells it apart; a + says that it was changed.
func shortCommit(commit string) string {
	id, changed := strings.CutSuffix(commit, "+")
	id = id[:min(len(id), 12)]
	if changed {
		id += "+"
	}
	return id
}
