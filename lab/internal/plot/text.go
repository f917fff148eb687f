// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mattn/go-runewidth"
)

// Glyphs is the set of characters that a terminal can show.
type Glyphs int

const (
	Unicode Glyphs = iota // dots, blocks and symbols
	ASCII                 // printable ASCII only; other characters are spelled or shown as ?
)

const (
	minColumns, maxColumns = 40, 100
	chartRows              = 13 // approximate height in lines
)

// terminal describes the output and its capabilities.
type terminal struct {
	glyphs  Glyphs
	columns int
	bytes.Buffer
}

func newTerminal(columns int, g Glyphs) *terminal {
	return &terminal{glyphs: g, columns: max(minColumns, min(columns, maxColumns))}
}

// pickSpelling returns the spelling that the terminal can show.
func (t *terminal) pickSpelling(unicode, ascii string) string {
	if t.glyphs == ASCII {
		return ascii
	}
	return unicode
}

var spell = strings.NewReplacer("ε", "epsilon", "δ", "delta", "±", "+-", "≤", "<=", "≥", ">=", "×", "x", "–", "-", "—",
	"-", "−", "-", "’", "'", "…", "...")

func (t *terminal) asText(s string) string {
	if t.glyphs != ASCII {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r > '~' {
			return '?'
		}
		return r
	}, spell.Replace(s))
}

// writeLine writes one line, without trailing spaces.
func (t *terminal) writeLine(s string) {
	t.WriteString(strings.TrimRight(s, " ") + "\n")
}

// writeParagraph breaks text between words to the terminal's width.
func (t *terminal) writeParagraph(text string) {
	line := ""
	for _, word := range strings.Fields(t.asText(text)) {
		word = t.cutToWidth(word, t.columns)
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && displayWidth(longer) > t.columns {
			t.writeLine(line)
			longer = word
		}
		line = longer
	}
	if line != "" {
		t.writeLine(line)
	}
}

// displayWidth is the width of s on a terminal. Ambiguous characters such as ε have width one in any
// locale, so that output does not depend on it.
func displayWidth(s string) int {
	return (&runewidth.Condition{}).StringWidth(s)
}

func padTo(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-displayWidth(s)))
}

// cutToWidth cuts text that is wider than width.
func (t *terminal) cutToWidth(s string, width int) string {
	return (&runewidth.Condition{}).Truncate(s, width, t.pickSpelling("…", "..."))
}

var (
	filledMarks = []rune("●■▲◆▼▮")
	hollowMarks = []rune("○□△◇▽▯")
	asciiMarks  = []rune("o#^*v%")
	asciiHollow = []rune("OHA+VX")
)

// WriteText draws the chart for a terminal of the given width, which is clamped to 40 to 100 columns.
// Spreads are not drawn. Equal charts have equal bytes.
func (l *Lines) WriteText(w io.Writer, columns int, g Glyphs) error {
	if err := l.checkDrawable(); err != nil {
		return err
	}
	t := newTerminal(columns, g)
	t.writeParagraph(l.Title)
	t.writeParagraph(l.Subtitle)
	t.writeLine("")
	t.writeParagraph(l.YLabel)
	l.writeGrid(t)
	t.writeLine("")
	l.writeKey(t)
	if l.Note != "" {
		t.writeLine("")
		t.writeParagraph(l.Note)
	}
	if _, err := w.Write(t.Bytes()); err != nil {
		return fmt.Errorf("plot: write text: %w", err)
	}
	return nil
}

// screen is the area of the data: one character per cell, and fine dots below the characters, 2 across
// and 4 down per cell, as in Braille.
type screen struct {
	wide, high int
	char       [][]rune
	dots       [][]rune
}

func newScreen(wide, high int) *screen {
	s := &screen{wide: wide, high: high}
	for range high {
		s.char = append(s.char, make([]rune, wide))
		s.dots = append(s.dots, make([]rune, wide))
	}
	return s
}

var dotBits = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// setDot takes fine coordinates, counted from the top left.
func (s *screen) setDot(x, y int) {
	if x >= 0 && x < 2*s.wide && y >= 0 && y < 4*s.high {
		s.dots[y/4][x/2] |= dotBits[y%4][x%2]
	}
}

func (s *screen) putRune(x, y int, r rune) {
	if x >= 0 && x < s.wide && y >= 0 && y < s.high {
		s.char[y][x] = r
	}
}

