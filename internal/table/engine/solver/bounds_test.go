// SPDX-License-Identifier: Apache-2.0

package solver

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/statistic"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// again is a statistic that was a message.
func again(s *schema.Schema, of engine.Statistic) (engine.Statistic, error) {
	kind, text, err := statistic.Encode(of)
	if err != nil {
		return nil, err
	}
	return statistic.Decode(s, kind, text)
}

// A message asks at up to so many cuts, is read back with all of them, and is refused with one more.
func TestCutsReachTheirNumber(t *testing.T) {
	s := census.Schema()
	sp, err := feature.NewSpace(s, feature.OneHot, s.Features())
	if err != nil {
		t.Fatal(err)
	}
	coef := make([]float64, sp.Width()+1)
	for n, want := range map[int]bool{0: false, 1: true, 255: true, 256: true, maxCuts - 1: true, maxCuts: true,
		maxCuts + 1: false} {
		got, err := again(s, Right{sp, coef, engine.Cuts{First: -1, Step: 0.5, Count: n}})
		if (err == nil) != want || want && got.(Right).Cuts.Count != n {
			t.Errorf("%d cuts: %v", n, err)
		}
	}
	for n, want := range map[int]bool{-1: false, 0: true, engine.MaxHalvings: true, engine.MaxHalvings + 1: false} {
		got, err := again(s, Losses{Space: sp, Coef: coef, Halvings: n})
		if (err == nil) != want || want && got.(Losses).Halvings != n {
			t.Errorf("%d halvings: %v", n, err)
		}
	}
}

// untouched is a table of the census that must not be asked.
type untouched struct {
	engine.Table
	t *testing.T
}

func (u untouched) Schema() *schema.Schema { return census.Schema() }

func (u untouched) Sum(_ context.Context, of engine.Statistic) ([]int64, error) {
	u.t.Errorf("%T that fits no table reached the rows", of)
	return nil, errors.New("asked")
}

// What fits no table of the schema is refused before a row is read.
func TestLossesOfOtherColumnsAreRefused(t *testing.T) {
	other := census.Schema()
	other.Columns = append(other.Columns, other.Columns[0])
	sp, err := feature.NewSpace(other, feature.OneHot, []int{1, len(other.Columns) - 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Losses{Space: sp, Coef: make([]float64, sp.Width()+1)}).Of(t.Context(), untouched{t: t}); err == nil {
		t.Error("features of another table have losses")
	}
}
