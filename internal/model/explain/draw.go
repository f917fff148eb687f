// SPDX-License-Identifier: Apache-2.0

//go:build !js

package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// scale is the range of log-odds that all drawings of a page share, so that they can be compared.
type scale struct{ low, high, step float64 }

// scaleOf makes a scale that holds every step and zero. Bands may widen it by a sixth on each side;
// the rest of a band is cut off.
func scaleOf(shapes []Shape) scale {
	var low, high, bandLow, bandHigh float64
	for i := range shapes {
		for _, b := range shapes[i].Bins {
			low, high = min(low, b.LogOdds), max(high, b.LogOdds)
			bandLow, bandHigh = min(bandLow, b.LogOdds-b.Deviation), max(bandHigh, b.LogOdds+b.Deviation)
		}
	}
	room := max((high-low)/6, 0.05)
	low, high = max(bandLow, low-room), min(bandHigh, high+room)
	margin := max((high-low)/25, 0.05)
	low, high = low-margin, high+margin
	return scale{low, high, roundStep((high - low) / 6)}
}

// roundStep is the smallest of 1, 2, 5 times a power of ten that is at least x.
func roundStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= x*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// placeOf maps log-odds to a position between 0 (low) and 1 (high); values outside are cut off.
func (s scale) placeOf(z float64) float64 {
	return min(max((z-s.low)/(s.high-s.low), 0), 1)
}

func (s scale) tickValues() (out []float64) {
	for k := math.Ceil(s.low / s.step); k <= math.Floor(s.high/s.step); k++ {
		out = append(out, k*s.step)
	}
	return out
}

// tick is a labelled position on an axis.
type tick struct {
	At, From float64 // units of the drawing; From is the position of the label
	Text     string
	Anchor   string
	Zero     bool
}

// drawing holds what the page needs to draw one shape.
type drawing struct {
	Width, Height            float64
	Left, Right, Top, Bottom float64
	LabelX                   float64
	X, Y                     []tick
	Line, Band               string // paths, for a number
	Rows                     []bar  // for a category
	EqualWidths, Log1p       bool
	LeftOut                  int // levels with smaller steps
}

// bar is one level of a category.
type bar struct {
	Name, Full            string
	At, Middle            float64 // top and middle
	From, Length          float64 // of the bar
	Value                 float64
	BandFrom, BandLength  float64
	BandMiddle, BandUpper float64 // vertical positions of the whisker's line and ends
	BandLower             float64
	Band                  bool
}

const drawingWidth = 360

func drawShape(sh *Shape, c *schema.Column, s scale) *drawing {
	if sh.Kind == schema.Category {
		d := drawLevels(largestBins(sh), s)
		d.LeftOut = len(sh.Bins) - len(d.Rows)
		return d
	}
	return drawNumber(sh, c, s)
}

// drawNumber draws steps over the column's bounds, and the steps of missing cells and special codes to
// the right of them. If some bins would be too narrow to see, all are drawn equally wide.
func drawNumber(sh *Shape, c *schema.Column, s scale) *drawing {
	d := &drawing{Width: drawingWidth, Height: 210, Left: 40, Right: 348, Top: 10, Bottom: 176}
	n := len(sh.Bins) - c.Marks()
	amounts, marks := sh.Bins[:n], sh.Bins[n:]
	room := 0.0 // of a mark
	if len(marks) > 0 {
		room = math.Min(58, (d.Right-d.Left)/2/float64(len(marks)))
	}
	end := d.Right - room*float64(len(marks))
	place := func(x float64) float64 { return x }
	if c.Transform == schema.Log1p {
		d.Log1p = true
		place = math.Log1p
	}
	cuts := make([]float64, n+1) // 0 to 1
	lo, hi := place(c.Lower), place(c.Upper)
	for b := range n {
		cuts[b] = (place(*sh.Bins[b].From) - lo) / (hi - lo)
	}
	cuts[n] = 1
	for b := range n {
		d.EqualWidths = d.EqualWidths || cuts[b+1]-cuts[b] < 1/(8*float64(n))
	}
	if d.EqualWidths {
		d.Log1p = false
		for b := range cuts {
			cuts[b] = float64(b) / float64(n)
		}
	}
	x := func(cut float64) float64 { return d.Left + cut*(end-d.Left) }
	y := func(z float64) float64 { return d.Bottom - s.placeOf(z)*(d.Bottom-d.Top) }
	for _, z := range s.tickValues() {
		d.Y = append(d.Y, tick{At: y(z), From: y(z) + 4, Text: signedNumber(z), Zero: math.Abs(z) < s.step/2})
	}
	if d.EqualWidths {
		d.X = edgeTicks(c, amounts, cuts, x)
	} else {
		d.X = roundTicks(c, func(v float64) float64 { return x((place(v) - lo) / (hi - lo)) })
	}
	places := make([]float64, n+1)
	for b, cut := range cuts {
		places[b] = x(cut)
	}
	d.addSteps(amounts, places, y)
	for k, bin := range marks {
		from, to := end+room*float64(k)+6, end+room*float64(k+1)
		d.addSteps([]Bin{bin}, []float64{from, to}, y)
		d.X = append(d.X, tick{At: (from + to) / 2, From: (from + to) / 2, Anchor: "middle",
			Text: shortenName(strings.Trim(bin.Level, "()"), max(1, int(room/letter)))})
	}
	return d
}

