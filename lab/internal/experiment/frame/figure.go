// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"context"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/lab/internal/plot"
)

// Figure is one figure of a paper, or a part of one, that can be measured again.
type Figure struct {
	Name     string // paper/figure, e.g. "shen/fig2a"
	Paper    string // citation
	Title    string // what the figure shows, short enough for a heading
	Claim    string // what the paper says about it, one sentence
	Protocol string // how it is measured, as the paper has it, and our choices if it does not
	Data     string // the table, as records call it
	Repeats  int    // by default; the paper's number
	Quick    int    // of a quick run; 0: three
	// Points are measured once in each repeat, in this order.
	Points []Point
	// Open reads what all repeats share.
	Open func(ctx context.Context, w *World) (Setup, error)
	// OneClaim says that the claim is about each line by itself, so that the null run
	// deals values among a line's metrics instead of among lines.
	OneClaim bool
	// Draw turns the numbers into a chart.
	Draw func(s *Summary) *plot.Lines
	// Judge compares the numbers with the paper's.
	Judge func(s *Summary) []Check
	// Notes are further findings for the page, one sentence each; may be nil.
	Notes func(s *Summary) []string
}

// Point is one measurement of a repeat.
type Point struct {
	Series     string     // the line it belongs to, e.g. "brc"
	Epsilon    dp.Epsilon // the ε of the fit; 0 if there is none
	Encoding   string     // of categories; empty if there is none
	Parameters string     // further choices that tell points apart, e.g. "sensitivity=paper"
}

// Setup prepares one repeat, e.g. splits the rows, and returns how its points
// are measured. Both may be called from several goroutines at once.
type Setup func(ctx context.Context, r Repeat) (Measure, error)

// Measure measures one point.
type Measure func(ctx context.Context, p Point) (Measurement, error)

// Measurement is what measuring a point gave.
type Measurement struct {
	Values []Value
	Bill   dp.Epsilon // what the fit cost; 0 for a fit without privacy
}

// Value is one measured number.
type Value struct {
	Metric string
	Value  float64
}
