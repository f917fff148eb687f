// SPDX-License-Identifier: Apache-2.0

package sheet

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Chart draws numbers against shares: the horizontal axis runs from 0 to 1, the vertical one from Low to High, or from 0
// to 1 if both are 0.
type Chart struct {
	Title, Subtitle, XLabel, YLabel string
	Low, High                       float64
	Note                            string // stands below; "" for none
	Lines                           []Line // 1 to 2
}

// Line joins its points in their order. Low and High are the spread of each Y, drawn as bars or as
// a band; both nil for none. With Until, each Y instead holds from X to Until, and its spread is a box.
type Line struct {
	Name            string
	X, Y, Low, High []float64
	Until           []float64
	Dashed, Band    bool
}

// Each line has a colour and a mark of its own, so that nobody needs the colours to tell lines apart.
var (
	colours = []string{"#0072B2", "#D55E00"} // Okabe and Ito, "Color Universal Design" (2008)
	marks   = []string{"m-3,0a3,3 0 1,0 6,0a3,3 0 1,0 -6,0z", "m-3,-3h6v6h-6z"}
)

// The rectangle of the data, in units of the drawing.
const (
	left, top  = 44, 10
	wide, tall = 330, 250
	steps      = 5 // between the labels of an axis
)

type drawnLine struct {
	Name, Colour, Mark      string
	Path, Marks, Bars, Area string // as SVG has paths
	Dashed                  bool
}

type drawnTick struct {
	X, Y          int
	Label, YLabel string
}

type drawnChart struct {
	*Chart
	XLabel                           string // as much of the chart's as there is room for
	Left, Right, Top, Bottom, Middle int
	Lines                            []drawnLine
	Ticks                            []drawnTick
}

const rounding = 1e-9

// labelRoom is how many letters of a label fit below a chart. What is longer, such as the name of a class, loses its end.
const labelRoom = 48

func shortenLabel(label string) string {
	if r := []rune(label); len(r) > labelRoom {
		return string(r[:labelRoom-1]) + "…"
	}
	return label
}

// place is where a point stands; what lies outside, as spreads may, is cut.
func (c *Chart) place(x, y float64) string {
	low, high := c.bounds()
	x, y = min(max(x, 0), 1), min(max((y-low)/(high-low), 0), 1)
	return fmt.Sprintf("%.2f,%.2f", left+wide*x, top+tall*(1-y))
}

func (c *Chart) bounds() (low, high float64) {
	if c.Low == 0 && c.High == 0 {
		return 0, 1
	}
	return c.Low, c.High
}

// draw makes paths of the numbers, and refuses those that are beyond the axes.
func (c *Chart) draw() (*drawnChart, error) {
	refuse := func(param, want string, got any) (*drawnChart, error) {
		return nil, &dp.ParamError{Op: "sheet", Param: c.Title + ": " + param, Want: want, Got: got}
	}
	if c.XLabel == "" || c.YLabel == "" {
		return refuse("labels", "must be given", nil)
	}
	if len(c.Lines) < 1 || len(c.Lines) > len(colours) {
		return refuse("lines", fmt.Sprintf("must be 1 to %d", len(colours)), len(c.Lines))
	}
	low, high := c.bounds()
	if !(low < high) {
		return refuse("bounds", "must be from low to high", low)
	}
	d := &drawnChart{Chart: c, XLabel: shortenLabel(c.XLabel), Left: left, Right: left + wide, Top: top, Bottom: top + tall, Middle: left + wide/2}
	for i := range steps + 1 {
		d.Ticks = append(d.Ticks, drawnTick{left + wide*i/steps, top + tall*(steps-i)/steps, fmt.Sprintf("%g", float64(i)/steps),
			fmt.Sprintf("%.3g", low+(high-low)*float64(i)/steps)})
	}
	for i := range c.Lines {
		l := &c.Lines[i]
		n := len(l.X)
		spread := l.Low != nil || l.High != nil
		if n == 0 || len(l.Y) != n || spread && (len(l.Low) != n || len(l.High) != n) || l.Until != nil && len(l.Until) != n {
			return refuse(l.Name, "must have as many numbers of each kind, and one at least", n)
		}
		for k, x := range l.X {
			if y := l.Y[k]; !(x >= -rounding && x <= 1+rounding && y >= low-rounding && y <= high+rounding) {
				return refuse(l.Name, "must lie within the axes", [2]float64{x, y})
			}
		}
		out := drawnLine{Name: l.Name, Colour: colours[i], Mark: marks[i], Dashed: l.Dashed}
		var points, highs, lows []string
		for k, x := range l.X {
			at := c.place(x, l.Y[k])
			points = append(points, at)
			if spread && !(l.Low[k] <= l.High[k]) {
				return refuse(l.Name, "must have spreads from low to high", l.Low[k])
			}
			if l.Until != nil {
				if !(l.Until[k] >= x) {
					return refuse(l.Name, "must have steps from left to right", l.Until[k])
				}
				points[k] += "L" + c.place(l.Until[k], l.Y[k])
				if spread {
					out.Area += "M" + strings.Join([]string{c.place(x, l.Low[k]), c.place(l.Until[k], l.Low[k]), c.place(l.Until[k], l.High[k]),
						c.place(x, l.High[k])}, "L") + "Z"
				}
				continue
			}
			out.Marks += "M" + at + marks[i]
			if spread {
				highs, lows = append(highs, c.place(x, l.High[k])), append(lows, c.place(x, l.Low[k]))
				out.Bars += "M" + highs[k] + "L" + lows[k]
			}
		}
		join := "L"
		if l.Until != nil {
			join = "M"
		}
		out.Path = "M" + strings.Join(points, join)
		if l.Band && spread && l.Until == nil {
			slices.Reverse(lows)
			out.Area, out.Bars = "M"+strings.Join(append(highs, lows...), "L")+"Z", ""
		}
		d.Lines = append(d.Lines, out)
	}
	return d, nil
}
