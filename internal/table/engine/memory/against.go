// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
)

// Against implements engine.Table. What Margins and Cells keep is shared with m. Of a
// view it may not be asked: classes are those of the whole label.
func (m *Table) Against(class int) engine.Table {
	if m.schema != m.t.Schema {
		panic("memory: Against must be asked of the whole table")
	}
	view := *m
	view.schema, view.positive = engine.SchemaAgainst(m.schema, class), class
	return &view
}

// viewCode is the code in the view of a code of the whole label.
func (m *Table) viewCode(whole int) int {
	switch {
	case m.schema == m.t.Schema:
		return whole
	case whole == m.positive:
		return 1
	}
	return 0
}

// What a question makes of rows that weigh what their persons allow.
const (
	weighed = false // it adds up weights
	counted = true  // it counts every row once
)

// checkBinary refuses a label of more than two classes, and what checkPersons does.
func (m *Table) checkBinary(what string, counted bool) error {
	if n := m.schema.Classes(); n != 2 {
		return fmt.Errorf("memory: %s need a label with 2 classes (schema %q has %d)", what, m.schema.Name, n)
	}
	return m.checkPersons(what, counted)
}
