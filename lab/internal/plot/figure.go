// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"image/color"
	"math"
	"slices"
	"strings"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	imagefont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Size of a figure, in points.
const (
	figureWidth  vg.Length = 390
	figureHeight vg.Length = 330
	margin       vg.Length = 12
	labelWidth   vg.Length = 92 // largest width of the names at the right
	// sink is the distance between the library's vertical centre of a text and the middle of its
	// digits, for text of 11 points.
	sink vg.Length = 1.2
)

var (
	palette = [maxColours]color.RGBA{
		colourOf(0x0072B2), colourOf(0xD55E00), colourOf(0x274509), colourOf(0xB8849E), colourOf(0x68254D),
		colourOf(0x70834F),
	}
	ink   = colourOf(0x1F2328)
	quiet = colourOf(0x59636E)
	rule  = colourOf(0xE3E6EA)
)

func colourOf(x uint32) color.RGBA {
	return color.RGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 0xff}
}

// paintOn draws the chart, which must have been checked, on the whole of c.
func (l *Lines) paintOn(c draw.Canvas) {
	f := &figure{Lines: l, c: c, x: l.xAxis(), y: l.yAxis()}
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	f.layOut()
	f.drawAxes()
	colours := l.paletteIndexes()
	for i := range l.Series { // spreads below everything else
		f.drawSpread(&l.Series[i], palette[colours[i]])
	}
	for i, r := range l.References {
		y := f.atY(r.Y)
		c.StrokeLine2(draw.LineStyle{Color: quiet, Width: 1.1, Dashes: referenceDashes[i]}, f.left, y, f.right, y)
	}
	for i := range slices.Backward(l.Series) { // the first is what the figure is about: on top
		f.drawSeries(&l.Series[i], palette[colours[i]], colours[i])
	}
	f.placeNames()
}

var referenceDashes = [maxReferences][]vg.Length{{6, 3}, {1.5, 2.5}, {8, 3, 1.5, 3}}

// figure is a chart being drawn.
type figure struct {
	*Lines
	c                        draw.Canvas
	x, y                     axis
	left, right, bottom, top vg.Length // the rectangle for the data
	labels                   []endLabel
}

// endLabel names a line at its right end.
type endLabel struct {
	lines  []string
	colour color.Color
	from   vg.Length // vertical position of the line's end
	at     vg.Length // vertical position of the label's middle
}

func (f *figure) atX(x float64) vg.Length {
	return f.left + vg.Length(f.x.fractionOf(x))*(f.right-f.left)
}

func (f *figure) atY(y float64) vg.Length {
	return f.bottom + vg.Length(f.y.fractionOf(y))*(f.top-f.bottom)
}

// layOut draws everything around the data and stores the rectangle left for them.
func (f *figure) layOut() {
	width := f.c.Max.X - f.c.Min.X - 2*margin
	at := f.c.Max.Y - margin
	at = f.writeParagraph(textStyle(15, true, ink), f.Title, at, width)
	if f.Subtitle != "" {
		at = f.writeParagraph(textStyle(11, false, quiet), f.Subtitle, at-2, width)
	}
	at -= 9
	yName := textStyle(11, false, quiet)
	f.c.FillText(yName, vg.Point{X: f.c.Min.X + margin, Y: at - 9}, f.YLabel)
	f.top = at - 22

	at = f.c.Min.Y + margin
	if foot := f.footText(); foot != "" {
		small := textStyle(10, false, quiet)
		lines := wrapText(small, foot, width)
		at += lineHeight(small) * vg.Length(len(lines))
		f.writeParagraph(small, foot, at, width)
		at += 5
	}
	xName := at + 3
	f.bottom = xName + 34

	tickStyle := textStyle(11, false, ink)
	var tickWidth vg.Length
	for _, t := range f.y.ticks {
		tickWidth = max(tickWidth, tickStyle.Width(t.label))
	}
	f.left = f.c.Min.X + margin + tickWidth + 6

	names := textStyle(11, true, ink)
	var nameWidth vg.Length
	add := func(name string, colour color.Color) {
		lines := wrapText(names, name, labelWidth)
		for _, s := range lines {
			nameWidth = max(nameWidth, names.Width(s))
		}
		f.labels = append(f.labels, endLabel{lines: lines, colour: colour})
	}
	for i, c := range f.paletteIndexes() {
		add(f.Series[i].Name, palette[c])
	}
	for _, r := range f.References {
		add(r.Name, quiet)
	}
	f.right = f.c.Max.X - margin - nameWidth - 12

	xStyle := textStyle(11, false, quiet)
	xStyle.XAlign = draw.XCenter
	f.c.FillText(xStyle, vg.Point{X: (f.left + f.right) / 2, Y: xName}, f.XLabel)
}

