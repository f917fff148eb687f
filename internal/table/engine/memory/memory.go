// SPDX-License-Identifier: Apache-2.0

package memory

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/feature"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Table answers from a dataset.Table, which it does not change, by a schema that nobody else holds.
type Table struct {
	t        *dataset.Table
	whole    *schema.Schema
	schema   *schema.Schema // of a view
	positive int            // label code; -1 if there is none
	laid     *laidOut
	scored   *scored
	persons  *persons // nil if each row is a unit
	weights  []uint32 // by row, see engine.PersonWeight; nil if all rows have weight one
}

var _ engine.Table = (*Table)(nil)

// New wraps a labelled table.
func New(t *dataset.Table) (*Table, error) {
	if t.Labels == nil {
		return nil, fmt.Errorf("memory: the table was read without labels")
	}
	m := newTable(t, t.Schema.Clone())
	if m.whole.Person == nil {
		return m, nil
	}
	var err error
	m.persons, err = newPersons(m)
	return m, err
}

func newTable(t *dataset.Table, s *schema.Schema) *Table {
	return &Table{t: t, whole: s, schema: s, positive: s.Label.Positive,
		laid: new(laidOut), scored: new(scored)}
}

func (m *Table) Schema() *schema.Schema { return m.schema.Clone() }
func (m *Table) Rows() int              { return m.t.Rows }

// chunkRows is the number of rows per work item.
const chunkRows = 1 << 12

// Mistakes implements engine.Table. Time O(n·columns·T/2) word additions;
// memory one pattern per distinct one.
func (m *Table) Mistakes(ctx context.Context, sp *feature.Space, cs []feature.Threshold) (*engine.Patterns, error) {
	if err := m.checkBinary("mistakes of thresholds", counted); err != nil {
		return nil, err
	}
	sc := feature.NewScorer(sp, cs)
	bound, words := sc.Bind(m.t.Cols), sc.Words()
	// A set bit says "positive", which is wrong if the label is not; where it
	// is, the clear bits are. By a table: labels are too irregular to branch on.
	var flip [256]uint64
	flip[m.positive] = ^uint64(0)
	used := make([]uint64, words) // the bits in use
	for t := range cs {
		used[t/64] |= 1 << (t % 64)
	}
	wrong := func(from, to int, out []uint64) {
		bound.Answers(from, out)
		for i, label := range m.t.Labels[from:to] {
			for w := range used {
				out[i*words+w] ^= flip[label] & used[w]
			}
		}
	}
	if len(cs) > directBits && len(cs) <= packedBits && m.t.Rows <= math.MaxUint32 {
		parts, err := eachChunk(ctx, m, 1, newPacked, func(from, to int, out []uint64, into *packed) {
			wrong(from, to, out)
			into.addKeys(out)
		})
		if err != nil {
			return nil, err
		}
		for _, part := range parts[1:] {
			parts[0].mergeCounts(part)
		}
		p := &engine.Patterns{Words: 1}
		p.Bits, p.Count = parts[0].sortedCounts()
		return p, nil
	}
	all, err := m.countRows(ctx, len(cs), 1, func(from, to int, out []uint64, into *tally) {
		wrong(from, to, out)
		into.addKeys(out, nil)
	})
	if err != nil {
		return nil, err
	}
	p := &engine.Patterns{Words: words, Bits: make([]uint64, 0, all.len*words), Count: make([]uint64, 0, all.len)}
	for _, at := range all.sortedSlots() {
		p.Bits = append(p.Bits, all.keyAt(at)...)
		p.Count = append(p.Count, all.countsAt(at)[0])
	}
	return p, nil
}

// Groups implements engine.Table. Time O(n·columns); memory one key and K
// counters per distinct row.
func (m *Table) Groups(ctx context.Context, cols []int) (*engine.Groups, error) {
	if err := m.checkPersons("groups", weighed); err != nil {
		return nil, err
	}
	sizes := make([]int, len(cols))
	for k, j := range cols {
		sizes[k] = m.codeCount(j)
	}
	fields, keyBits := engine.PackKeys(sizes)
	words, classes := (keyBits+63)/64, m.whole.Classes() // of the whole label; Against folds them below
	short := keyBits <= shortBits
	all, err := m.countRows(ctx, keyBits, classes, func(from, to int, keys []uint64, into *tally) {
		clear(keys)
		codes := make([]uint32, to-from)
		for k, j := range slices.Backward(cols) {
			f := fields[k]
			if short { // the last column is the highest field
				m.t.Cols[j].Codes.Mix(from, 1<<f.Width, codes)
				continue
			}
			m.t.Cols[j].Codes.Read(from, codes)
			for i, c := range codes {
				keys[i*words+f.Word] |= uint64(c) << f.Shift
			}
		}
		if short {
			for i, key := range codes {
				keys[i] = uint64(key)
			}
		}
		if m.weights != nil {
			into.addWeighed(keys, m.t.Labels[from:to], m.weights[from:to])
			return
		}
		into.addKeys(keys, m.t.Labels[from:to])
	})
	if err != nil {
		return nil, err
	}
	g := &engine.Groups{Cols: make([]column.Column, len(m.t.Cols)), Len: all.len,
		Counts: make([][]uint64, m.schema.Classes())}
	slots := all.sortedSlots()
	for k, j := range cols {
		codes := make([]uint32, len(slots))
		for i, s := range slots {
			codes[i] = uint32(all.keyAt(s)[fields[k].Word] >> fields[k].Shift & (1<<fields[k].Width - 1))
		}
		g.Cols[j] = column.Column{Codes: column.Narrow(codes, m.codeCount(j)), Values: m.t.Cols[j].Values,
			Marks: m.t.Cols[j].Marks}
	}
	for c := range g.Counts {
		g.Counts[c] = make([]uint64, len(slots))
	}
	view := m.view()
	for i, s := range slots {
		for c, n := range all.countsAt(s) {
			g.Counts[view.Label[c]][i] += n
		}
	}
	return g, nil
}

// codeCount returns the number of codes that column j can have.
func (m *Table) codeCount(j int) int {
	if v := m.t.Cols[j].Values; v != nil {
		return len(v)
	}
	return m.whole.Columns[j].Codes()
}

// countRows runs fill over chunks of rows and merges the counts by key; keys have keyBits bits.
func (m *Table) countRows(ctx context.Context, keyBits, counters int,
	fill func(from, to int, keys []uint64, into *tally)) (*tally, error) {
	fresh := func() *tally { return newTally(keyBits, counters, m.t.Rows) }
	parts, err := eachChunk(ctx, m, (keyBits+63)/64, fresh, fill)
	if err != nil {
		return nil, err
	}
	for _, t := range parts[1:] {
		parts[0].mergeCounts(t)
	}
	return parts[0], nil
}

// eachChunk runs fill over chunks of rows, into one T per core, at least one. keys has space for words
// words per row of the chunk.
func eachChunk[T any](ctx context.Context, m *Table, words int, fresh func() T,
	fill func(from, to int, keys []uint64, into T)) (parts []T, err error) {
	var all sync.Mutex // guards parts
	err = m.eachWorker(ctx, chunkRows, func(next func() (from, to int, ok bool)) {
		part, keys := fresh(), make([]uint64, chunkRows*words)
		for from, to, ok := next(); ok; from, to, ok = next() {
			fill(from, to, keys[:(to-from)*words], part)
		}
		all.Lock()
		defer all.Unlock()
		parts = append(parts, part)
	})
	return parts, err
}
