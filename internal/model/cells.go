// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Cells describes the bins in which rows were counted, from what was released or is public. With it a
// reader can tell how far the steps would go if the column had no effect.
type Cells struct {
	// Edges are those of the bins of a number; Shape.Edges may divide them further.
	Edges []float64 `json:"edges"`
	// Groups are the bins of the codes of a category; empty if each code has its own.
	Groups []uint32 `json:"groups,omitempty"`
	// Weights are estimates of the shares of the rows' weight in each bin; all 0 if nothing is known.
	Weights []float64 `json:"weights"`
	// Releases are the measurements of the column's own cells, in their order; none if the steps are exact,
	// or follow from measurements that columns share.
	Releases []Release `json:"releases,omitempty"`
	// Stretch is the factor by which what the releases add up to was multiplied in the end.
	Stretch float64 `json:"stretch,omitempty"`
}

// Release describes one measurement of the cells of a column, from which steps of log-odds follow.
// Numbers by class are of the positive class first.
type Release struct {
	Rows     float64    `json:"rows"`               // number of rows, as released if it is private
	Weights  [2]float64 `json:"weights"`            // of all rows, by class, as released
	Noise    [2]float64 `json:"noise"`              // by class, the standard deviation of the noise on each bin's number
	Gaussian bool       `json:"gaussian,omitempty"` // whether the noise is Gaussian, otherwise Laplace
	Balanced bool       `json:"balanced,omitempty"` // whether Weights are public and each bin's numbers add up to them
	Part     float64    `json:"part"`               // part of the steps that enters the model
}

// Bins are the bins in which the rows of column j were counted.
func (c *Cells) Bins(s *schema.Schema, j int) feature.Bins {
	if c.Groups != nil {
		return feature.NewGroups(j, c.Groups, int(slices.Max(c.Groups))+1)
	}
	return feature.NewBins(s, j, c.Edges)
}

// maxWeight bounds weights and deviations, so that none of what follows from them overflows.
const maxWeight, maxReleases = 1e15, 16

func (sh *Shape) checkCells(s *schema.Schema, j int) error {
	if sh.Cells == nil {
		return nil
	}
	if err := checkEdges(&s.Columns[j], sh.Cells.Edges); err != nil {
		return fmt.Errorf("cells: %w", err)
	}
	for _, e := range sh.Cells.Edges {
		if _, found := slices.BinarySearch(sh.Edges, e); !found {
			return fmt.Errorf("cells: edges must be among those of the shape (got %g)", e)
		}
	}
	if n := s.Columns[j].Codes(); sh.Cells.Groups != nil && (s.Columns[j].Kind != schema.Category ||
		len(sh.Cells.Groups) != n || int(slices.Max(sh.Cells.Groups)) >= n) {
		return fmt.Errorf("cells: groups must hold one bin below %d for each of %d codes of a category", n, n)
	}
	bins := sh.Cells.Bins(s, j)
	if err := checkWeights(sh.Cells.Weights, bins.Len()); err != nil {
		return fmt.Errorf("cells: %w", err)
	}
	if n := len(sh.Cells.Releases); n > maxReleases {
		return fmt.Errorf("cells: releases must number at most %d (got %d)", maxReleases, n)
	}
	if !(sh.Cells.Stretch >= 0 && sh.Cells.Stretch <= feature.MaxStep) {
		return fmt.Errorf("cells: stretch must be from 0 to %d (got %g)", feature.MaxStep, sh.Cells.Stretch)
	}
	for _, r := range sh.Cells.Releases {
		if err := r.check(); err != nil {
			return fmt.Errorf("cells: %w", err)
		}
	}
	return nil
}

// checkWeights requires one share per bin.
func checkWeights(weights []float64, bins int) error {
	if len(weights) != bins {
		return fmt.Errorf("weights must number %d, one per bin (got %d)", bins, len(weights))
	}
	for b, w := range weights {
		if !(w >= 0 && w <= 1) {
			return fmt.Errorf("weights must be from 0 to 1 (bin %d has %g)", b, w)
		}
	}
	return nil
}

func (r *Release) check() error {
	for _, x := range []float64{r.Rows, r.Noise[0], r.Noise[1], math.Abs(r.Weights[0]), math.Abs(r.Weights[1])} {
		if !(x >= 0 && x <= maxWeight) {
			return fmt.Errorf("a release must hold rows, noise and sizes of weights from 0 to %g (got %g)", maxWeight, x)
		}
	}
	if !(r.Part >= 0 && r.Part <= 1) {
		return fmt.Errorf("part of a release must be from 0 to 1 (got %g)", r.Part)
	}
	return nil
}
