// SPDX-License-Identifier: Apache-2.0

package feature

import (
	"fmt"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/schema"
)

// BinsSpec is Bins as a message between processes.
type BinsSpec struct {
	Column int        `json:"column"`
	Edges  []float64  `json:"edges,omitempty"`
	Marks  int        `json:"marks,omitempty"`
	Codes  int        `json:"codes,omitempty"`
	Groups []uint32   `json:"groups,omitempty"`
	Second *BinsSpec  `json:"second,omitempty"`
	Score  *ScoreSpec `json:"score,omitempty"`
	Cuts   []int64    `json:"cuts,omitempty"` // of the score
}

// ScoreSpec is an Additive as a message between processes.
type ScoreSpec struct {
	Intercept float64     `json:"intercept"`
	Shapes    []ShapeSpec `json:"shapes,omitempty"`
	Clip      *Clip       `json:"clip,omitempty"`
}

// ShapeSpec is a Shape as a message between processes.
type ShapeSpec struct {
	Bins  BinsSpec  `json:"bins"`
	Steps []float64 `json:"steps"`
}

// Spec is b as a message. It shares memory with b.
func (b *Bins) Spec() BinsSpec {
	out := BinsSpec{Column: b.Column, Edges: b.Edges, Marks: b.marks, Codes: b.codes, Groups: b.groups}
	if b.Second != nil {
		second := b.Second.Spec()
		out.Second = &second
	}
	if b.scored != nil {
		score := b.scored.of.Spec()
		out.Score, out.Cuts = &score, b.scored.edges
	}
	return out
}

// Spec is f as a message. It shares memory with f.
func (f *Additive) Spec() ScoreSpec {
	out := ScoreSpec{Intercept: f.Intercept, Clip: f.Clip}
	for k := range f.Shapes {
		out.Shapes = append(out.Shapes, ShapeSpec{f.Shapes[k].Spec(), f.Shapes[k].Steps})
	}
	return out
}

// Bins is what the message says, refused where it does not fit a table of schema s. It
// shares memory with the message.
func (m *BinsSpec) Bins(s *schema.Schema) (Bins, error) {
	if m.Score != nil {
		of, err := m.Score.Additive(s)
		if err != nil {
			return Bins{}, err
		}
		if m.Second != nil || m.Codes != 0 || m.Marks != 0 || m.Edges != nil || m.Groups != nil || !slices.IsSorted(m.Cuts) {
			return Bins{}, fmt.Errorf("feature: bins of a score must have cuts in order alone")
		}
		return Bins{scored: &scored{of: of, edges: m.Cuts}}, nil
	}
	if err := m.check(s); err != nil {
		return Bins{}, err
	}
	out := Bins{Column: m.Column, Edges: m.Edges, marks: m.Marks, codes: m.Codes, groups: m.Groups}
	if m.Second != nil {
		second, err := m.Second.Bins(s)
		if err != nil {
			return Bins{}, err
		}
		if second.scored != nil || second.Second != nil || out.Len() > MaxPairs/second.Len() {
			return Bins{}, fmt.Errorf("feature: bins of a pair must be those of two columns, at most %d", MaxPairs)
		}
		out.Second = &second
	}
	return out, nil
}

// MaxPairs bounds the bins of a pair in a message.
const MaxPairs = 1 << 24

// check refuses bins of one column that no table of schema s has.
func (m *BinsSpec) check(s *schema.Schema) error {
	if m.Column < 0 || m.Column >= len(s.Columns) || s.Columns[m.Column].Role == schema.Ignored {
		return fmt.Errorf("feature: bins must be of a column that is read (got column %d of %d)", m.Column, len(s.Columns))
	}
	c := &s.Columns[m.Column]
	ok := m.Cuts == nil
	if c.Kind != schema.Category {
		ok = ok && m.Codes == 0 && m.Groups == nil && (m.Marks == 0 || m.Marks == c.Marks())
		for i := 1; i < len(m.Edges); i++ {
			ok = ok && m.Edges[i-1] < m.Edges[i]
		}
	} else {
		ok = ok && m.Edges == nil && m.Marks == 0 && m.Codes > 0
		if m.Groups == nil {
			ok = ok && m.Codes == c.Codes()
		} else {
			ok = ok && len(m.Groups) == c.Codes() && m.Codes <= c.Codes()
		}
		for _, g := range m.Groups {
			ok = ok && int(g) < m.Codes
		}
	}
	if !ok {
		return fmt.Errorf("feature: bins do not fit column %q", c.Name)
	}
	return nil
}

// Additive is what the message says, refused where it does not fit a table of schema s.
func (m *ScoreSpec) Additive(s *schema.Schema) (*Additive, error) {
	out := &Additive{Intercept: m.Intercept, Clip: m.Clip}
	ok := isStep(m.Intercept)
	if m.Clip != nil {
		ok = ok && m.Clip.Shapes >= 0 && m.Clip.Shapes <= len(m.Shapes) && isStep(m.Clip.Low) && isStep(m.Clip.High)
	}
	for k := range m.Shapes {
		sh := &m.Shapes[k]
		bins, err := sh.Bins.Bins(s)
		if err != nil {
			return nil, err
		}
		ok = ok && bins.scored == nil && bins.Len() == len(sh.Steps)
		for _, x := range sh.Steps {
			ok = ok && isStep(x)
		}
		out.Shapes = append(out.Shapes, Shape{bins, sh.Steps})
	}
	if !ok {
		return nil, fmt.Errorf("feature: a score must have a step for each bin, of at most %d nats", MaxStep)
	}
	return out, nil
}

// isStep reports whether x may be a part of a score; NaN may not.
func isStep(x float64) bool { return x >= -MaxStep && x <= MaxStep }