func (f *figure) drawAxes() {
	grid := draw.LineStyle{Color: rule, Width: 0.8}
	label := textStyle(11, false, ink)
	label.XAlign, label.YAlign = draw.XRight, draw.YCenter
	for _, t := range f.y.ticks {
		y := f.atY(t.at)
		f.c.StrokeLine2(grid, f.left, y, f.right, y)
		f.c.FillText(label, vg.Point{X: f.left - 6, Y: y + sink}, t.label)
	}
	line := draw.LineStyle{Color: quiet, Width: 0.8}
	f.c.StrokeLine2(line, f.left, f.bottom, f.right, f.bottom)
	label.XAlign, label.YAlign = draw.XCenter, draw.YTop
	var free vg.Length = -1000 // right edge of the last label written
	for _, t := range f.x.ticks {
		x := f.atX(t.at)
		f.c.StrokeLine2(line, x, f.bottom, x, f.bottom-4)
		if half := label.Width(t.label) / 2; x-half >= free+4 {
			f.c.FillText(label, vg.Point{X: x, Y: f.bottom - 5.5}, t.label)
			free = x + half
		}
	}
}

func (f *figure) drawSpread(s *Series, colour color.RGBA) {
	if s.Low == nil {
		return
	}
	if s.Band && len(s.X) > 1 {
		var edge []vg.Point
		for i, x := range s.X {
			edge = append(edge, vg.Point{X: f.atX(x), Y: f.clampY(s.High[i])})
		}
		for i, x := range slices.Backward(s.X) {
			edge = append(edge, vg.Point{X: f.atX(x), Y: f.clampY(s.Low[i])})
		}
		faint := color.NRGBA{colour.R, colour.G, colour.B, 0x26}
		f.c.FillPolygon(faint, edge)
		return
	}
	bar := draw.LineStyle{Color: color.NRGBA{colour.R, colour.G, colour.B, 0x99}, Width: 1}
	for i, x := range s.X {
		at, lo, hi := f.atX(x), f.clampY(s.Low[i]), f.clampY(s.High[i])
		if s.Q1 == nil {
			f.c.StrokeLine2(bar, at, lo, at, hi)
		} else {
			f.drawBox(at, lo, f.clampY(s.Q1[i]), f.clampY(s.Y[i]), f.clampY(s.Q3[i]), hi, colour, bar)
		}
		f.c.StrokeLine2(bar, at-2.5, lo, at+2.5, lo)
		f.c.StrokeLine2(bar, at-2.5, hi, at+2.5, hi)
	}
}

// drawBox draws a box from q1 to q3, crossed at mid, with whiskers to lo and hi.
func (f *figure) drawBox(at, lo, q1, mid, q3, hi vg.Length, colour color.RGBA, whisker draw.LineStyle) {
	const half = 8
	corners := []vg.Point{{X: at - half, Y: q1}, {X: at + half, Y: q1}, {X: at + half, Y: q3}, {X: at - half, Y: q3}}
	f.c.FillPolygon(color.NRGBA{colour.R, colour.G, colour.B, 0x26}, corners)
	f.c.StrokeLine2(whisker, at, lo, at, q1)
	f.c.StrokeLine2(whisker, at, q3, at, hi)
	f.c.StrokeLines(draw.LineStyle{Color: colour, Width: 1}, append(corners, corners[0]))
	f.c.StrokeLine2(draw.LineStyle{Color: colour, Width: 2.4}, at-half, mid, at+half, mid)
}

