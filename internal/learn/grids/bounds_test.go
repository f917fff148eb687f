// SPDX-License-Identifier: Apache-2.0

package grids

import (
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/census"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// columnsOf is a schema of so many private numbers.
func columnsOf(n int) *schema.Schema {
	s := *census.Schema()
	c := s.Columns[0]
	c.Role, s.Columns = schema.Private, nil
	for k := range n {
		c.Name = string(rune('a'+k/26)) + string(rune('a'+k%26))
		s.Columns = append(s.Columns, c)
	}
	s.Label.Position = n
	return &s
}

// The rules without privacy grow with the columns, from their least to their most.
func TestRulesWithoutPrivacyReachTheirBounds(t *testing.T) {
	for columns, want := range map[int][2]int{1: {freeRounds, freeCandidates}, 19: {freeRounds, freeCandidates},
		20: {freeRounds, freeCandidates}, 21: {525, 21}, 39: {975, 39}, 40: {mostFreeRounds, mostFreeCandidates},
		41: {mostFreeRounds, mostFreeCandidates}, 200: {mostFreeRounds, mostFreeCandidates}} {
		r := settle(Params{NotPrivate: true}, columnsOf(columns), 100, 0)
		if r.rounds != want[0] || r.candidates != want[1] || r.cells != mostCells {
			t.Errorf("%d columns: %d rounds of %d candidates, want %d of %d", columns, r.rounds, r.candidates, want[0], want[1])
		}
	}
}

// The rules grow with the rows and the price, from their least to their most, and never back; a plan
// of every size is within its price and no release costs nothing.
func TestRulesReachTheirBounds(t *testing.T) {
	two, three := columnsOf(3), columnsOf(3)
	three.Label.Levels = append(three.Label.Levels, schema.Level{Value: "c"})
	least, most := map[string]int{}, map[string]int{}
	note := func(what string, x int) {
		if _, ok := least[what]; !ok {
			least[what] = x
		}
		least[what], most[what] = min(least[what], x), max(most[what], x)
	}
	before := rules{}
	for _, rows := range []int{1, 10, 100, 1000, 4999, 5000, 5001, 49_999, 50_000, 50_001, 199_999, 200_001, 1_000_000,
		10_000_000, 100_000_000, 1 << 40} {
		p := Params{Epsilon: dp.Nano}
		r := settle(p, two, rows, 0)
		note("cells", r.cells)
		note("candidates", r.candidates)
		if r.rounds < before.rounds || r.cells < before.cells || before.candidates > 0 && r.candidates > before.candidates {
			t.Errorf("%d rows: %+v after %+v", rows, r, before)
		}
		before = r
		if c := settle(p, three, rows, 0); true {
			note("cells of three", c.cells)
			if c.cells != min(8*r.cells, mostCells) {
				t.Errorf("%d rows: of three classes %d cells, of two %d", rows, c.cells, r.cells)
			}
		}
		if want := mostVisits / (r.rounds * rows); r.candidates != min(max(want, leastCandidates), mostCandidates) {
			t.Errorf("%d rows: %d candidates", rows, r.candidates)
		}
		pl, err := p.Plan(two, rows)
		if err != nil {
			t.Fatal(err)
		}
		if price := dp.Pure(pl.Terms().Bill).Epsilon; price > dp.Nano {
			t.Errorf("%d rows: billed for %s", rows, price)
		}
		for _, e := range pl.Terms().Bill {
			if e.Epsilon < 1 {
				t.Errorf("%d rows: %s is free", rows, e.Release)
			}
		}
	}
	for what, want := range map[string][2]int{"cells": {16, 128},
		"candidates": {leastCandidates, mostCandidates}, "cells of three": {128, mostCells}} {
		if least[what] != want[0] || most[what] != want[1] {
			t.Errorf("%s are from %d to %d, want %d to %d", what, least[what], most[what], want[0], want[1])
		}
	}
	for _, of := range []*schema.Schema{two, three} { // however little or much there is to learn from
		for _, rows := range []int{1, 1 << 40} {
			if r := settle(Params{Epsilon: dp.MaxEpsilon / dp.Epsilon(rows)}, of, rows, 1e9); r.rounds < 1 || r.rounds > maxRounds {
				t.Errorf("%d rows: %d rounds", rows, r.rounds)
			}
		}
		if r := settle(Params{Epsilon: 1}, of, 1, 0); r.rounds != 1 {
			t.Errorf("nothing to learn from: %d rounds", r.rounds)
		}
	}
	for n, want := range map[int]bool{1: true, maxRounds - 1: true, maxRounds: true, maxRounds + 1: false} {
		pl, err := Params{Epsilon: dp.Nano, Rounds: n}.Plan(two, 1000)
		if (err == nil) != want {
			t.Errorf("%d rounds: %v", n, err)
		}
		if err == nil && (pl.rules.rounds != n || dp.Pure(pl.Terms().Bill).Epsilon > dp.Nano) {
			t.Errorf("%d rounds: %d are planned for %s", n, pl.rules.rounds, dp.Pure(pl.Terms().Bill).Epsilon)
		}
	}
}
