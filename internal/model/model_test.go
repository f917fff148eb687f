// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// clinic is a schema with every kind of column.
func clinic() *schema.Schema {
	middle := 40.0
	return &schema.Schema{
		Name: "clinic", Unit: "one admission", Relation: dp.ReplaceOne,
		Dialect: schema.Dialect{Delimiter: ',', Quote: '"', Header: true, Trim: true, Missing: []string{"?"}},
		Columns: []schema.Column{
			{Name: "age", Role: schema.Private, Kind: schema.Number, Lower: 0, Upper: 120, Default: &middle},
			{Name: "bill", Role: schema.Public, Kind: schema.Number, Lower: 0, Upper: 1e6, Transform: schema.Log1p},
			{Name: "ward", Role: schema.Public, Kind: schema.Category,
				Levels: []schema.Level{{Value: "north"}, {Value: "south"}, {Value: "≤ & <up>"}}},
			{Name: "smoker", Role: schema.Private, Kind: schema.Category, Missing: true,
				Levels: []schema.Level{{Value: "no"}, {Value: "yes"}}},
		},
		Label: schema.Label{Name: "outcome", Position: 4, Role: schema.Public, Positive: 1, Default: -1,
			Levels: []schema.Level{{Value: "well"}, {Value: "ill", Aliases: []string{"ill."}}}},
	}
}

// voted is a complete model of three voters in two spaces.
func voted() *Model {
	return &Model{
		Learner: "brc",
		Schema:  clinic(),
		Privacy: Privacy{
			Scope: dp.PrivateFeatures, Relation: dp.ReplaceOne, Unit: "one admission", Epsilon: 160_000_000,
			Bill: []dp.Event{
				{Release: "weighted error of round 1", Mechanism: "laplace", Epsilon: 80_000_000},
				{Release: "weighted error of round 2", Mechanism: "laplace", Epsilon: 80_000_000},
			},
			Claim:       "brc: G-BRC-2",
			Statement:   "The private columns of one row change the odds of any model by a factor of at most exp(0.16).",
			Unprotected: []string{"The label of each row.", "The public columns: bill, ward."},
			Counted:     true,
		},
		Spaces: []SpaceSpec{
			{Encoding: feature.Ordinal, Columns: []string{"age", "smoker"}},
			{Encoding: feature.OneHot, Columns: []string{"ward", "bill"}},
		},
		Classifier: &Votes{Members: []Member{
			{Space: 0, Vote: 0.25, Threshold: feature.Threshold{Coef: []float64{0.5, -1}, Bias: 0.125}},
			{Space: 1, Vote: 1.5, Threshold: feature.Threshold{Coef: []float64{1, -0.3, 0.1, 0, 0.7}, Bias: -0.2}},
			{Space: 0, Vote: -0.1, Threshold: feature.Threshold{Coef: []float64{-0.9, 0.2}, Bias: 0}},
		}},
	}
}

// fitted is a complete logistic model without privacy.
func fitted() *Model {
	return &Model{
		Learner: "logistic",
		Schema:  clinic(),
		Privacy: Privacy{Scope: dp.Nothing, Relation: dp.ReplaceOne, Unit: "one admission", Statement: "No guarantee.",
			NotPrivate: true, Overrides: []string{"--not-private"}},
		Spaces: []SpaceSpec{{Encoding: feature.OneHot, Columns: []string{"age", "bill", "ward", "smoker"}}},
		Classifier: &Logistic{
			Coef: []float64{2.5, -0.75, 0.1, 0.2, -0.3, 0.4, 1e-9, -3, 0.5, 0.125},
			Bias: -0.5,
		},
	}
}

// patients draws rows for s, among them every code of the small columns.
func patients(r *rand.Rand, s *schema.Schema, rows int) []column.Column {
	cols := make([]column.Column, len(s.Columns))
	for j := range s.Columns {
		c := &s.Columns[j]
		codes := make([]uint32, rows)
		n := c.Codes()
		if c.Kind == schema.Number {
			n = 300 // more than fit a byte
			values := make([]float64, n)
			for i := range values {
				values[i] = c.Lower + (c.Upper-c.Lower)*r.Float64()
			}
			values[0], values[1] = c.Lower, c.Upper
			slices.Sort(values)
			cols[j].Values = values
			if c.Marks() > 0 {
				cols[j].Marks = make([]uint8, n)
				for k := range c.Marks() {
					values[k], cols[j].Marks[k] = *c.Default, uint8(k+1)
				}
			}
		}
		for i := range codes {
			codes[i] = uint32(r.IntN(n))
		}
		cols[j].Codes = column.Narrow(codes, n)
	}
	return cols
}

// change returns m after an edit.
func change(m *Model, edit func(*Model)) *Model {
	edit(m)
	return m
}

func mustMarshal(t testing.TB, m *Model) []byte {
	t.Helper()
	file, err := Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
