// SPDX-License-Identifier: Apache-2.0

package wangchang

import (
	"fmt"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/experiment/frame"
	"github.com/discreet-dp/discreet/lab/internal/experiment/wangchang/continuous"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// mechanism is one of the three that the paper compares.
type mechanism struct {
	name, long string
	make       func(d int, eps float64) continuous.Mechanism
	stroke     plot.Stroke
}

var (
	pm      = mechanism{"pm", "PM", continuous.Piecewise, plot.Solid}
	duchi   = mechanism{"duchi", "Duchi", continuous.Duchi, plot.Dashed}
	laplace = mechanism{"laplace", "Laplace", continuous.Laplace, plot.Points}
	three   = []mechanism{pm, duchi, laplace}
	// What ships, on public grids.
	discrete = mechanism{"pm-discrete", "PM, discrete", shippedMechanism("piecewise"), plot.Solid}
	hybrid   = mechanism{"hybrid-discrete", "Hybrid, discrete", shippedMechanism("hybrid"), plot.Solid}
	all      = []mechanism{pm, duchi, laplace, discrete, hybrid, repaired}
	// repaired is Duchi's mechanism as it ships, in which ties point away. As printed it costs ln(1 + e^ε), and not
	// ε, where the dimension is even.
	repaired = mechanism{"duchi-repaired", "Duchi, repaired", shippedMechanism("duchi"), plot.Dashed}
)

// withRepaired appends the repaired mechanism for a source of even dimension: all but the census and Brazil.
func withRepaired(of source, some ...mechanism) []mechanism {
	if of == ofMNIST || of == ofFashion {
		return append(some, repaired)
	}
	return some
}

// source is one of the paper's data sets, or what stands in for it.
type source struct{ name, long string }

var (
	ofMNIST   = source{mnist.name, mnist.long}
	ofFashion = source{fashion.name, "Fashion"}
	ofCensus  = source{"census", "census"}
	sources   = []source{ofMNIST, ofFashion, ofCensus}
	ofBrazil  = source{"brazil", "Brazil"} // a user's own extract
)

// Metrics of records.
const (
	accuracy      = "accuracy"
	mse           = "mse"
	mseClosedForm = "mse_closed_form"
	errorRate     = "error"
	noNoise       = "not private"
	oneReport     = "local" // mode local: one report an owner, class included
)

// printedBudgets are the paper's.
var printedBudgets = []dp.Epsilon{1 * dp.Nano, 3 * dp.Nano, 5 * dp.Nano, 7 * dp.Nano, 9 * dp.Nano}

// seriesName is the name of a series: its data, then its mechanism or noNoise.
func seriesName(s source, mechanism string) string { return s.name + " " + mechanism }

// parseSeries is the inverse of line.
func parseSeries(series string) (s source, m mechanism, rest string) {
	data, rest, _ := strings.Cut(series, " ")
	for _, of := range append(sources, ofBrazil) {
		if of.name == data {
			s = of
		}
	}
	for _, of := range all {
		if of.name == rest {
			m = of
		}
	}
	return s, m, rest
}

// dataNames is what records call several sources together.
func dataNames(of ...source) string {
	var names []string
	for _, s := range of {
		names = append(names, s.name)
	}
	return strings.Join(names, "+")
}

// newCurve is a series over numbers, with one standard deviation as spread.
func newCurve(name string, x []float64, at func(i int) frame.Stat) plot.Series {
	s := plot.Series{Name: name}
	for i, v := range x {
		st := at(i)
		if st.N == 0 {
			continue
		}
		s.X, s.Y = append(s.X, v), append(s.Y, st.Mean)
		s.Low, s.High = append(s.Low, st.Mean-st.StdDev), append(s.High, st.Mean+st.StdDev)
	}
	return s
}

func epsilonFloats(budgets []dp.Epsilon) (out []float64) {
	for _, eps := range budgets {
		out = append(out, eps.Float())
	}
	return out
}

const spreadNote = "mean ± one standard deviation of repeats"

func formatPercent(st frame.Stat) string {
	return fmt.Sprintf("%.1f ± %.1f %%", 100*st.Mean, 100*st.StdDev)
}

// listed joins items with commas.
type listed []string

func (l *listed) addLine(format string, a ...any) { *l = append(*l, fmt.Sprintf(format, a...)) }
func (l listed) String() string                   { return strings.Join(l, ", ") }

// checkHighest checks that one series is above others at every ε.
func checkHighest(s *frame.Summary, what, best string, others []string, budgets []dp.Epsilon,
	metric string) frame.Check {
	c := frame.Check{What: what, Paper: "the highest at every ε"}
	var ours listed
	for _, eps := range budgets {
		top, name := s.Mean(best, eps, metric).Mean, ""
		for _, o := range others {
			c.Parts = append(c.Parts, frame.Above(s.Difference(best, o, eps, metric), 0))
			if v := s.Mean(o, eps, metric).Mean; v >= top {
				top, name = v, o
			}
		}
		if name != "" {
			ours.addLine("at ε = %s %s is %.1f points above", eps, name, 100*(top-s.Mean(best, eps, metric).Mean))
		}
	}
	if c.Ours = ours.String(); c.Ours == "" {
		c.Ours = "the highest mean at every ε"
	}
	return c
}

// checkRises checks that a number is larger at the largest ε than at the smallest.
func checkRises(s *frame.Summary, what string, series []string, budgets []dp.Epsilon, metric string) frame.Check {
	c := frame.Check{What: what,
		Paper: "improves with ε in general (read as: higher at the largest ε than at the smallest)"}
	first, last := budgets[0], budgets[len(budgets)-1]
	var ours listed
	for _, name := range series {
		a, b := s.Mean(name, first, metric).Mean, s.Mean(name, last, metric).Mean
		c.Parts = append(c.Parts, frame.Above(s.Between(name, last, name, first, metric), 0))
		ours.addLine("%s %.1f to %.1f %%", name, 100*a, 100*b)
	}
	c.Ours = ours.String()
	return c
}

// discreteNotes compares the shipped mechanism with the printed one.
func discreteNotes(s *frame.Summary, of []source, budgets []dp.Epsilon, metric string) (out []string) {
	for _, o := range of {
		d := s.Over(seriesName(o, discrete.name), seriesName(o, pm.name), budgets, metric)
		out = append(out, fmt.Sprintf("%s, discrete PM as shipped less printed PM, mean over ε: %+.2f ± %.2f points.", o.long,
			100*d.Mean, 100*d.StdErr))
	}
	return out
}

// localNote says what mode local is.
const localNote = "Local: discreet's mode of that name, one report an owner at ε for its class and all its columns, " +
	"nothing in clear. In the other series ε covers the perturbed numbers alone."

// notesOf lists a metric of series over budgets, a line each.
func notesOf(s *frame.Summary, series []string, budgets []dp.Epsilon, metric string) (out []string) {
	for _, name := range series {
		var l listed
		for _, eps := range budgets {
			if st := s.Mean(name, eps, metric); st.N > 0 {
				l.addLine("%s at ε = %s", formatPercent(st), eps)
			}
		}
		if len(l) > 0 {
			out = append(out, fmt.Sprintf("%s, %s: %s.", name, metric, l))
		}
	}
	return out
}

// nothingPrivate is true of every image's features, whatever noise comes later.
const nothingPrivate = "The dictionary of visual words was learned from unperturbed images: no ε of this figure " +
	"covers that."

// tiesNote stands on the page of each figure with an even dimension.
const tiesNote = "Duchi's mechanism as printed is not ε-private where the dimension is even: a report costs ln(1 + e^ε), " +
	"1.313 at ε = 1. Repaired: ties point away, and a report costs ε."

const standInSays = "Census: invented people stand in for the Brazilian census, which may not be passed on; with a " +
	"user's own extract, named by DISCREET_BRAZIL, there is the figure `wangchang/brazil`. A constant answer is right " +
	"about 72 % of the invented people."
