// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"fmt"
	"math"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/privacy/response"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// Round asks the owners of one slot, and publishes the current ensemble.
type Round struct {
	Task string // the task's digest, in hexadecimal
	Slot int
	// Asks are the asks of a table slot; an owner's ticket selects one. An error slot has none: it
	// asks for the label and the answer of the last of Members.
	Asks []Ask
	// Crowd is the number of participants in the slot's secret sum; nil in mode local.
	Crowd *Crowd
	// Members are the current ensemble, in order. In an error slot the last one is a candidate without
	// a vote, which does not affect weights yet.
	Members []Member
}

// Crowd describes the owners in the secret sum of one slot (package secsum). The noise of the sum is
// in the owners' addends.
type Crowd struct {
	Owners  int `json:"owners"`   // maximum number of owners
	AtLeast int `json:"at_least"` // minimum number of owners in a sum that the holders open
	// Honest is the number of owners whose shares are sufficient noise: in an opened sum, up to
	// AtLeast - Honest owners may add none.
	Honest int `json:"honest"`
}

// AtLeastOf returns the minimum number of owners in an opened sum, given their maximum number.
func AtLeastOf(owners int) int { return (2*owners + 2) / 3 }

// Ask is a question, possibly about groups of cells instead of cells.
type Ask struct {
	Question int `json:"question"`
	// Groups combines cells: cell b is reported as Groups[b]. If it is empty, cells are reported
	// unchanged.
	Groups []int `json:"groups,omitempty"`
}

// Member is one part of an ensemble. Exactly one of Shapes and Argmax is set.
type Member struct {
	Vote   float64 `json:"vote"` // ≥ 0
	Shapes []Shape `json:"shapes,omitempty"`
	Argmax *Argmax `json:"argmax,omitempty"`
}

// Shape scores the levels of the label by the cell of one question.
type Shape struct {
	Question int         `json:"question"`
	Leaves   [][]float64 `json:"leaves"` // cells × K, nats
}

// Argmax answers the level with the largest linear function of Space's features, the first if several
// are equal.
type Argmax struct {
	Coef [][]float64 `json:"coef"` // K × features
	Bias []float64   `json:"bias"` // K
}

// Limits of a broadcast.
const (
	maxScore = 64 // of a vote, and of a leaf; larger values mean certainty
	maxCoef  = 1 << 20
	maxCrowd = 1 << 24 // owners of a secret sum
)

// Space returns the features that linear members use: the columns of all questions, in order, with one
// feature per code for categories.
func (t *Task) Space() (*feature.Space, error) {
	cols := make([]int, len(t.Questions))
	for q := range cols {
		cols[q] = t.Column(q)
	}
	return feature.NewSpace(t.Schema, feature.OneHot, cols)
}

// Cells returns the number of cells that an ask distinguishes.
func (a *Ask) Cells(t *Task) int {
	if len(a.Groups) == 0 {
		return t.Cells(a.Question)
	}
	most := 0
	for _, g := range a.Groups {
		most = max(most, g)
	}
	return most + 1
}

// IsError reports whether the slot measures an error.
func (r *Round) IsError() bool { return r.Slot%2 == 1 }

// Weighing returns the members that affect weights: all except a candidate.
func (r *Round) Weighing() []Member {
	if r.IsError() {
		return r.Members[:len(r.Members)-1]
	}
	return r.Members
}

// Cells returns the number of cells for ask number a of the round: the cells of the ask or, in an
// error slot, the levels that can be answered.
func (r *Round) Cells(t *Task, a int) int {
	if r.IsError() {
		return t.Schema.Classes()
	}
	return r.Asks[a].Cells(t)
}

// Ask returns which of the round's asks a ticket selects; 0 in an error slot (1.2).
func (r *Round) Ask(ticket uint64) int {
	if r.IsError() {
		return 0
	}
	return int(ticket % uint64(len(r.Asks))) // at most 4096 asks: the bias is below 2^-51
}

// Addend returns the mechanism of an owner's addend in the slot's secret sum. The vector concatenates
// the tables of all asks, or in an error slot the only table, and an owner is in one cell of each.
func (r *Round) Addend(t *Task) (response.Addend, error) {
	dim, most := 0, max(1, len(r.Asks))
	for a := range most {
		dim += r.Cells(t, a) * t.Schema.Classes()
	}
	l, err := response.CellAddendFor(t.Epsilon, dim, most, r.Crowd.Owners, r.Crowd.Honest) // 5.1
	if err == nil && !(l.Delta() < SumDelta.Float()) {
		err = dp.Refuse("round", "epsilon", "must leave the noise of a secret sum whole", t.Epsilon)
	}
	return l, err
}

// SumDelta is the δ stated for a secret sum: one unit, which is much larger than the δ of its addends.
const SumDelta dp.Delta = 1

