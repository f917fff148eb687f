// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Additive is a sum of step functions, each of one column or of a pair. The sum is the log-odds of the
// positive class.
type Additive struct {
	Intercept float64     `json:"intercept"`
	Moved     *Moved      `json:"moved,omitempty"` // nil in models of versions before 8
	Shapes    []Shape     `json:"shapes"`
	Pairs     []PairShape `json:"pairs,omitempty"`
}

// Moved states how far noise alone may have moved scores, in standard deviations, in addition to what
// each shape states: by Intercept for all rows, and by Slope·(z − Middle) for a row whose steps add up
// to z, over the shapes that state their own part.
type Moved struct {
	Intercept float64 `json:"intercept"`
	Slope     float64 `json:"slope"`
	Middle    float64 `json:"middle"`
}

// Shape is the contribution of one column to the log-odds.
type Shape struct {
	Column string `json:"column"`
	// Edges are strictly increasing and inside the bounds of a number; empty for a category, which has
	// one bin per code.
	Edges   []float64 `json:"edges"`
	LogOdds []float64 `json:"log_odds"` // one per bin, nats
	// Noise is the standard error of each of LogOdds that is due to noise and to the random choice of
	// rows; 0 if no noise was added. It is computed from released numbers.
	Noise []float64 `json:"noise"`
	// Moved is the standard deviation by which noise alone moves scores in each bin: the difference to
	// expect from another fit to the same rows. It is empty if the shape is exact, or if the model has
	// no Additive.Moved.
	Moved []float64 `json:"moved,omitempty"`
	Cells *Cells    `json:"cells,omitempty"` // nil if there were no rows
}

const maxShapes = 1 << 16

// Describe implements Classifier.
func (a *Additive) Describe() string { return "an additive model" }

// checkParts implements Classifier. It uses no space.
func (a *Additive) checkParts(s *schema.Schema, _ *spaceUse) error {
	if err := checkTwoClasses(s); err != nil {
		return err
	}
	if err := checkShapeCount(len(a.Shapes) + len(a.Pairs)); err != nil {
		return err
	}
	if !(math.Abs(a.Intercept) <= feature.MaxStep) {
		return fmt.Errorf("model: additive: intercept must be at most %d in size (got %g)", feature.MaxStep, a.Intercept)
	}
	if err := a.Moved.check(); err != nil {
		return err
	}
	places := newShapePlaces(s)
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		j, err := places.takeColumn(k, sh.Column)
		if err != nil {
			return err
		}
		if err := sh.checkSteps(s, j); err != nil {
			return fmt.Errorf("model: shape %d: %w", k, err)
		}
		if err := a.checkMoved(sh.Moved, len(sh.LogOdds)); err != nil {
			return fmt.Errorf("model: shape %d: %w", k, err)
		}
		if err := sh.checkCells(s, j); err != nil {
			return fmt.Errorf("model: shape %d: %w", k, err)
		}
	}
	return a.checkPairs(s, places.index)
}

func checkShapeCount(n int) error {
	if n < 1 || n > maxShapes {
		return fmt.Errorf("model: shapes must number 1 to %d (got %d)", maxShapes, n)
	}
	return nil
}

// shapePlaces finds the columns of shapes, and refuses two shapes of one column.
type shapePlaces struct {
	index map[string]int
	taken map[string]bool
}

func newShapePlaces(s *schema.Schema) *shapePlaces {
	return &shapePlaces{indexColumns(s), make(map[string]bool)}
}

// takeColumn returns the index of the k-th shape's column.
func (p *shapePlaces) takeColumn(k int, name string) (int, error) {
	j, ok := p.index[name]
	if !ok {
		return 0, fmt.Errorf("model: shape %d: column %q must be in the model's schema and not ignored", k, name)
	}
	if p.taken[name] {
		return 0, fmt.Errorf("model: shape %d: column %q must have one shape", k, name)
	}
	p.taken[name] = true
	return j, nil
}

func (sh *Shape) checkSteps(s *schema.Schema, j int) error {
	c := &s.Columns[j]
	if err := checkEdges(c, sh.Edges); err != nil {
		return err
	}
	bins := feature.NewBins(s, j, sh.Edges)
	if err := checkSteps(bins.Len(), sh.LogOdds, sh.Noise); err != nil {
		return err
	}
	for b := 1; b < len(sh.LogOdds)-c.Marks(); b++ {
		d := sh.LogOdds[b] - sh.LogOdds[b-1]
		if c.Monotone == schema.Increasing && d < 0 || c.Monotone == schema.Decreasing && d > 0 {
			return fmt.Errorf("log-odds of column %q must be %s, as the schema declares (bin %d)", c.Name, c.Monotone, b)
		}
	}
	return nil
}

