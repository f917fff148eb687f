// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"bytes"
	"fmt"

	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/net/federated/wire"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// Caps are an owner's limits for all tasks.
type Caps struct {
	Epsilon dp.Epsilon // the largest ε of a task it takes part in
}

// Terms is a task that one or more owners accept. It is read-only.
type Terms struct {
	task    *wire.Task
	digest  wire.Digest
	placing *wire.Placing
	space   *feature.Space
	cols    []int          // by question: its column
	bins    []feature.Bins // by question
}

// Accept reads a task and checks it against an owner's limits.
func Accept(task []byte, caps Caps) (*Terms, error) {
	t, err := wire.ParseTask(task)
	if err != nil {
		return nil, err
	}
	if t.Epsilon > caps.Epsilon { // 2.3
		return nil, dp.Refuse("owner", "epsilon", "must be at most this owner's cap of "+caps.Epsilon.String(), t.Epsilon)
	}
	terms := &Terms{task: t, bins: make([]feature.Bins, len(t.Questions))}
	if terms.digest, err = t.Digest(); err != nil {
		return nil, err
	}
	if terms.placing, err = t.Placing(); err != nil {
		return nil, err
	}
	if terms.space, err = t.Space(); err != nil {
		return nil, err
	}
	for q := range t.Questions {
		terms.cols = append(terms.cols, t.Column(q))
		terms.bins[q] = t.Bins(q)
	}
	return terms, nil
}

// Task returns the accepted task, which must not be changed.
func (t *Terms) Task() *wire.Task { return t.task }

// Place returns an owner's place in the task.
func (t *Terms) Place(name string) wire.Place { return t.placing.Of(name) }

// Records are rows prepared for the questions of a task.
type Records struct {
	terms *Terms
	tab   *dataset.Table
	// bins[q][code] is the cell of a code of question q's column.
	bins [][]uint32
	// feature[q][code] and value[q][code] encode a code for linear members.
	feature [][]int
	value   [][]float64
}

// Bind prepares rows that were read with the task's schema. Time and memory are linear in the number
// of distinct cells.
func (t *Terms) Bind(tab *dataset.Table) (*Records, error) {
	if tab.Labels == nil {
		return nil, fmt.Errorf("owner: the records must have labels")
	}
	if err := sameSchema(t.task, tab); err != nil {
		return nil, err
	}
	n := len(t.task.Questions)
	r := &Records{terms: t, tab: tab, bins: make([][]uint32, n), feature: make([][]int, n), value: make([][]float64, n)}
	for q := range n {
		col := &tab.Cols[t.cols[q]]
		r.bins[q] = t.bins[q].ByCode(col)
		codes := t.space.Codes(q, col)
		r.feature[q], r.value[q] = make([]int, codes), make([]float64, codes)
		for code := range codes {
			r.feature[q][code], r.value[q][code] = t.space.Cell(q, col, code)
		}
	}
	return r, nil
}

func sameSchema(t *wire.Task, tab *dataset.Table) error {
	ours, err := tab.Schema.MarshalJSON()
	if err != nil {
		return fmt.Errorf("owner: %w", err)
	}
	theirs, err := t.Schema.MarshalJSON()
	if err != nil {
		return fmt.Errorf("owner: %w", err)
	}
	if !bytes.Equal(ours, theirs) {
		return fmt.Errorf("owner: the records must have been read with the schema of the task")
	}
	return nil
}