// boundExponent bounds a member's contribution to the logarithm of a weight.
func (m *Member) boundExponent(t *Task) float64 {
	if m.Argmax != nil {
		return m.Vote
	}
	sum := 0.0
	for _, s := range m.Shapes {
		most := 0.0
		for _, leaf := range s.Leaves {
			lo, hi := leaf[0], leaf[0]
			for _, x := range leaf {
				lo, hi = min(lo, x), max(hi, x)
			}
			most = max(most, hi-lo)
		}
		sum += most
	}
	return m.Vote * sum
}

// Check refuses a round that is not one of the task's. If a broadcast demands more than the task
// allows, no owner answers.
func (r *Round) Check(t *Task) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("round: "+format, args...)
	}
	digest, err := t.Digest()
	switch {
	case err != nil:
		return err
	case r.Task != digest.String():
		return fault("must be of the task %s (got %.64q)", digest, r.Task)
	case r.Slot < 0 || r.Slot >= t.Slots():
		return fault("slot must be one of the task's %d (got %d)", t.Slots(), r.Slot)
	case r.IsError() != (len(r.Asks) == 0) || len(r.Asks) > len(t.Questions):
		return fault("a slot of tables must ask 1 to %d questions, one of errors none (got %d)", len(t.Questions),
			len(r.Asks))
	case (r.Crowd != nil) != (t.Mode == Aggregate):
		return fault("a crowd must be given in mode aggregate and in no other")
	case r.Crowd != nil && (r.Crowd.Owners < 2 || r.Crowd.Owners > maxCrowd || r.Crowd.AtLeast < AtLeastOf(r.Crowd.Owners) ||
		r.Crowd.AtLeast > r.Crowd.Owners):
		return fault("a crowd must have 2 to 2^24 owners, two thirds of them in the sum")
	case r.Crowd != nil && (r.Crowd.Honest < 1 || r.Crowd.Honest > r.Crowd.AtLeast):
		return fault("of a crowd, 1 to %d must be honest (got %d)", r.Crowd.AtLeast, r.Crowd.Honest)
	case len(r.Members) > r.Slot/2+r.Slot%2 || r.IsError() && len(r.Members) == 0:
		return fault("members must number at most one per round (got %d)", len(r.Members))
	}
	for i, a := range r.Asks {
		if a.Question < 0 || a.Question >= len(t.Questions) || i > 0 && a.Question <= r.Asks[i-1].Question {
			return fault("asks must be of the task's questions, in increasing order (got %d)", a.Question)
		}
		if len(a.Groups) == 0 {
			continue
		}
		cells := t.Cells(a.Question)
		if len(a.Groups) != cells {
			return fault("groups must number %d, one per cell (got %d)", cells, len(a.Groups))
		}
		for _, g := range a.Groups {
			if g < 0 || g >= cells {
				return fault("a group must be from 0 to %d (got %d)", cells-1, g)
			}
		}
	}
	for i := range r.Members {
		if err := r.Members[i].checkMember(t); err != nil {
			return fault("member %d: %w", i, err)
		}
	}
	if r.Crowd != nil {
		_, err := r.Addend(t)
		return err
	}
	return nil
}

func (m *Member) checkMember(t *Task) error {
	if !(m.Vote >= 0 && m.Vote <= maxScore) {
		return fmt.Errorf("vote must be from 0 to %d (got %g)", maxScore, m.Vote)
	}
	K := t.Schema.Classes()
	if (m.Argmax != nil) == (len(m.Shapes) > 0) || (m.Argmax != nil) != (t.Classifier == Centroid) {
		return fmt.Errorf("must be of classifier %s", t.Classifier)
	}
	if a := m.Argmax; a != nil {
		sp, err := t.Space()
		if err != nil {
			return err
		}
		if len(a.Coef) != K || len(a.Bias) != K {
			return fmt.Errorf("must have %d functions, one per level", K)
		}
		for k, row := range a.Coef {
			if len(row) != sp.Width() {
				return fmt.Errorf("coefficients must number %d (got %d)", sp.Width(), len(row))
			}
			for _, x := range append(row[:len(row):len(row)], a.Bias[k]) {
				if !(math.Abs(x) <= maxCoef) {
					return fmt.Errorf("coefficients must be at most %d in size (got %g)", maxCoef, x)
				}
			}
		}
		return nil
	}
	for i, s := range m.Shapes {
		if s.Question < 0 || s.Question >= len(t.Questions) || i > 0 && s.Question <= m.Shapes[i-1].Question {
			return fmt.Errorf("shapes must be of the task's questions, in increasing order (got %d)", s.Question)
		}
		if cells := t.Cells(s.Question); len(s.Leaves) != cells {
			return fmt.Errorf("leaves must number %d, one per cell (got %d)", cells, len(s.Leaves))
		}
		for _, leaf := range s.Leaves {
			if len(leaf) != K {
				return fmt.Errorf("a leaf must hold %d numbers (got %d)", K, len(leaf))
			}
			for _, x := range leaf {
				if !(math.Abs(x) <= maxScore) {
					return fmt.Errorf("scores must be at most %d in size (got %g)", maxScore, x)
				}
			}
		}
	}
	return nil
}
