// SPDX-License-Identifier: Apache-2.0

package statistic

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// again is a statistic that was a message.
func again(s *schema.Schema, of engine.Statistic) (engine.Statistic, error) {
	kind, text, err := Encode(of)
	if err != nil {
		return nil, err
	}
	return Decode(s, kind, text)
}

// untouched is a table that must not be asked.
type untouched struct {
	engine.Table
	t *testing.T
	s *schema.Schema
}

func (u untouched) Schema() *schema.Schema { return u.s }

func (u untouched) Sum(_ context.Context, of engine.Statistic) ([]int64, error) {
	u.t.Errorf("%T that fits no table reached the rows", of)
	return nil, errors.New("asked")
}

// What fits no table of the schema is refused before a row is read.
func TestWhatFitsNoTableIsRefused(t *testing.T) {
	d := draw(1, false)
	tab, ctx := untouched{t: t, s: d.s}, t.Context()
	foreign := feature.NewGroups(2, []uint32{0, 1}, 2) // of more codes than two
	if _, err := (ClassCells{[]feature.Bins{foreign}}).Of(ctx, tab); err == nil {
		t.Error("bins of another column are counted")
	}
	steps := &feature.Additive{Shapes: []feature.Shape{{Bins: feature.NewBins(d.s, 2, nil), Steps: []float64{1}}}}
	if _, err := (Cells{Under: steps, Bins: []feature.Bins{d.column(0)}, Caps: FullCaps}).Of(ctx, tab); err == nil {
		t.Error("a score without a step for each bin weighs rows")
	}
	score := NewStepScore(make([]float64, gridScores(d.s)))
	if _, err := (GridSlopes{score, SlopeLimit{Most: 1}, []feature.Grid{{Axes: []feature.Bins{foreign}}}}).Of(ctx, tab); err == nil {
		t.Error("grids of another column have slopes")
	}
}

// FullCaps is a variable that anyone may write to. Caps are cut all the same.
func TestCapsHoldWhateverFullCapsSay(t *testing.T) {
	before := FullCaps
	defer func() { FullCaps = before }()
	FullCaps = Caps{1, 1}
	d := draw(2, false)
	d.s.Label.Levels, d.s.Label.Positive, d.weights = d.s.Label.Levels[:2], 1, nil
	d.labels = make([]uint8, drawnRows)
	c := Cells{Bins: []feature.Bins{d.column(2)}, Caps: Caps{1, 1}}
	var sum int64
	for _, x := range d.pass(c, engine.NewView(d.s, engine.WholeLabel), d.Perm(drawnRows), drawnRows, 0) {
		sum += x
	}
	if sum != drawnRows {
		t.Errorf("%d rows of a cap of 1 weigh %d", drawnRows, sum)
	}
}
