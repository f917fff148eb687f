// SPDX-License-Identifier: Apache-2.0

package tune

import (
	"context"

	"github.com/discreet-dp/discreet/internal/privacy/rng"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// parts holds the rows, divided into two tables.
type parts struct {
	train engine.Table
	judge *dataset.Table // may have no rows
}

// countJudges returns the number of evaluation rows, which is smaller than rows.
func countJudges(rows int, share float64) int { return int(float64(rows) * share) }

// dealRows divides the rows uniformly at random into evaluation rows and training rows. The order in
// which a table lists them depends on cells, so all of them are shuffled. The distribution of the
// parts then does not depend on that order (1.1).
func dealRows(ctx context.Context, tab engine.Table, share float64, src rng.Source) (*parts, error) {
	s := tab.Schema()
	g, err := tab.Groups(ctx, s.Features())
	if err != nil {
		return nil, err
	}
	var rows []int // row by row, its group
	var labels []uint8
	for label, counts := range g.Counts {
		for i, n := range counts {
			for range n {
				rows, labels = append(rows, i), append(labels, uint8(label))
			}
		}
	}
	rng.Shuffle(src, len(rows), func(i, j int) {
		rows[i], rows[j] = rows[j], rows[i]
		labels[i], labels[j] = labels[j], labels[i]
	})
	distinct := &dataset.Table{Schema: s, Rows: g.Len, Cols: g.Cols}
	part := func(from, to int) *dataset.Table {
		t := distinct.Subset(rows[from:to])
		t.Labels = labels[from:to]
		return t
	}
	at := countJudges(len(rows), share)
	return assembleParts(part(at, len(rows)), part(0, at))
}

// assembleParts makes parts of two tables. The training table drops numbers that only other rows have,
// so that it is a function of its own rows (1.2).
func assembleParts(train, judge *dataset.Table) (*parts, error) {
	train.Forget()
	t, err := memory.New(train)
	if err != nil {
		return nil, err
	}
	return &parts{t, judge}, nil
}
