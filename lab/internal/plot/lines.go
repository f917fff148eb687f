// SPDX-License-Identifier: Apache-2.0

package plot

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-dp/discreet/internal/ground/dp"
)

// Lines is a chart of a few series over one shared axis. Every text is one line of characters and
// short enough to leave space for the data: a title of at most 100, a note of at most 240, a name of
// at most 60 in words of at most 16. Numbers are between -1e12 and 1e12.
type Lines struct {
	Title    string // describes the content; required
	Subtitle string // describes the measurement; may be empty
	XLabel   string // required, with the unit if there is one
	YLabel   string // required
	// LogX spaces x by its logarithm; every x must then be > 0.
	LogX bool
	// XTicks are the labelled values of x; if empty, exactly the x of the series.
	XTicks []float64
	// YFrom and YTo bound the y axis and must enclose every y and reference (spreads are cut off);
	// both 0: round numbers around all of them.
	YFrom, YTo float64
	// Spread explains Low to High, e.g. "one standard deviation of 10 runs"; required if a series has
	// them.
	Spread     string
	Note       string // written below the figure; may be empty
	Series     []Series
	References []Reference
}

// Series is one line. X is strictly increasing.
type Series struct {
	Name string
	X, Y []float64
	// Low and High are the spread of each Y; both nil for none.
	Low, High []float64
	// Q1 and Q3 draw boxes instead of bars and markers: from Q1 to Q3, with Y
	// across and whiskers from Low to High, which they need. Both nil for none.
	Q1, Q3 []float64
	// Band shades the spread instead of drawing bars.
	Band   bool
	Stroke Stroke
	// Like names an earlier series whose colour this one shares, for two views
	// of one thing, e.g. ours and a paper's; empty: the next colour.
	Like string
}

// Stroke is how the points of a series are joined.
type Stroke int

const (
	Solid  Stroke = iota // joined, with filled markers
	Dashed               // joined by dashes, with hollow markers
	Points               // not joined, with hollow markers
)

// Reference is a level to compare with, drawn across the whole width.
type Reference struct {
	Name string
	Y    float64
}

const (
	maxColours    = 6
	maxReferences = 3 // each has its own dashes
)

// checkDrawable refuses a chart that cannot be drawn or would be misleading.
func (l *Lines) checkDrawable() error {
	refuse := func(param, want string, got any) error {
		return &dp.ParamError{Op: "plot", Param: param, Want: want, Got: got}
	}
	for _, f := range []struct{ param, text string }{{"title", l.Title}, {"x label", l.XLabel}, {"y label", l.YLabel}} {
		if f.text == "" {
			return refuse(f.param, "must be given", nil)
		}
	}
	for _, f := range []struct {
		param, text string
		most        int
	}{
		{"title", l.Title, 100}, {"subtitle", l.Subtitle, 140}, {"x label", l.XLabel, 50}, {"y label", l.YLabel, 70},
		{"spread", l.Spread, 100}, {"note", l.Note, 240},
	} {
		if err := checkText(f.param, f.text, f.most); err != nil {
			return err
		}
	}
	if len(l.Series) == 0 {
		return refuse("series", "must be at least one", nil)
	}
	if len(l.References) > maxReferences {
		return refuse("references", fmt.Sprintf("must be at most %d", maxReferences), len(l.References))
	}
	colours, names := 0, map[string]bool{}
	for i := range l.Series {
		s := &l.Series[i]
		if s.Like == "" {
			colours++
		} else if !names[s.Like] {
			return refuse("series "+s.Name, "must be like an earlier series", s.Like)
		}
		if err := l.checkSeries(s); err != nil {
			return err
		}
		if names[s.Name] {
			return refuse("series", "must have distinct names", s.Name)
		}
		names[s.Name] = true
	}
	if colours > maxColours {
		return refuse("series", fmt.Sprintf("must be at most %d colours", maxColours), colours)
	}
	for _, r := range l.References {
		if err := checkName("reference", r.Name); err != nil {
			return err
		}
		if !isDrawable(r.Y) {
			return refuse("reference "+r.Name, wantNumber, r.Y)
		}
	}
	for i, x := range l.XTicks {
		if !isDrawable(x) || l.LogX && !(x > 0) || i > 0 && !(x > l.XTicks[i-1]) {
			return refuse("x ticks", "must be increasing numbers up to 1e12 and, on a log axis, > 0", x)
		}
	}
	if l.YFrom != 0 || l.YTo != 0 {
		if !isDrawable(l.YFrom) || !isDrawable(l.YTo) || !(l.YTo-l.YFrom > 1e-9*max(1, math.Abs(l.YFrom), math.Abs(l.YTo))) {
			return refuse("y range", "must be two numbers up to 1e12, the lower one first",
				fmt.Sprintf("%g to %g", l.YFrom, l.YTo))
		}
		ys := []float64{}
		for i := range l.Series {
			ys = append(ys, l.Series[i].Y...)
		}
		for _, r := range l.References {
			ys = append(ys, r.Y)
		}
		for _, y := range ys {
			if y < l.YFrom || y > l.YTo {
				return refuse("y range", fmt.Sprintf("must hold every y and reference, such as %g", y),
					fmt.Sprintf("%g to %g", l.YFrom, l.YTo))
			}
		}
	}
	return nil
}

