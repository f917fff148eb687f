// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"reflect"
	"sync"

	"github.com/discreet-dp/discreet/engine"
	"github.com/discreet-dp/discreet/feature"
)

// laidOut is the last layout that was asked for, since who fits a table once
// often fits it again, at another price.
type laidOut struct {
	sync.Mutex
	sp      *feature.Space
	rows    engine.Rows
	margins *engine.Margins
}

// Margins implements engine.Table. A layout stays in memory, at most 8 bytes per
// row and column, until another is asked for; asked for again it costs nothing.
func (m *Table) Margins(ctx context.Context, sp *feature.Space, r engine.Rows) (*engine.Margins, error) {
	if m.t.Schema.Classes() != 2 {
		return nil, fmt.Errorf("memory: margins need a label with 2 levels (schema %q has %d)", m.t.Schema.Name, m.t.Schema.Classes())
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("memory: %w", err)
	}
	l := &m.laid
	l.Lock()
	defer l.Unlock()
	if l.margins == nil || l.rows != r || !reflect.DeepEqual(l.sp, sp) {
		weigh := engine.LabelWeights(m.t.Labels, m.t.Schema.Label.Positive)
		l.sp, l.rows = sp, r
		l.margins = engine.NewMargins(sp, m.t.Cols, m.t.Rows, weigh, r)
	}
	return l.margins, nil
}
