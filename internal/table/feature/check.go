// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Bins, scores and spaces travel between processes in JSON. Anyone who reads them checks them against the
// schema of its table.

// Check refuses bins that a table of schema s cannot have.
func (b *Bins) Check(s *schema.Schema) error {
	if b.Scored != nil {
		if b.Second != nil && (b.Second.Scored == nil || b.Second.Second != nil) || b.Codes != 0 || b.Marked != 0 || b.Edges != nil || b.Groups != nil || !slices.IsSorted(b.Scored.Edges) {
			return fmt.Errorf("feature: bins of a score must have cuts in order alone, and a second score at most")
		}
		if b.Second != nil {
			if err := b.Second.Check(s); err != nil {
				return err
			}
		}
		return b.Scored.Of.Check(s)
	}
	if err := b.checkColumn(s); err != nil || b.Second == nil {
		return err
	}
	if err := b.Second.Check(s); err != nil {
		return err
	}
	first := *b
	first.Second = nil
	if !b.Second.OfColumn() || first.Len() > MaxPairs/b.Second.Len() {
		return fmt.Errorf("feature: bins of a pair must be those of two columns, at most %d", MaxPairs)
	}
	return nil
}

// MaxPairs bounds the bins of a pair in a message.
const MaxPairs = 1 << 24

// CheckColumns refuses columns that tables of schema s lack or do not read.
func CheckColumns(s *schema.Schema, columns []int) error {
	for _, j := range columns {
		if j < 0 || j >= len(s.Columns) || s.Columns[j].Role == schema.Ignored {
			return fmt.Errorf("feature: column %d must be among the %d of the schema, and read", j, len(s.Columns))
		}
	}
	return nil
}

// checkColumn refuses bins of the first column that no table of schema s can have.
func (b *Bins) checkColumn(s *schema.Schema) error {
	if err := CheckColumns(s, []int{b.Column}); err != nil {
		return err
	}
	c := &s.Columns[b.Column]
	ok := true
	if c.Kind != schema.Category {
		ok = b.Codes == 0 && b.Groups == nil && (b.Marked == 0 || b.Marked == c.Marks())
		for i := 1; i < len(b.Edges); i++ {
			ok = ok && b.Edges[i-1] < b.Edges[i]
		}
	} else {
		ok = b.Edges == nil && b.Marked == 0 && b.Codes > 0 &&
			(b.Groups == nil && b.Codes == c.Codes() || len(b.Groups) == c.Codes() && b.Codes <= c.Codes())
		for _, g := range b.Groups {
			ok = ok && int(g) < b.Codes
		}
	}
	if !ok {
		return fmt.Errorf("feature: bins do not fit column %q", c.Name)
	}
	return nil
}

// Check refuses a score that a table of schema s cannot have.
func (f *Additive) Check(s *schema.Schema) error {
	ok := f != nil && isStep(f.Intercept)
	if ok && f.Clip != nil {
		ok = f.Clip.Shapes >= 0 && f.Clip.Shapes <= len(f.Shapes) && isStep(f.Clip.Low) && isStep(f.Clip.High)
	}
	for k := 0; ok && k < len(f.Shapes); k++ {
		sh := &f.Shapes[k]
		if err := sh.Check(s); err != nil {
			return err
		}
		ok = sh.Scored == nil && sh.Len() == len(sh.Steps)
		for _, x := range sh.Steps {
			ok = ok && isStep(x)
		}
	}
	if !ok {
		return fmt.Errorf("feature: a score must have a step for each bin, of at most %d nats", MaxStep)
	}
	return nil
}

// isStep reports whether x may be a term of a score; NaN may not.
func isStep(x float64) bool { return x >= -MaxStep && x <= MaxStep }

// Complete restores a space whose encoding and columns came in a message, for tables of schema s. A
// space that is already complete must have the same features as a new one for s.
func (sp *Space) Complete(s *schema.Schema) error {
	if sp == nil {
		return fmt.Errorf("feature: a space must have an encoding and columns")
	}
	if err := CheckColumns(s, sp.Columns); err != nil {
		return err
	}
	whole, err := NewSpace(s, sp.Encoding, sp.Columns)
	switch {
	case err != nil:
		return err
	case sp.blocks == nil && len(sp.Columns) > 0:
		*sp = *whole
	case !slices.Equal(sp.Names, whole.Names):
		return fmt.Errorf("feature: a space must have the features of its columns")
	}
	return nil
}