func (l *Lines) writeGrid(t *terminal) {
	xs, ys := l.xAxis(), l.yAxis()
	label := 0
	for _, k := range ys.ticks {
		label = max(label, len(k.label))
	}
	high := chartRows
	if gaps := len(ys.ticks) - 1; gaps > 0 && ys.ticks[0].at == ys.from && ys.ticks[gaps].at == ys.to {
		high = max(1, (chartRows+gaps/2)/gaps)*gaps + 1 // each tick on a row of its own, evenly
	}
	s := newScreen(t.columns-label-2, high)
	col := func(x float64) int { return int(math.Round(xs.fractionOf(x) * float64(s.wide-1))) }
	row := func(y float64) int { return int(math.Round((1 - ys.fractionOf(y)) * float64(s.high-1))) }

	for i, r := range l.References {
		mark := []rune(t.pickSpelling("╌┄┈", "-=~"))[i]
		for x := range s.wide {
			s.putRune(x, row(r.Y), mark)
		}
	}
	colours := l.paletteIndexes()
	for i := range l.Series {
		if l.Series[i].Stroke != Points {
			l.Series[i].traceOn(s, &xs, &ys)
		}
	}
	// The first series is the one a figure is about: it goes on top.
	for i := len(l.Series) - 1; i >= 0; i-- {
		mark := l.markOf(t, i, colours[i])
		for k, x := range l.Series[i].X {
			s.putRune(col(x), row(l.Series[i].Y[k]), mark)
		}
	}

	names := make([]string, s.high)
	for _, k := range ys.ticks {
		names[row(k.at)] = k.label
	}
	for y := range s.high {
		wall := t.pickSpelling("│", "|")
		if names[y] != "" {
			wall = t.pickSpelling("┤", "+")
		}
		var b strings.Builder
		fmt.Fprintf(&b, "%*s %s", label, names[y], wall)
		for x := range s.wide {
			switch {
			case s.char[y][x] != 0 && (s.dots[y][x] == 0 || !isRule(s.char[y][x])):
				b.WriteRune(s.char[y][x])
			case s.dots[y][x] != 0 && t.glyphs == ASCII:
				b.WriteByte('.')
			case s.dots[y][x] != 0:
				b.WriteRune(0x2800 + s.dots[y][x])
			default:
				b.WriteByte(' ')
			}
		}
		t.writeLine(b.String())
	}

	floor := []rune(strings.Repeat(t.pickSpelling("─", "-"), s.wide))
	below := []rune(strings.Repeat(" ", t.columns))
	free := 0
	for _, k := range xs.ticks {
		x := col(k.at)
		floor[x] = []rune(t.pickSpelling("┴", "+"))[0]
		if t.glyphs == Unicode {
			floor[x] = '┬'
		}
		start := max(0, min(label+2+x-len(k.label)/2, t.columns-len(k.label)))
		if start >= free {
			copy(below[start:], []rune(k.label))
			free = start + len(k.label) + 1
		}
	}
	t.writeLine(strings.Repeat(" ", label+1) + t.pickSpelling("└", "+") + string(floor))
	t.writeLine(string(below))
	name := t.cutToWidth(t.asText(l.XLabel), t.columns)
	t.writeLine(strings.Repeat(" ", max(0, label+2+(s.wide-displayWidth(name))/2)) + name)
}

func isRule(r rune) bool { return strings.ContainsRune("╌┄┈-=~", r) }

// traceOn draws the lines between the points of a series in fine dots.
func (s *Series) traceOn(on *screen, xs, ys *axis) {
	fx := func(x float64) float64 { return xs.fractionOf(x)*float64(2*on.wide-2) + 0.5 }
	fy := func(y float64) float64 { return (1-ys.fractionOf(y))*float64(4*on.high-4) + 1.5 }
	for k := 1; k < len(s.X); k++ {
		x0, y0, x1, y1 := fx(s.X[k-1]), fy(s.Y[k-1]), fx(s.X[k]), fy(s.Y[k])
		steps := int(math.Ceil(max(math.Abs(x1-x0), math.Abs(y1-y0), 1)))
		for i := range steps + 1 {
			if s.Stroke == Dashed && i/2%2 == 1 {
				continue
			}
			p := float64(i) / float64(steps)
			on.setDot(int(math.Round(x0+p*(x1-x0))), int(math.Round(y0+p*(y1-y0))))
		}
	}
}

// markOf returns the character for the points of the i-th series.
func (l *Lines) markOf(t *terminal, i, colour int) rune {
	switch filled := l.Series[i].Stroke == Solid; {
	case filled && t.glyphs == ASCII:
		return asciiMarks[colour]
	case filled:
		return filledMarks[colour]
	case t.glyphs == ASCII:
		return asciiHollow[colour]
	}
	return hollowMarks[colour]
}

// writeKey explains the marks, with the last value of each series.
func (l *Lines) writeKey(t *terminal) {
	type entry struct{ mark, name, value string }
	var entries []entry
	for i, c := range l.paletteIndexes() {
		s := &l.Series[i]
		last := len(s.X) - 1
		entries = append(entries, entry{" " + string(l.markOf(t, i, c)), s.Name,
			fmt.Sprintf("%.3g at %g", s.Y[last], s.X[last])})
	}
	for i, r := range l.References {
		mark := []rune(t.pickSpelling("╌┄┈", "-=~"))[i]
		entries = append(entries, entry{strings.Repeat(string(mark), 2), r.Name, fmt.Sprintf("%.3g", r.Y)})
	}
	name, value := 0, 0
	for _, e := range entries {
		name, value = max(name, displayWidth(t.asText(e.name))), max(value, len(e.value))
	}
	name = min(name, t.columns-7-value)
	for _, e := range entries {
		t.writeLine(fmt.Sprintf(" %s  %s  %s", e.mark, padTo(t.cutToWidth(t.asText(e.name), name), name), e.value))
	}
}
