// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/kernel"
	"github.com/discreet-dp/discreet/internal/table/feature"
)

// laidOut caches the last layout and the last labels for it, since a table is often fitted again at
// another price or against another class.
type laidOut struct {
	sync.Mutex
	sp       *feature.Space
	rows     engine.Rows
	layout   *kernel.Layout
	positive int
	margins  *kernel.MarginRows
}

// Margins implements engine.Table. It caches a layout, at most 8 bytes per row and column, until
// another one is needed. The same layout again costs nothing, and the same rows against another class
// O(rows).
func (m *Table) Margins(ctx context.Context, sp *feature.Space, r engine.Rows) (engine.Margins, error) {
	if err := m.checkBinary("margins", counted); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	l := m.laid
	l.Lock()
	defer l.Unlock()
	if l.layout == nil || l.rows.Scale != r.Scale || l.rows.Norm != r.Norm || !reflect.DeepEqual(l.sp, sp) {
		l.sp, l.margins = sp, nil
		l.layout = kernel.Lay(sp, m.t.Cols, m.t.Rows, r)
	}
	if l.margins == nil || l.positive != m.positive || !slices.Equal(l.rows.Weights, r.Weights) {
		l.margins = l.layout.WeighLabels(m.t.Labels, m.positive, r.Weights)
	}
	l.rows, l.positive = r, m.positive
	return l.margins, nil
}
