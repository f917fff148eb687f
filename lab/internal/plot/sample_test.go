// SPDX-License-Identifier: Apache-2.0

package plot

// sample is a chart with everything in it.
func sample() *Lines {
	eps := []float64{0.01, 0.02, 0.04, 0.08, 0.16}
	return &Lines{
		Title:    "Boosting passes the public columns at ε = 0.02",
		Subtitle: "invented numbers; 25 rounds",
		XLabel:   "privacy loss ε (log scale)",
		YLabel:   "balanced accuracy on held-out rows",
		LogX:     true,
		Spread:   "one standard deviation of 10 runs",
		Note:     "Dashed: as stated by the paper.",
		Series: []Series{
			{Name: "boosting", X: eps, Y: []float64{.570, .619, .673, .673, .680}, Low: []float64{.51, .56, .643, .643, .66},
				High: []float64{.63, .679, .703, .703, .70}, Band: true},
			{Name: "paper's boosting", Like: "boosting", Stroke: Dashed, X: eps, Y: []float64{.60, .65, .69, .71, .73}},
			{Name: "private logistic", X: eps, Y: []float64{.51, .53, .55, .58, .62}, Low: []float64{.49, .51, .53, .56, .60},
				High: []float64{.53, .55, .57, .60, .64}},
		},
		References: []Reference{{"non-private", .760}, {"public columns only", .613}},
	}
}

// crowded is a chart at every limit: six colours, ends that touch, long names,
// ticks that would overlap, a line that stops early, markup in its text.
func crowded() *Lines {
	l := &Lines{
		Title:  "Six ways to do one thing & three levels to compare them with, under a title of two lines",
		XLabel: "rows <thousands>", YLabel: "loss",
		References: []Reference{{"chance", 1}, {"a level with a rather long name", .32}, {"floor", .3}},
		Spread:     "the range of 3 runs",
	}
	for i, name := range []string{"alpha", "beta with a longer name", "gamma", "delta", "epsilon", "zeta"} {
		s := Series{Name: name, Stroke: Stroke(i % 3)}
		for k := range 12 - 4*(i%2) {
			x := float64(k + 1)
			y := .3 + .7/x + .01*float64(i)
			s.X, s.Y = append(s.X, x*x*1000), append(s.Y, y)
			s.Low, s.High = append(s.Low, y-.02), append(s.High, y+.03)
		}
		l.Series = append(l.Series, s)
	}
	return l
}

// boxes is a chart of quartiles, one box of which is flat.
func boxes() *Lines {
	return &Lines{
		Title: "Boosting on a line", Subtitle: "10 runs", XLabel: "privacy loss ε", YLabel: "accuracy",
		LogX: true, YFrom: 0, YTo: 1,
		Spread: "from the lower to the upper quartile across the median, whiskers to the extremes",
		Series: []Series{{
			Name: "boosting", X: []float64{.01, .1, 1}, Y: []float64{.5, .8, .98},
			Low: []float64{.05, .4, .98}, Q1: []float64{.3, .7, .98}, Q3: []float64{.7, .9, .98}, High: []float64{.96, .98, .98},
		}},
		References: []Reference{{"guessing", .5}},
	}
}