func checkEdges(c *schema.Column, edges []float64) error {
	if c.Kind == schema.Category && len(edges) > 0 {
		return fmt.Errorf("edges of a category must be empty (got %d)", len(edges))
	}
	for i, e := range edges {
		if !(e > c.Lower && e <= c.Upper) || i > 0 && !(e > edges[i-1]) {
			return fmt.Errorf("edges must increase strictly inside the bounds of column %q (edge %d is %g)", c.Name, i, e)
		}
	}
	return nil
}

func (m *Moved) check() error {
	if m == nil {
		return nil
	}
	for _, x := range [3]float64{m.Intercept, m.Slope, math.Abs(m.Middle)} {
		if !(x >= 0 && x <= feature.MaxStep) {
			return fmt.Errorf("model: additive: moved must hold deviations from 0 to %d and a middle of at most that size "+
				"(got %g)", feature.MaxStep, x)
		}
	}
	return nil
}

// checkMoved requires one number per bin, or none.
func (a *Additive) checkMoved(moved []float64, bins int) error {
	if len(moved) > 0 && (a.Moved == nil || len(moved) != bins) {
		return fmt.Errorf("moved must be empty, or number %d, one per bin, in a model that states it beside its shapes "+
			"(got %d)", bins, len(moved))
	}
	for b, x := range moved {
		if !(x >= 0 && x <= feature.MaxStep) {
			return fmt.Errorf("moved must be from 0 to %d (bin %d has %g)", feature.MaxStep, b, x)
		}
	}
	return nil
}

// checkSteps requires one log-odds and one noise per bin.
func checkSteps(bins int, logOdds, noise []float64) error {
	if len(logOdds) != bins || len(noise) != bins {
		return fmt.Errorf("log-odds and noise must number %d, one per bin (got %d and %d)", bins, len(logOdds), len(noise))
	}
	for b, x := range logOdds {
		if !(math.Abs(x) <= feature.MaxStep) {
			return fmt.Errorf("log-odds must be at most %d in size (bin %d has %g)", feature.MaxStep, b, x)
		}
		if !(noise[b] >= 0 && noise[b] <= feature.MaxStep) {
			return fmt.Errorf("noise must be from 0 to %d (bin %d has %g)", feature.MaxStep, b, noise[b])
		}
	}
	return nil
}

func (a *Additive) listColumns() (names []string) {
	for k := range a.Shapes {
		names = append(names, a.Shapes[k].Column)
	}
	for k := range a.Pairs {
		names = append(names, a.Pairs[k].Columns[:]...)
	}
	return names
}

func (a *Additive) fileVersion() int {
	switch {
	case a.Moved != nil:
		return 8
	case len(a.Pairs) > 0:
		return 4
	}
	return 2
}

// rebuildSum rebuilds the function over the columns of the model's schema.
func (a *Additive) rebuildSum(s *schema.Schema) *feature.Additive {
	index := indexColumns(s)
	f := &feature.Additive{Intercept: a.Intercept}
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		f.Shapes = append(f.Shapes, feature.Shape{Bins: feature.NewBins(s, index[sh.Column], sh.Edges), Steps: sh.LogOdds})
	}
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		bins := sh.Bins(s, [2]int{index[sh.Columns[0]], index[sh.Columns[1]]})
		f.Shapes = append(f.Shapes, feature.Shape{Bins: bins, Steps: sh.LogOdds})
	}
	return f
}

func (a *Additive) bindTable(p *Predictor, cols []column.Column) func(from int, out []float64) {
	bound := a.rebuildSum(p.m.Schema).Bind(cols)
	return func(from int, out []float64) {
		units := make([]int64, len(out))
		bound.Scores(from, units, make([]uint32, 2*len(out)))
		for i, z := range units {
			out[i] = logisticFunction(float64(z) / feature.ScoreOne)
		}
	}
}

func (a *Additive) bindRows(e *rowEncoder) rowScorer { return a.toSteps(e.m.Schema) }

func (a *Additive) toSteps(s *schema.Schema) *stepSum {
	index, sum := indexColumns(s), newStepSum(a.Intercept)
	for k := range a.Shapes {
		sh := &a.Shapes[k]
		sum.add([][]float64{sh.LogOdds}, feature.NewBins(s, index[sh.Column], sh.Edges))
	}
	for k := range a.Pairs {
		sh := &a.Pairs[k]
		first := sh.Bins(s, [2]int{index[sh.Columns[0]], index[sh.Columns[1]]})
		second := *first.Second
		first.Second = nil
		sum.add([][]float64{sh.LogOdds}, second, first)
	}
	return sum
}

func (a *Additive) writeBody(into *body)       { into.Additive = a }
func (a *Additive) readClassifier() Classifier { return a }
