// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

var update = flag.Bool("update", false, "rewrite the pictures in testdata")

// TestPicturesAreWhatTheyWere: the pictures in testdata are to be looked at when
// they change.
func TestPicturesAreWhatTheyWere(t *testing.T) {
	for name, draw := range map[string]func(io.Writer) error{
		"sample.svg":  sample().WriteSVG,
		"crowded.svg": crowded().WriteSVG,
		"boxes.svg":   boxes().WriteSVG,
		"sample.txt":  func(w io.Writer) error { return sample().WriteText(w, 76, Unicode) },
		"crowded.txt": func(w io.Writer) error { return crowded().WriteText(w, 60, ASCII) },
	} {
		t.Run(name, func(t *testing.T) {
			var got, again bytes.Buffer
			if err := draw(&got); err != nil {
				t.Fatal(err)
			}
			if err := draw(&again); err != nil || !bytes.Equal(got.Bytes(), again.Bytes()) {
				t.Errorf("drawn twice, it differs (%v)", err)
			}
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s has changed; if it should, run go test ./plot -update and look at it", path)
			}
		})
	}
}

func TestSVGIsWellFormedAndSaysItsNumbers(t *testing.T) {
	var b bytes.Buffer
	if err := crowded().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "rows &lt;thousands&gt;") {
		t.Error("markup in a label is not escaped")
	}
	for d := xml.NewDecoder(&b); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	b.Reset()
	if err := sample().WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"private logistic: 0.51 at 0.01,", "non-private: 0.76.",
		"Bars and bands: one standard deviation of 10 runs."} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the description does not say %q", want)
		}
	}
}

func TestPNGHasItsSize(t *testing.T) {
	var b bytes.Buffer
	if err := sample().WritePNG(&b); err != nil {
		t.Fatal(err)
	}
	p, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if p.Bounds().Dx() != 1300 || p.Bounds().Dy() != 1100 {
		t.Errorf("got %v, want 1300 by 1100", p.Bounds())
	}
}

func TestTextStaysInsideTheTerminal(t *testing.T) {
	for columns := 30; columns <= 110; columns++ {
		for _, g := range []Glyphs{Unicode, ASCII} {
			for name, draw := range map[string]func(io.Writer, int, Glyphs) error{
				"sample": sample().WriteText, "crowded": crowded().WriteText,
			} {
				var b bytes.Buffer
				if err := draw(&b, columns, g); err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(b.String()) {
					line = strings.TrimSuffix(line, "\n")
					if w := displayWidth(line); w > max(columns, minColumns) {
						t.Fatalf("%s at %d columns: %d wide: %s", name, columns, w, line)
					}
					if g == ASCII && strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
						t.Fatalf("%s: not ASCII: %s", name, line)
					}
				}
			}
		}
	}
}

func TestASCIISpellsOrAsks(t *testing.T) {
	b := sample()
	b.Note = "naïve ε ≥ 1, 例"
	var out bytes.Buffer
	if err := b.WriteText(&out, 80, ASCII); err != nil {
		t.Fatal(err)
	}
	if want := "\nna?ve epsilon >= 1, ?\n"; !strings.HasSuffix(out.String(), want) {
		t.Errorf("got %q, want it to end in %q", out.String(), want)
	}
}

func TestTicksStandWhereItWasMeasured(t *testing.T) {
	l := sample()
	var got []string
	for _, k := range (l.xAxis()).ticks {
		got = append(got, k.label)
	}
	if want := []string{"0.01", "0.02", "0.04", "0.08", "0.16"}; !slices.Equal(got, want) {
		t.Errorf("got ticks %v, want %v", got, want)
	}
	a := l.xAxis()
	first, last := a.fractionOf(.01), a.fractionOf(.16)
	for i, x := range []float64{.01, .02, .04, .08, .16} { // doublings are evenly spaced
		if want := first + (last-first)*float64(i)/4; math.Abs(a.fractionOf(x)-want) > 1e-12 {
			t.Errorf("%g lies at %g, want %g", x, a.fractionOf(x), want)
		}
	}
	l.XTicks = []float64{.01, .16}
	if a := l.xAxis(); len(a.ticks) != 2 {
		t.Errorf("got %d ticks, want the 2 that were asked for", len(a.ticks))
	}
}

