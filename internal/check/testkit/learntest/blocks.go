// SPDX-License-Identifier: Apache-2.0

package learntest

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/blocks"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Blocks answers from the rows of tab, shuffled and divided into the given number of blocks of
// different lengths, some of which may be empty. If messages is set, every question and answer is
// encoded as a message and decoded again.
func Blocks(t testing.TB, tab *dataset.Table, count int, seed uint64, messages bool) engine.Table {
	t.Helper()
	order := rand.New(rand.NewPCG(uint64(count), seed)) // of rows and blocks: nothing is to depend on it
	text := []byte("schema")
	store, err := blocks.NewStore(tab.Schema, text, t.TempDir(), 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	rows := order.Perm(tab.Rows)
	ends := []int{tab.Rows}
	for range count - 1 {
		ends = append(ends, order.IntN(tab.Rows+1))
	}
	slices.Sort(ends)
	from := 0
	names := order.Perm(count)
	for k, to := range ends {
		if err := store.Put(names[k], tab.Subset(rows[from:to])); err != nil {
			t.Fatal(err)
		}
		from = to
	}
	var asker question.Asker = store
	if messages {
		asker = byMessage{tab.Schema.Clone(), store} // the other process has its own
	}
	return question.NewTable(tab.Schema, tab.Rows, asker)
}

// byMessage sends questions as another process would.
type byMessage struct {
	s     *schema.Schema
	store *blocks.Store
}

func (m byMessage) Ask(ctx context.Context, q *question.Question) (*question.Sums, error) {
	text, err := question.Encode(q)
	if err != nil {
		return nil, err
	}
	if q, err = question.Decode(m.s, text); err != nil {
		return nil, err
	}
	sums, err := m.store.Ask(ctx, q)
	if err != nil || sums == nil {
		return sums, err
	}
	return question.DecodeSums(sums.Encode())
}
