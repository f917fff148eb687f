// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"slices"

	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// OwnTable returns tab with dictionaries of its own rows only, as after reading.
func OwnTable(tab *dataset.Table) *dataset.Table {
	own := *tab
	own.Cols = slices.Clone(tab.Cols)
	own.Forget()
	return &own
}

// PrivateLabel returns tab with a private label and no other private column.
func PrivateLabel(tab *dataset.Table) *dataset.Table {
	s := *tab.Schema
	s.Columns = slices.Clone(s.Columns)
	for j := range s.Columns {
		if s.Columns[j].Role == schema.Private {
			s.Columns[j].Role = schema.Public
		}
	}
	s.Label.Role, s.Label.Default = schema.Private, 0
	out := *tab
	out.Schema = &s
	return &out
}