// addSteps draws a line of steps between positions, of which there is one more than steps, and the
// band around it.
func (d *drawing) addSteps(bins []Bin, places []float64, y func(float64) float64) {
	var line, back []string
	banded := false
	for b, bin := range bins {
		line = append(line, pointText(places[b], y(bin.LogOdds)), pointText(places[b+1], y(bin.LogOdds)))
		banded = banded || bin.Deviation > 0
	}
	d.Line += "M" + strings.Join(line, "L")
	if !banded {
		return
	}
	var upper []string
	for b, bin := range bins {
		upper = append(upper, pointText(places[b], y(bin.LogOdds+bin.Deviation)),
			pointText(places[b+1], y(bin.LogOdds+bin.Deviation)))
		back = append([]string{pointText(places[b+1], y(bin.LogOdds-bin.Deviation)),
			pointText(places[b], y(bin.LogOdds-bin.Deviation))}, back...)
	}
	d.Band += "M" + strings.Join(append(upper, back...), "L") + "Z"
}

const letter = 6.2 // width of a digit in units

// edgeTicks labels the bounds and the roundest number of as many bins as fit, where it lies between their edges.
func edgeTicks(c *schema.Column, bins []Bin, cuts []float64, x func(float64) float64) (out []tick) {
	n := len(bins)
	last := amountText(c, *bins[n-1].To)
	end := x(1) - letter*float64(len([]rune(last))) - 8
	free := x(0) - 1
	for b := range n {
		from, to := *bins[b].From, *bins[b].To
		v := from
		if b > 0 {
			v = roundestIn(from, to, c.Integer || c.Date != "")
		}
		text := amountText(c, v)
		half := letter * float64(len([]rune(text))) / 2
		at := x(cuts[b] + (cuts[b+1]-cuts[b])*(v-from)/(to-from))
		t := tick{At: at, From: at, Anchor: "middle"}
		left, right := t.At-half, t.At+half
		if b == 0 {
			t.Anchor = "start"
			left, right = t.At, t.At+2*half
		}
		if left >= free && right <= end {
			t.Text = text
			free = right + 8
			out = append(out, t)
		}
	}
	return append(out, tick{At: x(1), From: x(1), Anchor: "end", Text: last})
}

// roundestIn returns the number in the lower part of low to high that is a multiple of the largest of 1, 2, 5, 10, 20 and
// so on, or of their tenths; low if there is none. whole allows whole numbers alone.
func roundestIn(low, high float64, whole bool) float64 {
	most := math.Max(math.Abs(low), math.Abs(high))
	if digit := math.Pow(10, math.Floor(math.Log10(math.Abs(low)))); math.Round(low/digit)*digit == low && (!whole || low == math.Floor(low)) {
		return low // of one digit
	}
	if end := (low + high) / 2; low > 0 {
		high = math.Sqrt(low * high)
	} else if !whole || end > math.Ceil(low) {
		high = end
	}
	if first := math.Ceil(low); whole {
		high = math.Max(high, first+0.5)
	}
	for power := math.Ceil(math.Log10(most)); power > -12 && (!whole || power >= 0); power-- {
		for _, first := range []float64{1, 0.5, 0.2} {
			step := first * math.Pow(10, power)
			if whole && step < 1 {
				break
			}
			if v := math.Ceil(low/step) * step; v < high {
				return v
			}
		}
	}
	return low
}

