// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// Result is a finished comparison.
type Result struct {
	Options     *Options
	Train, Test int // rows of each split
	Points      []*Point
}

// Point is one learner at one ε.
type Point struct {
	Learner  string
	Epsilon  dp.Epsilon // 0 for a learner without privacy
	Accuracy []float64  // by repeat, shares of the held-out rows
	AUC      []*float64 // by repeat; nil if the held-out rows lack a class
	learner  *Learner
}

// Metric names a measure of a model's quality.
type Metric string

const (
	Accuracy Metric = "accuracy"
	AUC      Metric = "AUC"
)

// Stat is a mean over splits.
type Stat struct {
	Mean   float64 `json:"mean"`
	StdDev float64 `json:"deviation"` // between splits; 0 for a single one
	N      int     `json:"splits"`    // number of splits in which the metric exists
}

// Stat returns the mean of a metric over the splits in which it exists.
func (p *Point) Stat(m Metric) (s Stat) {
	var x []float64
	if m == Accuracy {
		x = p.Accuracy
	} else {
		for _, v := range p.AUC {
			if v != nil {
				x = append(x, *v)
			}
		}
	}
	if s.N = len(x); s.N == 0 {
		return s
	}
	for _, v := range x {
		s.Mean += v / float64(s.N)
	}
	if s.N > 1 {
		for _, v := range x {
			s.StdDev += (v - s.Mean) * (v - s.Mean) / float64(s.N-1)
		}
		s.StdDev = math.Sqrt(s.StdDev)
	}
	return s
}

// Has reports whether a metric exists at every point.
func (r *Result) Has(m Metric) bool {
	for _, p := range r.Points {
		if p.Stat(m).N == 0 {
			return false
		}
	}
	return true
}

// Chart draws a metric that exists at every point against ε. Learners without privacy are horizontal
// lines.
func (r *Result) Chart(m Metric) *plot.Lines {
	o := r.Options
	l := &plot.Lines{
		Title: "Not private: held-out " + string(m) + " against ε",
		Subtitle: fmt.Sprintf("trained on %d rows, judged on %d others; mean of %d random splits", r.Train, r.Test,
			o.Repeats),
		XLabel: "privacy loss ε of one fit", YLabel: string(m) + " on held-out rows",
		LogX: true,
		Note: "Chosen by these numbers, a model is no longer covered by its ε.",
	}
	if o.Repeats > 1 {
		l.Spread = fmt.Sprintf("one standard deviation between %d splits, noise included", o.Repeats)
	} else {
		l.Subtitle = fmt.Sprintf("trained on %d rows, judged on %d others; a single split", r.Train, r.Test)
	}
	for i := 0; i < len(r.Points); {
		p := r.Points[i]
		if p.Epsilon == 0 {
			l.References = append(l.References, plot.Reference{Name: p.Learner, Y: p.Stat(m).Mean})
			i++
			continue
		}
		line := plot.Series{Name: p.Learner}
		for ; i < len(r.Points) && r.Points[i].learner == p.learner; i++ {
			s := r.Points[i].Stat(m)
			line.X, line.Y = append(line.X, r.Points[i].Epsilon.Float()), append(line.Y, s.Mean)
			if l.Spread != "" {
				line.Low, line.High = append(line.Low, s.Mean-s.StdDev), append(line.High, s.Mean+s.StdDev)
			}
		}
		l.Series = append(l.Series, line)
	}
	return l
}
