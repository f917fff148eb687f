// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// figures are those that a panel compares; more is better of the first alone. A figure that a fit
// does not have is NaN.
var figures = []struct {
	name string
	of   func(*Fit) float64
}{
	{"AUC", func(f *Fit) float64 { return f.AUC }},
	{"log loss", func(f *Fit) float64 { return f.LogLoss }},
	{"log loss less that of a constant", func(f *Fit) float64 { return f.LogLoss - f.Constant }},
	{"log loss less that of public columns alone", func(f *Fit) float64 {
		if f.Public == 0 {
			return math.NaN()
		}
		return f.LogLoss - f.Public
	}},
	{"slope, off 1", func(f *Fit) float64 {
		if f.SlopeError == 0 || f.SlopeError > 0.1 {
			return math.NaN()
		}
		return math.Abs(f.Slope - 1)
	}},
	{"calibration", func(f *Fit) float64 { return f.Calibration }},
	{"loss by person", func(f *Fit) float64 { return f.PersonLoss }},
	{"calibration by person", func(f *Fit) float64 { return f.PersonCalibration }},
}

// Compare prints means over tables by cell, and, if there is a baseline, the paired difference to it
// with the standard error of repeats within tables, the least and the most of that mean with one
// table left out, and the tables furthest below and above. A change is judged by its worst cells, which follow.
func Compare(out io.Writer, fits, baseline []Fit) {
	before := map[Fit]*Fit{}
	for i := range baseline {
		before[baseline[i].cell()] = &baseline[i]
	}
	names, seen := []string{"all"}, map[string]bool{}
	for i := range fits {
		if n := fits[i].name(); !seen[n] {
			seen[n], names = true, append(names, n)
		}
	}
	for _, figure := range figures {
		fmt.Fprintf(out, "%s\n", figure.name)
		for _, name := range names {
			values, changes := map[string][]float64{}, map[string][]float64{}
			for i := range fits {
				f := &fits[i]
				x := figure.of(f)
				if name != "all" && f.name() != name || math.IsNaN(x) {
					continue
				}
				values[f.Table] = append(values[f.Table], x)
				if b := before[f.cell()]; b != nil && !math.IsNaN(figure.of(b)) {
					changes[f.Table] = append(changes[f.Table], x-figure.of(b))
				}
			}
			if len(values) == 0 {
				continue
			}
			mean, _ := meanOfTables(values, "")
			fmt.Fprintf(out, "  %-22s %.4f", name, mean)
			if len(changes) > 0 {
				fmt.Fprintf(out, "  %s", describeChange(changes))
			}
			fmt.Fprintln(out)
		}
	}
	if len(before) > 0 {
		printWorst(out, fits, before, "AUC", -1, func(f *Fit) float64 { return f.AUC })
		printWorst(out, fits, before, "log loss", 1, func(f *Fit) float64 { return f.LogLoss })
	}
}

// worstCells is how many cells are printed.
const worstCells = 10

// printWorst prints the cells, a table's at one scope, δ and ε, that a figure became worse in by most beyond
// two standard errors of its paired repeats.
func printWorst(out io.Writer, fits []Fit, before map[Fit]*Fit, name string, sign float64, figure func(*Fit) float64) {
	changes := map[Fit][]float64{}
	for i := range fits {
		if b := before[fits[i].cell()]; b != nil {
			c := fits[i].cell()
			c.Repeat = 0
			changes[c] = append(changes[c], figure(&fits[i])-figure(b))
		}
	}
	type cell struct {
		Fit
		mean, stdErr float64
	}
	var cells []cell
	worse, better := 0, 0
	for c, xs := range changes {
		mean, stdErr := meanOfTables(map[string][]float64{"": xs}, "none")
		cells = append(cells, cell{c, mean, stdErr})
		if len(xs) > 1 && math.Abs(mean) > 2*stdErr {
			if sign*mean > 0 {
				worse++
			} else {
				better++
			}
		}
	}
	beyond := func(c cell) float64 { return sign*c.mean - 2*c.stdErr }
	slices.SortFunc(cells, func(a, b cell) int {
		return cmp.Or(cmp.Compare(beyond(b), beyond(a)), strings.Compare(a.Table+a.name(), b.Table+b.name()))
	})
	fmt.Fprintf(out, "worst cells by %s, of %d, %d worse and %d better by more than two standard errors\n", name, len(cells), worse, better)
	for _, c := range cells[:min(worstCells, len(cells))] {
		fmt.Fprintf(out, "  %-36s %s %+.4f ± %.4f\n", c.Table, c.name(), c.mean, c.stdErr)
	}
}

// meanOfTables is the mean over tables but one of their means, and its standard error.
func meanOfTables(of map[string][]float64, without string) (mean, stdErr float64) {
	tables := 0.0
	for t, xs := range of {
		if t == without {
			continue
		}
		m, v, n := 0.0, 0.0, float64(len(xs))
		for _, x := range xs {
			m += x / n
		}
		for _, x := range xs {
			v += (x - m) * (x - m)
		}
		mean, stdErr, tables = mean+m, stdErr+v/(n*math.Max(1, n-1)), tables+1
	}
	return mean / tables, math.Sqrt(stdErr) / tables
}

func describeChange(changes map[string][]float64) string {
	mean, stdErr := meanOfTables(changes, "")
	low, high, worst, best := math.Inf(1), math.Inf(-1), "", ""
	by := func(t string) float64 { m, _ := meanOfTables(map[string][]float64{t: changes[t]}, ""); return m }
	for t := range changes {
		m, _ := meanOfTables(changes, t)
		low, high = math.Min(low, m), math.Max(high, m)
		if worst == "" || by(t) < by(worst) {
			worst = t
		}
		if best == "" || by(t) > by(best) {
			best = t
		}
	}
	return fmt.Sprintf("%+.4f ± %.4f  but one %+.4f to %+.4f  %s %+.4f  %s %+.4f", mean, stdErr, low, high,
		worst, by(worst), best, by(best))
}
