// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// What does not fit the tables of a schema is refused before any row is read: otherwise whether a
// fold fails would depend on the cells that it meets.

// Check refuses bins that do not fit tables of schema s.
func (b *Bins) Check(s *schema.Schema) error {
	spec := b.Spec()
	_, err := spec.Bins(s)
	return err
}

// CheckColumn is Check, and refuses bins of a pair and of scores.
func (b *Bins) CheckColumn(s *schema.Schema) error {
	if err := b.Check(s); err != nil {
		return err
	}
	if !b.OfColumn() {
		return fmt.Errorf("feature: bins must be of one column")
	}
	return nil
}

// Check refuses a score that does not fit tables of schema s.
func (f *Additive) Check(s *schema.Schema) error {
	spec := f.Spec()
	_, err := spec.Additive(s)
	return err
}

// Check refuses a shape that does not fit tables of schema s.
func (sh *LevelShape) Check(s *schema.Schema) error {
	if err := sh.CheckColumn(s); err != nil {
		return err
	}
	ok := len(sh.Steps) == s.Classes()
	for _, steps := range sh.Steps {
		ok = ok && len(steps) == sh.Len()
	}
	if !ok {
		return fmt.Errorf("feature: a shape must have a step for each class and bin")
	}
	return nil
}

// Check refuses a grid that does not fit tables of schema s.
func (g *Grid) Check(s *schema.Schema) error {
	cells := 1
	for k := range g.Axes {
		if err := g.Axes[k].CheckColumn(s); err != nil {
			return err
		}
		if n := g.Axes[k].Len(); cells > MaxCells/n {
			cells = 0
			break
		} else {
			cells *= n
		}
	}
	if len(g.Axes) == 0 || cells == 0 {
		return fmt.Errorf("feature: a grid must have axes of columns, and at most %d cells", MaxCells)
	}
	return nil
}

// Check refuses a classifier that does not fit the features of sp.
func (h *Threshold) Check(sp *Space) error {
	ok := len(h.Coef) == sp.Width() && h.Bias >= -1 && h.Bias <= 1
	for _, c := range h.Coef {
		ok = ok && c >= -1 && c <= 1
	}
	if !ok {
		return fmt.Errorf("feature: a classifier must have %d coefficients in [-1, 1]", sp.Width())
	}
	return nil
}