func TestRoundStep(t *testing.T) {
	for _, c := range []struct {
		x, step  float64
		decimals int
	}{{1, 1, 0}, {1.1, 2, 0}, {2.1, 2.5, 1}, {3, 5, 0}, {6, 10, 0}, {.05, .05, 2}, {.021, .025, 3}, {.0101, .02, 2},
		{700, 1000, 0}, {21, 25, 0}} {
		step, decimals := roundStep(c.x)
		if math.Abs(step-c.step) > 1e-12*c.step || decimals != c.decimals {
			t.Errorf("roundStep(%g) = %g, %d decimals; want %g, %d", c.x, step, decimals, c.step, c.decimals)
		}
	}
}

// TestLabelsNeverTouch tries every arrangement of six ends on a coarse grid.
func TestLabelsNeverTouch(t *testing.T) {
	const n, places = 6, 5
	for code := range 15625 { // places^n
		labels := make([]endLabel, n)
		for i, c := 0, code; i < n; i, c = i+1, c/places {
			labels[i].from = vg.Length(c%places) * 40
		}
		order := []int{0, 1, 2, 3, 4, 5}
		slices.SortStableFunc(order, func(a, b int) int { return int(labels[a].from - labels[b].from) })
		half := func(i int) vg.Length { return vg.Length(7 + 7*(i%2)) }
		separateLabels(order, half, -14, 174, labels)
		for k, i := range order {
			if labels[i].at-half(i) < -14-1e-9 || labels[i].at+half(i) > 174+1e-9 {
				t.Fatalf("arrangement %d: label %d at %g leaves the figure", code, i, labels[i].at)
			}
			if k > 0 {
				if p := order[k-1]; labels[i].at-labels[p].at < half(i)+half(p)-1e-9 {
					t.Fatalf("arrangement %d: labels %d and %d touch", code, p, i)
				}
			}
		}
	}
}

func TestChartsThatMisleadAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(l *Lines)
		param string
	}{
		"no title":           {func(l *Lines) { l.Title = "" }, "title"},
		"no x label":         {func(l *Lines) { l.XLabel = "" }, "x label"},
		"no y label":         {func(l *Lines) { l.YLabel = "" }, "y label"},
		"control character":  {func(l *Lines) { l.Note = "a\x1b[2J" }, "note"},
		"invalid text":       {func(l *Lines) { l.Series[0].Name = "\xff" }, "series"},
		"endless title":      {func(l *Lines) { l.Title = strings.Repeat("on and ", 50) }, "title"},
		"endless word":       {func(l *Lines) { l.Series[0].Name = strings.Repeat("x", 17) }, "series"},
		"astronomic y":       {func(l *Lines) { l.References[0].Y = 1e13 }, "reference non-private"},
		"no series":          {func(l *Lines) { l.Series = nil }, "series"},
		"unexplained bars":   {func(l *Lines) { l.Spread = "" }, "spread"},
		"zero on a log axis": {func(l *Lines) { l.Series[0].X = []float64{0, 1, 2, 3, 4} }, "series boosting"},
		"x not increasing":   {func(l *Lines) { l.Series[0].X = []float64{1, 1, 2, 3, 4} }, "series boosting"},
		"nan y":              {func(l *Lines) { l.Series[0].Y[2] = math.NaN() }, "series boosting"},
		"infinite x": {func(l *Lines) { l.Series[2].X = []float64{1, 2, 3, 4, math.Inf(1)} },
			"series private logistic"},
		"fewer y than x":   {func(l *Lines) { l.Series[0].Y = l.Series[0].Y[:3] }, "series boosting"},
		"low without high": {func(l *Lines) { l.Series[0].High = nil }, "series boosting"},
		"box without whiskers": {func(l *Lines) { l.Series[1].Q1, l.Series[1].Q3 = l.Series[1].Y, l.Series[1].Y },
			"series paper's boosting"},
		"box with one side": {func(l *Lines) { l.Series[2].Q1 = l.Series[2].Low }, "series private logistic"},
		"box beyond whiskers": {func(l *Lines) {
			l.Series[2].Q1, l.Series[2].Q3 = slices.Clone(l.Series[2].Low), l.Series[2].High
			l.Series[2].Q1[0] -= .01
		}, "series private logistic"},
		"low above y":         {func(l *Lines) { l.Series[0].Low[1] = .9 }, "series boosting"},
		"nan high":            {func(l *Lines) { l.Series[0].High[1] = math.NaN() }, "series boosting"},
		"unknown stroke":      {func(l *Lines) { l.Series[0].Stroke = 7 }, "series boosting"},
		"like nothing":        {func(l *Lines) { l.Series[1].Like = "bosting" }, "series paper's boosting"},
		"same name twice":     {func(l *Lines) { l.Series[2].Name = "boosting" }, "series"},
		"nameless reference":  {func(l *Lines) { l.References[0].Name = "" }, "reference"},
		"nan reference":       {func(l *Lines) { l.References[0].Y = math.NaN() }, "reference non-private"},
		"four references":     {func(l *Lines) { l.References = make([]Reference, 4) }, "references"},
		"ticks out of order":  {func(l *Lines) { l.XTicks = []float64{2, 1} }, "x ticks"},
		"y range upside down": {func(l *Lines) { l.YFrom, l.YTo = 1, 0 }, "y range"},
		"y range cuts a line": {func(l *Lines) { l.YFrom, l.YTo = .5, .75 }, "y range"},
		"seven colours": {func(l *Lines) {
			for i := range 5 {
				l.Series = append(l.Series, Series{Name: fmt.Sprint(i), X: []float64{1}, Y: []float64{1}})
			}
		}, "series"},
	} {
		t.Run(name, func(t *testing.T) {
			l := sample()
			c.spoil(l)
			for _, err := range []error{l.WriteSVG(io.Discard), l.WritePNG(io.Discard), l.WriteText(io.Discard, 80, Unicode)} {
				var refused *dp.ParamError
				if !errors.As(err, &refused) || refused.Param != c.param {
					t.Errorf("got %v, want a refusal of %q", err, c.param)
				}
			}
		})
	}
}

// TestAxesEnd: no data make the tick loops endless or the labels meaningless.
func TestAxesEnd(t *testing.T) {
	for _, ys := range [][]float64{{0, 0}, {1e12, 1e12}, {-1e12, 1e12}, {1, 1 + 1e-15}, {1e12, 1e12 - 1}, {0, 5e-324},
		{-3, -3 + 1e-8}, {0, 1e-5}} {
		l := &Lines{Title: "t", XLabel: "x", YLabel: "y", Series: []Series{{Name: "s", X: []float64{1, 2}, Y: ys}}}
		a := l.yAxis()
		if n := len(a.ticks); n < 2 || n > 9 {
			t.Errorf("y %v: %d ticks", ys, n)
		}
		if err := l.WriteSVG(io.Discard); err != nil {
			t.Errorf("y %v: %v", ys, err)
		}
		if err := l.WriteText(io.Discard, 50, Unicode); err != nil {
			t.Errorf("y %v: %v", ys, err)
		}
	}
}

func TestOnePointIsDrawn(t *testing.T) {
	for _, log := range []bool{false, true} {
		l := &Lines{Title: "t", XLabel: "x", YLabel: "y", LogX: log,
			Series: []Series{{Name: "s", X: []float64{3}, Y: []float64{0}}}}
		var svg, txt bytes.Buffer
		if err := errors.Join(l.WriteSVG(&svg), l.WriteText(&txt, 40, Unicode)); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(svg.String(), "NaN") || !strings.Contains(txt.String(), "●") {
			t.Errorf("one point (log %t) is not drawn:\n%s", log, txt.String())
		}
	}
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestWritersPassOnFailures(t *testing.T) {
	stop := errors.New("no room")
	w := full{stop}
	for _, err := range []error{sample().WriteSVG(w), sample().WritePNG(w), sample().WriteText(w, 80, ASCII)} {
		if !errors.Is(err, stop) {
			t.Errorf("got %v, want %v", err, stop)
		}
	}
}
