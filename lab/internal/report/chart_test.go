// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
)

// Charts of strangers can do nothing to the page.
func TestReadChartRefuses(t *testing.T) {
	for name, svg := range map[string]string{
		"a script":           `<svg><script>alert(1)</script></svg>`,
		"a handler":          `<svg onload="alert(1)"></svg>`,
		"a picture":          `<svg><image href="x.png"/></svg>`,
		"a bare picture":     `<svg><image/></svg>`,
		"a foreign object":   `<svg><foreignObject/></svg>`,
		"a link":             `<svg><a href="x"><text>y</text></a></svg>`,
		"a reference":        `<svg><path style="fill:url(#x)" d="M0,0"/></svg>`,
		"a fetch":            `<svg><path style="fill:url(//x.example/y)" d="M0,0"/></svg>`,
		"an import":          `<svg><path style="@import 'x'" d="M0,0"/></svg>`,
		"a style element":    `<svg><style>*{}</style></svg>`,
		"another root":       `<g/>`,
		"two roots":          `<svg/><svg/>`,
		"an inner root":      `<svg><svg/></svg>`,
		"nothing":            ``,
		"no end":             `<svg><g></svg>`,
		"no XML":             `hello`,
		"a broken attribute": `<svg><path d="M0,0&quot;&gt;"/></svg>`,
	} {
		if _, err := readChart([]byte(svg)); err == nil {
			t.Errorf("%s: must be refused", name)
		}
	}
	c, err := readChart(
		[]byte(`<svg width="1" viewBox="0 0 1 1"><title>a &lt;script&gt;</title><path style="fill:#0072B2" d="M0,0"/></svg>`))
	if want := `<svg viewBox="0 0 1 1"><title>a &lt;script&gt;</title>` + "\n" +
		`<path style="fill:var(--blue)" d="M0,0"></path></svg>` + "\n"; err != nil || string(c.svg) != want {
		t.Errorf("got %q, %v, want %q", c.svg, err, want)
	}
}

func FuzzReadChart(f *testing.F) {
	f.Add([]byte(`<svg viewBox="0 0 1 1"><g transform="scale(1, -1)"><path d="M0,0Z" style="fill:#FFFFFF" /></g></svg>`))
	f.Add([]byte(`<svg><script>1</script></svg>`))
	f.Add([]byte(`<svg><text style="fill:#fff;x:url(1)">&lt;</text></svg>`))
	tag := regexp.MustCompile(`<[^>]*>`)
	kind := regexp.MustCompile(`^</?(?:svg|title|desc|g|path|text)(?: ` +
		`(?:viewBox|role|transform|d|x|y|style)="[^"<>]*")*>$`)
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := readChart(text)
		if err != nil {
			return
		}
		for _, s := range tag.FindAllString(string(c.svg), -1) {
			if !kind.MatchString(s) || strings.Contains(s, "url") && strings.Contains(s, "url(") &&
				strings.Contains(s, "style") {
				t.Errorf("let through %q", s)
			}
		}
	})
}

// Every colour that charts use has a counterpart in the dark.
func TestEveryColourOfChartsIsKnown(t *testing.T) {
	dir := t.TempDir()
	if _, err := toy().Run(t.Context(), frame.Options{Out: dir, Seed: 1, Repeats: 1}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(dir + "/toy/one/figure.svg")
	if err != nil {
		t.Fatal(err)
	}
	c, err := readChart(text)
	if err != nil {
		t.Fatal(err)
	}
	if left := hex.FindString(string(c.svg)); left != "" {
		t.Errorf("colour %s has no name here", left)
	}
	for _, known := range colours {
		if !strings.Contains(string(c.svg), "var(--"+known.name+")") {
			t.Errorf("colour %s is not one of the charts'", known.name)
		}
	}
}

// linear is a colour as light, red, green and blue in [0, 1].
func linear(c uint32) (out [3]float64) {
	for i := range out {
		x := float64(c>>(16-8*i)&0xff) / 255
		if x <= 0.04045 {
			out[i] = x / 12.92
		} else {
			out[i] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return out
}

func luminance(l [3]float64) float64 { return 0.2126*l[0] + 0.7152*l[1] + 0.0722*l[2] }

func contrast(a, b uint32) float64 {
	la, lb := luminance(linear(a)), luminance(linear(b))
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// lab is a colour in CIELAB as eyes with cones m see it.
func lab(c uint32, m [3][3]float64) [3]float64 {
	var l [3]float64
	for i, row := range m {
		for j, x := range linear(c) {
			l[i] += row[j] * x
		}
		l[i] = max(0, min(1, l[i]))
	}
	f := func(t float64) float64 {
		if t > 216.0/24389 {
			return math.Cbrt(t)
		}
		return (24389.0/27*t + 16) / 116
	}
	x := f((0.4124*l[0] + 0.3576*l[1] + 0.1805*l[2]) / 0.95047)
	y := f(luminance(l))
	z := f((0.0193*l[0] + 0.1192*l[1] + 0.9505*l[2]) / 1.08883)
	return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
}

// eyes are those of Machado, Oliveira and Fernandes (2009), severity 1.
var eyes = map[string][3][3]float64{
	"all cones":    {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":   {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia": {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":   {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

// A line's name is text in the line's colour, so all need the contrast of text.
func TestDarkColours(t *testing.T) {
	var lines []colour
	paper := colours[0].dark
	for _, c := range colours {
		switch c.name {
		case "paper", "rule":
			continue
		case "ink", "quiet":
		default:
			lines = append(lines, c)
		}
		if got := contrast(c.dark, paper); got < 4.5 {
			t.Errorf("%s has contrast %.2f in the dark, want 4.5 at least", c.name, got)
		}
	}
	for name, m := range eyes {
		for i, a := range lines {
			for _, b := range lines[:i] {
				la, lb := lab(a.dark, m), lab(b.dark, m)
				// a just noticeable difference is 2.3
				if d := math.Hypot(math.Hypot(la[0]-lb[0], la[1]-lb[1]), la[2]-lb[2]); d < 25 {
					t.Errorf("%s: %s and %s differ by %.1f in the dark, want 25 at least", name, a.name, b.name, d)
				}
			}
		}
	}
}

// The words' own colours are text in both schemes.
func TestWordColours(t *testing.T) {
	rule := regexp.MustCompile(`:root\{((?:--[a-z]+:#[0-9a-f]{6};?)+)\}`)
	schemes := rule.FindAllStringSubmatch(style, -1)
	if len(schemes) != 2 {
		t.Fatalf("got %d schemes, want light and dark", len(schemes))
	}
	for i, paper := range []uint32{colours[0].light, colours[0].dark} {
		for _, m := range regexp.MustCompile(`--([a-z]+):#([0-9a-f]{6})`).FindAllStringSubmatch(schemes[i][1], -1) {
			var c uint32
			for _, d := range []byte(m[2]) {
				c = c<<4 | uint32(bytes.IndexByte([]byte("0123456789abcdef"), d))
			}
			if got := contrast(c, paper); got < 4.5 {
				t.Errorf("scheme %d: %s has contrast %.2f, want 4.5 at least", i, m[1], got)
			}
		}
	}
}
