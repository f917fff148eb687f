// SPDX-License-Identifier: Apache-2.0

package frontier

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/size"
	"github.com/discreet-dp/discreet/internal/privacy/rng/replay"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// floorOpen are cells of a table and scope that are beyond, with the log loss they may reach: chance effects of many columns
// add up where none has an effect.
var floorOpen = map[[2]string]float64{
	{"2000 rows, 60 columns, no effect", "label"}: 0.01,
}

// The floor on a smaller plan: tables of at most 2,000 rows and 60 columns, 10 fits a cell. Seeds are fixed, so it never
// fails by chance.
func TestFloor(t *testing.T) {
	size.OnlyLong(t, "1,030 fits")
	var fits []Fit
	for _, j := range planFloor(120, floorFits/2, 0) {
		var rows, columns int
		if _, err := fmt.Sscanf(j.table, "%d rows, %d columns", &rows, &columns); err != nil {
			t.Fatal(err)
		}
		if rows > 2000 || columns > 60 {
			continue
		}
		err := measureCells(t.Context(), j.open, nil, "additive", j.cells, func(f Fit) error {
			fits = append(fits, f)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range margins(fits) {
		if m.isBeyond() && m.mean > floorOpen[[2]string{m.cell.Table, m.cell.Scope}] {
			t.Errorf("%s, %s: log loss %+.4f ± %.4f above that of %s", m.cell.Table, m.cell.name(), m.mean, m.stdErr, m.than)
		}
	}
	t.Log(len(fits), "fits")
}

// Every two levels of different factors meet in some cell, and cells that protect
// less have everything private on the same rows.
func TestFloorPlanCoversPairs(t *testing.T) {
	met, cells := map[string]bool{}, map[Fit]bool{}
	for _, j := range planFloor(floorCells, 1, 0) {
		for _, f := range j.cells {
			cells[f] = true
			words := strings.SplitN(f.Table, ", ", 3) // rows, columns, law
			words = append(words, f.Scope+f.Relation, fmt.Sprint(f.Delta), fmt.Sprint(f.Epsilon))
			for i := range words {
				for k := range i {
					met[words[i]+"|"+words[k]] = true
				}
			}
		}
	}
	want := 6*5 + (6+5)*10 + (6+5+10)*5 + (6+5+10+5)*2 + (6+5+10+5+2)*7 + 6 + 5 + 10 + 2 + 7
	if len(met) != want {
		t.Errorf("%d pairs of levels meet, want %d", len(met), want)
	}
	for f := range cells {
		if f.Scope == "partly" || f.Scope == "label" {
			if f.Scope = "everything"; !cells[f] {
				t.Errorf("%+v is missing", f)
			}
		}
	}
}

// A cell is beyond if its mean is above the slack and three standard errors, and fresh fits alone count where there are
// some.
func TestMarginsCountFreshFits(t *testing.T) {
	var fits []Fit
	for i := range 20 {
		off := 0.002 * float64(i%2)
		fits = append(fits, Fit{Table: "t", Scope: "partly", Repeat: i, LogLoss: 0.5 + off, Constant: 0.49, Public: 0.5},
			Fit{Table: "t", Scope: "everything", Repeat: i, LogLoss: 0.502, Constant: 0.6})
	}
	show := func() (out []string) {
		for _, m := range margins(fits) {
			out = append(out, fmt.Sprintf("%s than %s %.4f ± %.4f %t", m.cell.Scope, m.than, m.mean, m.stdErr, m.isBeyond()))
		}
		return out
	}
	want := "[partly than constant 0.0110 ± 0.0002 true partly than public 0.0010 ± 0.0002 false " +
		"partly than everything -0.0010 ± 0.0002 false everything than constant -0.0980 ± 0.0000 false]"
	if got := fmt.Sprint(show()); got != want {
		t.Errorf("margins: %s", got)
	}
	fits = append(fits, Fit{Table: "t", Scope: "partly", Repeat: firstOfRerun, LogLoss: 0.49, Constant: 0.49})
	if got := show(); got[0] != "partly than constant 0.0000 ± 0.0000 false" {
		t.Errorf("with fresh fits: %s", got)
	}
}

// A panel's mean can hide a cell that became worse: it comes first.
func TestCompareNamesTheWorstCell(t *testing.T) {
	var before, after []Fit
	for i := range 40 {
		f := Fit{Table: fmt.Sprint("t", i/4), Scope: "partly", Epsilon: 1, Repeat: i % 4, LogLoss: 0.5, AUC: 0.7}
		before = append(before, f)
		f.LogLoss -= 0.01
		if f.Table == "t7" {
			f.LogLoss += 0.03
		}
		after = append(after, f)
	}
	var out bytes.Buffer
	Compare(&out, after, before)
	want := "worst cells by log loss, of 10, 1 worse and 9 better by more than two standard errors\n  t7 "
	if !strings.Contains(out.String(), want) {
		t.Errorf("no %q in:\n%s", want, out.String())
	}
}

// Scores whose log-odds are twice what is true have a line of slope a half, and equal ones none.
func TestLineThroughScores(t *testing.T) {
	src := replay.Seeded(1, "line")
	tab := &dataset.Table{Schema: &schema.Schema{Label: schema.Label{Levels: make([]schema.Level, 2), Positive: 1}}}
	var scores []float64
	for range 20_000 {
		z, y := drawNormal(src), uint8(0)
		if drawUniform(src) < 1/(1+math.Exp(-z)) {
			y = 1
		}
		tab.Labels, scores = append(tab.Labels, y), append(scores, 1/(1+math.Exp(-2*z-1)))
	}
	var f Fit
	fitLine(&f, tab, scores)
	if math.Abs(f.Slope-0.5) > 4*f.SlopeError || f.SlopeError > 0.02 || math.Abs(f.Shift+1) > 4*f.ShiftError || f.ShiftError > 0.02 {
		t.Errorf("slope %.4f ± %.4f, shift %.4f ± %.4f", f.Slope, f.SlopeError, f.Shift, f.ShiftError)
	}
	f = Fit{}
	for i := range scores {
		scores[i] = 0.3
	}
	if fitLine(&f, tab, scores); f.SlopeError != 0 {
		t.Errorf("equal scores have a slope of %.4f ± %.4f", f.Slope, f.SlopeError)
	}
}
