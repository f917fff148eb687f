// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/mechtest"
	"github.com/discreet-dp/discreet/internal/ground/dp"
	"github.com/discreet-dp/discreet/internal/learn"
	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Interference trains on two neighbours with one script in the exit, so that their releases are equal,
// and reports all other differences: an empty string means non-interference on this pair. It also
// returns the largest ratio of a release's change to its declared sensitivity, and that release.
func Interference(t testing.TB, plan func() (learn.Plan, error), a, b *dataset.Table, seed uint64,
	script func(k int, p mechtest.Passage) []float64) (differs string, worst float64, at string) {
	t.Helper()
	var tapes [2]*mechtest.Recorder
	var files [2][]byte
	for i, tab := range []*dataset.Table{a, b} {
		pl, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		tapes[i] = &mechtest.Recorder{Script: script}
		files[i] = Bytes(t, Fit(t, pl, tab, tapes[i], seed))
	}
	p, q := tapes[0].Passages, tapes[1].Passages
	if len(p) != len(q) {
		return fmt.Sprintf("%d releases against %d", len(p), len(q)), 0, ""
	}
	for k := range p {
		if p[k].Label != q[k].Label || p[k].Loss != q[k].Loss || p[k].Rho != q[k].Rho || p[k].Bound != q[k].Bound ||
			len(p[k].Values) != len(q[k].Values) {
			return fmt.Sprintf("release %d is %q (bound %g) against %q (bound %g)", k, p[k].Label, p[k].Bound, q[k].Label,
				q[k].Bound), 0, ""
		}
		if r := p[k].Moved(q[k]) / p[k].Bound; r > worst {
			worst, at = r, p[k].Label
		}
	}
	if !bytes.Equal(files[0], files[1]) {
		differs = "the model files"
	}
	return differs, worst, at
}

// Neighbour returns a copy of tab in which the protected part of one row is drawn again: its private
// columns and, depending on the scope, its label (dp.FeaturesAndLabel), everything (dp.WholeRow), or
// only its label (dp.LabelOnly). Derived cells are updated.
func Neighbour(tab *dataset.Table, src rng.Source, scope dp.Scope) *dataset.Table {
	rows := make([]int, tab.Rows)
	for i := range rows {
		rows[i] = i
	}
	out := tab.Subset(rows)
	redraw(out, int(rng.Below(src, uint64(tab.Rows))), src, scope)
	out.Derive()
	return out
}

// redraw draws the protected part of row i again.
func redraw(tab *dataset.Table, i int, src rng.Source, scope dp.Scope) {
	for j := range tab.Cols {
		c := &tab.Schema.Columns[j]
		if !isProtected(c, scope) {
			continue
		}
		codes := len(tab.Cols[j].Values)
		if c.Kind == schema.Category {
			codes = c.Codes()
		}
		setCode(&tab.Cols[j].Codes, i, uint32(rng.Below(src, uint64(codes))))
	}
	if scope != dp.PrivateFeatures {
		tab.Labels[i] = uint8(rng.Below(src, uint64(tab.Schema.Classes())))
	}
}

// isProtected reports whether a column's cells are protected. Derived cells are computed from others.
func isProtected(c *schema.Column, scope dp.Scope) bool {
	return c.Role != schema.Ignored && c.Derived == schema.InFile && scope != dp.LabelOnly &&
		(c.Role == schema.Private || scope == dp.WholeRow)
}

func setCode(c *column.Codes, i int, code uint32) {
	switch {
	case c.U8 != nil:
		c.U8[i] = uint8(code)
	case c.U16 != nil:
		c.U16[i] = uint16(code)
	default:
		c.U32[i] = code
	}
}

// WithoutRow removes a row.
func WithoutRow(tab *dataset.Table, row int) *dataset.Table {
	var rows []int
	for i := range tab.Rows {
		if i != row {
			rows = append(rows, i)
		}
	}
	return tab.Subset(rows)
}