// clampY clamps a spread to a y axis whose range was given.
func (f *figure) clampY(y float64) vg.Length {
	return min(max(f.atY(y), f.bottom), f.top)
}

func (f *figure) drawSeries(s *Series, colour color.RGBA, shape int) {
	if s.Q1 != nil {
		return // boxes say it all
	}
	var path []vg.Point
	for i, x := range s.X {
		path = append(path, vg.Point{X: f.atX(x), Y: f.atY(s.Y[i])})
	}
	stroke := draw.LineStyle{Color: colour, Width: 1.9}
	if s.Stroke == Dashed {
		stroke.Dashes = []vg.Length{5, 3}
	}
	if s.Stroke != Points && len(path) > 1 {
		f.c.StrokeLines(stroke, path)
	}
	for _, p := range path {
		drawMarker(f.c, p, shape, colour, s.Stroke == Solid)
	}
}

// drawMarker draws one marker with a thin white rim, which separates it from lines that cross it.
func drawMarker(c draw.Canvas, at vg.Point, shape int, colour color.Color, filled bool) {
	corners := [maxColours][]vg.Point{
		nil, // a circle
		{{X: -3, Y: -3}, {X: 3, Y: -3}, {X: 3, Y: 3}, {X: -3, Y: 3}},
		{{X: -3.7, Y: -2.7}, {X: 3.7, Y: -2.7}, {X: 0, Y: 3.9}},
		{{X: 0, Y: -4.2}, {X: 4.2, Y: 0}, {X: 0, Y: 4.2}, {X: -4.2, Y: 0}},
		{{X: -3.7, Y: 2.7}, {X: 3.7, Y: 2.7}, {X: 0, Y: -3.9}},
		{{X: -1.9, Y: -3.6}, {X: 1.9, Y: -3.6}, {X: 1.9, Y: 3.6}, {X: -1.9, Y: 3.6}},
	}[shape]
	var p vg.Path
	if corners == nil {
		p.Move(vg.Point{X: at.X + 3.3, Y: at.Y})
		p.Arc(at, 3.3, 0, 2*math.Pi)
	}
	for i, d := range corners {
		if q := at.Add(d); i == 0 {
			p.Move(q)
		} else {
			p.Line(q)
		}
	}
	p.Close()
	rim, width, body := color.Color(color.White), vg.Length(2), colour
	if !filled {
		rim, width, body = colour, 1.5, color.White
	}
	if filled { // rim first: the body then keeps its size
		c.SetLineStyle(draw.LineStyle{Color: rim, Width: width})
		c.Stroke(p)
	}
	c.SetColor(body)
	c.Fill(p)
	if !filled {
		c.SetLineStyle(draw.LineStyle{Color: rim, Width: width})
		c.Stroke(p)
	}
}

// placeNames writes each name next to the end of its line, moved up or down as little as necessary to
// avoid overlaps.
func (f *figure) placeNames() {
	bold := textStyle(11, true, ink)
	height := lineHeight(bold)
	ends := make([]vg.Length, len(f.labels)) // x of each line's end
	for i := range f.labels {
		e := &f.labels[i]
		if i < len(f.Series) {
			s := &f.Series[i]
			last := len(s.X) - 1
			e.from, ends[i] = f.atY(s.Y[last]), f.atX(s.X[last])+6
		} else {
			e.from, ends[i] = f.atY(f.References[i-len(f.Series)].Y), f.right
		}
		e.at = e.from
	}
	order := make([]int, len(f.labels))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case f.labels[a].from < f.labels[b].from:
			return -1
		case f.labels[a].from > f.labels[b].from:
			return 1
		}
		return 0
	})
	half := func(i int) vg.Length { return vg.Length(len(f.labels[i].lines))*height/2 + 1 }
	separateLabels(order, half, f.bottom-14, f.top+12, f.labels)
	for i := range f.labels {
		e := &f.labels[i]
		x := f.right + 8
		if e.at-e.from > 3 || e.from-e.at > 3 || ends[i] < f.right-30 {
			thin := draw.LineStyle{Color: e.colour, Width: 0.6}
			f.c.StrokeLines(thin, []vg.Point{{X: ends[i], Y: e.from}, {X: max(ends[i], f.right-4), Y: e.from},
				{X: x - 2, Y: e.at}})
		}
		sty := textStyle(11, true, e.colour)
		sty.YAlign = draw.YCenter
		for k, s := range e.lines {
			up := (float64(len(e.lines)-1)/2 - float64(k)) * float64(height)
			f.c.FillText(sty, vg.Point{X: x, Y: e.at + vg.Length(up) + sink}, s)
		}
	}
}

