// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Against implements engine.Table. The result shares the caches of Margins and Sum with m. It must not
// be called on a view, because classes are those of the whole label.
func (m *Table) Against(class int) engine.Table {
	if m.schema != m.whole {
		panic("memory: Against must be asked of the whole table")
	}
	view := *m
	view.schema, view.positive = engine.SchemaAgainst(m.schema, class), class
	return &view
}

// view describes the label of this view.
func (m *Table) view() *engine.View {
	against := engine.WholeLabel
	if m.schema != m.whole {
		against = m.positive
	}
	v := engine.NewView(m.whole, against)
	v.Weighed = m.weights != nil
	return v
}

// How a question treats rows with weights.
const (
	weighed = false // it adds up weights
	counted = true  // it counts every row once
)

// checkBinary refuses a label of more than two classes, and everything that checkPersons refuses.
func (m *Table) checkBinary(what string, counted bool) error {
	if n := m.schema.Classes(); n != 2 {
		return fmt.Errorf("memory: %s need a label with 2 classes (schema %q has %d)", what, m.schema.Name, n)
	}
	return m.checkPersons(what, counted)
}
