// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"math/rand/v2"
	"slices"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Products returns rows of ten numbers in [-1, 1], whose label states whether the product of some of
// them is positive.
func Products(seed uint64, rows int, factors ...int) *dataset.Table {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &schema.Schema{Unit: "one person", Relation: dp.AddRemove}
	s.Label = schema.Label{Name: "sign", Role: schema.Private, Levels: []schema.Level{{Value: "minus"}, {Value: "plus"}},
		Positive: 1}
	values := make([]float64, 201)
	for i := range values {
		values[i] = float64(i-100) / 100
	}
	tab := &dataset.Table{Schema: s, Rows: rows, Labels: make([]uint8, rows)}
	sign := make([]bool, rows)
	for j := range 10 {
		low := -1.0
		s.Columns = append(s.Columns, schema.Column{Name: string(rune('a' + j)), Kind: schema.Number, Role: schema.Private,
			Lower: -1, Upper: 1, Default: &low, Transform: schema.Identity})
		codes := make([]uint32, rows)
		for i := range codes {
			codes[i] = uint32(r.IntN(len(values)))
			if slices.Contains(factors, j) && values[codes[i]] > 0 {
				sign[i] = !sign[i]
			}
		}
		tab.Cols = append(tab.Cols, column.Column{Codes: column.Narrow(codes, len(values)), Values: values})
	}
	for i, plus := range sign {
		if plus {
			tab.Labels[i] = 1
		}
	}
	return tab
}
