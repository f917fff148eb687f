// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Against implements engine.Table. What Margins and Cells keep is shared with m. Of a
// view it may not be asked: classes are those of the whole label.
func (m *Table) Against(class int) engine.Table {
	if m.schema != m.t.Schema {
		panic("memory: Against must be asked of the whole table")
	}
	s := *m.schema
	whole := s.Label
	s.Label.Levels = []schema.Level{{Value: "(rest)"}, whole.Levels[class]}
	s.Label.Positive, s.Label.Weights = 1, nil
	if whole.Default >= 0 {
		s.Label.Default = 0
		if whole.Default == class {
			s.Label.Default = 1
		}
	}
	return &Table{m.t, &s, class, m.laid, m.scored, m.classes, m.grids}
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

// checkBinary refuses a label of more than two classes.
func (m *Table) checkBinary(what string) error {
	if n := m.schema.Classes(); n != 2 {
		return fmt.Errorf("memory: %s need a label with 2 classes (schema %q has %d)", what, m.schema.Name, n)
	}
	return nil
}
