// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Levels returns a copy of tab whose label has k levels with the given weights (nil: equal). A row's
// level depends on its old one and its first category, so that a classifier can learn it.
func Levels(tab *dataset.Table, k int, weights []float64) *dataset.Table {
	rows := make([]int, tab.Rows)
	for i := range rows {
		rows[i] = i
	}
	out := tab.Subset(rows)
	s := *tab.Schema
	s.Label.Levels, s.Label.Weights = nil, weights
	for level := range k {
		s.Label.Levels = append(s.Label.Levels, schema.Level{Value: fmt.Sprintf("level %d", level)})
	}
	if k > 2 {
		s.Label.Positive = -1
	}
	out.Schema = &s
	at := slices.IndexFunc(s.Columns, func(c schema.Column) bool { return c.Kind == schema.Category })
	for i := range out.Labels {
		out.Labels[i] = uint8((int(out.Labels[i]) + int(out.Cols[at].Codes.At(i))) % k)
	}
	return out
}