// roundTicks labels round numbers within the bounds: powers of ten on a logarithmic axis, and the
// first days of years for dates.
func roundTicks(c *schema.Column, x func(v float64) float64) (out []tick) {
	free := 0.0
	for _, v := range roundValues(c) {
		text := strings.TrimSuffix(amountText(c, v), "-01-01") // a year begins
		half := letter * float64(len([]rune(text))) / 2
		t := tick{At: x(v), From: min(x(v), drawingWidth-half), Anchor: "middle"}
		if t.From-half >= free {
			t.Text, free = text, t.From+half+8
			out = append(out, t)
		}
	}
	return out
}

// roundValues returns the round numbers within a column's bounds, ascending.
func roundValues(c *schema.Column) (out []float64) {
	within := func(v float64) {
		if c.Lower <= v && v <= c.Upper {
			out = append(out, v)
		}
	}
	switch years := (c.Upper - c.Lower) / 365.25; {
	case c.Date != "" && years >= 2:
		first := int(schema.DatePart(schema.Year, c.Since, c.Lower))
		last := int(schema.DatePart(schema.Year, c.Since, c.Upper))
		step := int(max(1, roundStep(years/6)))
		for year := (first + step - 1) / step * step; year <= last; year += step {
			day, _ := schema.ParseDate("YYYY-MM-DD", fmt.Sprintf("%04d-01-01", year))
			within(float64(day - c.Since))
		}
	case c.Transform == schema.Log1p && c.Upper >= 100:
		within(0)
		for v := 1.0; v <= c.Upper; v *= 10 {
			within(v)
		}
	default:
		step := roundStep((c.Upper - c.Lower) / 6)
		for k := math.Ceil(c.Lower / step); k <= math.Floor(c.Upper/step); k++ {
			within(k * step)
		}
	}
	return out
}

// drawLevels draws one bar per level, in the schema's order.
func drawLevels(sh *Shape, s scale) *drawing {
	const row = 22.0
	d := &drawing{Width: drawingWidth, Left: 124, Right: 348, Top: 6, LabelX: 116}
	d.Bottom = d.Top + row*float64(len(sh.Bins))
	d.Height = d.Bottom + 34
	x := func(z float64) float64 { return d.Left + s.placeOf(z)*(d.Right-d.Left) }
	for _, z := range s.tickValues() {
		d.X = append(d.X, tick{At: x(z), From: x(z), Text: signedNumber(z), Anchor: "middle", Zero: math.Abs(z) < s.step/2})
	}
	for b, bin := range sh.Bins {
		top := d.Top + row*float64(b)
		r := bar{Full: bin.Level, Name: shortenName(bin.Level, 17), At: top + 5, Middle: top + row/2 + 4,
			Value: x(bin.LogOdds)}
		r.From, r.Length = min(x(0), r.Value), math.Abs(r.Value-x(0))
		if bin.Deviation > 0 {
			r.Band = true
			r.BandFrom = x(bin.LogOdds - bin.Deviation)
			r.BandLength = x(bin.LogOdds+bin.Deviation) - r.BandFrom
			r.BandUpper, r.BandLower, r.BandMiddle = top+1, top+row-1, top+row/2
		}
		d.Rows = append(d.Rows, r)
	}
	return d
}

// shortenName shortens a name to at most the given number of characters.
func shortenName(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

func pointText(x, y float64) string { return coordinateText(x) + "," + coordinateText(y) }

// coordinateText formats a coordinate with two decimals.
func coordinateText(x float64) string {
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}

// signedNumber formats log-odds for an axis.
func signedNumber(z float64) string {
	text := strconv.FormatFloat(math.Round(z*1e6)/1e6, 'g', 4, 64)
	switch {
	case text == "0" || text == "-0":
		return "0"
	case z > 0:
		return "+" + text
	}
	return minusSign(text)
}