// separateLabels moves labels, given from low to high, until none overlap. Each run of touching labels
// is spread around the mean of the preferred positions.
func separateLabels(order []int, half func(int) vg.Length, bottom, top vg.Length, labels []endLabel) {
	type run struct {
		members []int
		height  vg.Length
		want    vg.Length // sum over members of the bottom the run would like
	}
	var runs []run
	low := func(r run) vg.Length {
		at := r.want / vg.Length(len(r.members))
		return max(bottom, min(at, top-r.height))
	}
	for _, i := range order {
		r := run{[]int{i}, 2 * half(i), labels[i].from - half(i)}
		for len(runs) > 0 {
			below := runs[len(runs)-1]
			if low(below)+below.height <= low(r) {
				break
			}
			runs = runs[:len(runs)-1]
			// Everything in r sits below.height higher than its run's bottom.
			r = run{
				append(below.members, r.members...),
				below.height + r.height,
				below.want + r.want - below.height*vg.Length(len(r.members)),
			}
		}
		runs = append(runs, r)
	}
	for _, r := range runs {
		at := low(r)
		for _, i := range r.members {
			labels[i].at = at + half(i)
			at += 2 * half(i)
		}
	}
}

var (
	regular = font.Font{Typeface: "Liberation", Variant: "Sans"}
	heavy   = font.Font{Typeface: "Liberation", Variant: "Sans", Weight: imagefont.WeightBold}
)

// handler renders text in the two typefaces of the figures. (The library's own collection would add
// all twelve to the program.)
var handler = sync.OnceValue(func() text.Handler {
	var faces font.Collection
	for _, f := range []struct {
		font font.Font
		ttf  []byte
	}{{regular, liberationsansregular.TTF}, {heavy, liberationsansbold.TTF}} {
		face, err := opentype.Parse(f.ttf)
		if err != nil {
			panic("plot: a built-in font does not parse: " + err.Error())
		}
		faces = append(faces, font.Face{Font: f.font, Face: face})
	}
	return text.Plain{Fonts: font.NewCache(faces)}
})

func textStyle(size vg.Length, bold bool, colour color.Color) draw.TextStyle {
	f := regular
	if bold {
		f = heavy
	}
	f.Size = size
	return draw.TextStyle{Color: colour, Font: f, Handler: handler()}
}

func lineHeight(s draw.TextStyle) vg.Length { return s.Font.Size * 1.25 }

// writeParagraph writes text from a height downwards and returns the height of its end.
func (f *figure) writeParagraph(s draw.TextStyle, text string, at, width vg.Length) vg.Length {
	for _, line := range wrapText(s, text, width) {
		at -= lineHeight(s)
		f.c.FillText(s, vg.Point{X: f.c.Min.X + margin, Y: at + 0.3*s.Font.Size}, line)
	}
	return at
}

// wrapText breaks text between words into lines of at most width; a longer word is on a line of its
// own.
func wrapText(s draw.TextStyle, text string, width vg.Length) (lines []string) {
	line := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && s.Width(longer) > width {
			lines = append(lines, line)
			longer = word
		}
		line = longer
	}
	return append(lines, line)
}
