// SPDX-License-Identifier: Apache-2.0

package engine

import "github.com/discreet-dp/discreet/internal/table/schema"

// SchemaAgainst returns the schema of a view against one class of the label of s: see Table.Against.
func SchemaAgainst(s *schema.Schema, class int) *schema.Schema {
	view := *s
	view.Label.Levels = []schema.Level{{Value: "(rest)"}, s.Label.Levels[class]}
	view.Label.Positive, view.Label.Weights = 1, nil
	if s.Label.Default >= 0 {
		view.Label.Default = 0
		if s.Label.Default == class {
			view.Label.Default = 1
		}
	}
	return &view
}