func (l *Lines) checkSeries(s *Series) error {
	refuse := func(want string, got any) error {
		return &dp.ParamError{Op: "plot", Param: "series " + s.Name, Want: want, Got: got}
	}
	if err := checkName("series", s.Name); err != nil {
		return err
	}
	if s.Stroke < Solid || s.Stroke > Points {
		return refuse("must be solid, dashed or points", int(s.Stroke))
	}
	n := len(s.X)
	if n == 0 || len(s.Y) != n {
		return refuse("must have as many y as x, and one at least", fmt.Sprintf("%d x and %d y", n, len(s.Y)))
	}
	if (s.Low != nil || s.High != nil) && (len(s.Low) != n || len(s.High) != n) {
		return refuse("must have a low and a high for each y or none",
			fmt.Sprintf("%d and %d for %d", len(s.Low), len(s.High), n))
	}
	if s.Low != nil && l.Spread == "" {
		return &dp.ParamError{Op: "plot", Param: "spread", Want: "must say what the error bars are",
			Hint: `for example "one standard deviation of 10 runs"`}
	}
	if (s.Q1 != nil || s.Q3 != nil) && (len(s.Q1) != n || len(s.Q3) != n || s.Low == nil || s.Band) {
		return refuse("must have quartiles, and a low and a high without a band, for each y or none",
			fmt.Sprintf("%d and %d for %d", len(s.Q1), len(s.Q3), n))
	}
	for i, x := range s.X {
		switch {
		case !isDrawable(x) || l.LogX && !(x > 0) || i > 0 && !(x > s.X[i-1]):
			return refuse("must have increasing x up to 1e12, > 0 on a log axis", x)
		case !isDrawable(s.Y[i]):
			return refuse("must have y of at most 1e12", s.Y[i])
		case s.Low != nil && !(isDrawable(s.Low[i]) && isDrawable(s.High[i]) && s.Low[i] <= s.Y[i] && s.Y[i] <= s.High[i]):
			return refuse("must have low ≤ y ≤ high, all at most 1e12", fmt.Sprintf("%g, %g, %g", s.Low[i], s.Y[i], s.High[i]))
		case s.Q1 != nil && !(s.Low[i] <= s.Q1[i] && s.Q1[i] <= s.Y[i] && s.Y[i] <= s.Q3[i] && s.Q3[i] <= s.High[i]):
			return refuse("must have low ≤ q1 ≤ y ≤ q3 ≤ high",
				fmt.Sprintf("%g, %g, %g, %g, %g", s.Low[i], s.Q1[i], s.Y[i], s.Q3[i], s.High[i]))
		}
	}
	return nil
}

const (
	nameRunes = 60
	wordRunes = 16 // longest word that fits next to the data

	wantNumber = "must be a number between -1e12 and 1e12"
)

func checkName(param, name string) error {
	if name == "" {
		return &dp.ParamError{Op: "plot", Param: param, Want: "must have a name"}
	}
	for _, word := range strings.Fields(name) {
		if utf8.RuneCountInString(word) > wordRunes {
			return &dp.ParamError{Op: "plot", Param: param,
				Want: fmt.Sprintf("must be named in words of at most %d characters", wordRunes), Got: fmt.Sprintf("%q", name)}
		}
	}
	return checkText(param, name, nameRunes)
}

// checkText refuses texts that would break a line, a terminal or an SVG, or leave no space for the
// data.
func checkText(param, text string, most int) error {
	want := ""
	switch {
	case strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' || r >= 0x7f && r < 0xa0 || r == 0xfffd || r&0xfffe == 0xfffe
	}):
		want = "must be one line of valid text without control characters"
	case utf8.RuneCountInString(text) > most:
		want = fmt.Sprintf("must be at most %d characters", most)
	default:
		return nil
	}
	return &dp.ParamError{Op: "plot", Param: param, Want: want, Got: fmt.Sprintf("%q", text)}
}

// isDrawable refuses NaN, infinities and numbers with too many digits.
func isDrawable(x float64) bool { return math.Abs(x) <= 1e12 }

// footText returns the text below the figure.
func (l *Lines) footText() string {
	if l.Spread == "" {
		return l.Note
	}
	var shapes []string
	for _, shape := range []struct {
		name string
		is   func(s *Series) bool
	}{
		{"bars", func(s *Series) bool { return s.Low != nil && !s.Band && s.Q1 == nil }},
		{"bands", func(s *Series) bool { return s.Low != nil && s.Band }},
		{"boxes", func(s *Series) bool { return s.Q1 != nil }},
	} {
		if slices.ContainsFunc(l.Series, func(s Series) bool { return shape.is(&s) }) {
			shapes = append(shapes, shape.name)
		}
	}
	what := strings.Join(shapes, " and ")
	if what == "" {
		what = "bars"
	}
	what = strings.ToUpper(what[:1]) + what[1:] + ": "
	foot := what + strings.TrimSuffix(l.Spread, ".") + "."
	if l.Note != "" {
		foot += " " + l.Note
	}
	return foot
}

// paletteIndexes returns the palette index of each series.
func (l *Lines) paletteIndexes() []int {
	of := map[string]int{}
	out := make([]int, len(l.Series))
	next := 0
	for i := range l.Series {
		s := &l.Series[i]
		if s.Like != "" {
			out[i] = of[s.Like]
		} else {
			out[i] = next
			next++
		}
		of[s.Name] = out[i]
	}
	return out
}
