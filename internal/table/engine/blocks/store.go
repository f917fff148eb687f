// SPDX-License-Identifier: Apache-2.0

package blocks

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// Store stores blocks in one file, which has no name (if the system allows it), so that no coded row
// outlives the process, however it ends.
type Store struct {
	s    *schema.Schema
	text []byte
	file *os.File
	most int64 // bytes for scores of rows between questions

	mu     sync.Mutex
	end    int64
	blocks map[int]*stored
	counts memory.PersonCounts // of all blocks, if the schema declares persons

	unsettled bool // what a person's rows count for

	// Of a view, in which it is settled what a person's rows count for.
	weights []uint32 // by person; nil if rows count once
	failed  error    // the answer to every question
	whole   *Store   // the store of which these rows are a part; nil for none
}

type stored struct {
	*parsed
	at int64 // offset in the file

	drawn []int // the rows in use, ascending; nil for all

	mu   sync.Mutex
	rows *dataset.Table // nil, or the rows whose scores are kept, with their labels and no columns between questions
	tab  *memory.Table
}

// NewStore makes a store in the folder dir, "" for the system's temporary folder. text is the file of
// schema s. Between two questions it keeps at most most bytes about rows in memory.
func NewStore(s *schema.Schema, text []byte, dir string, most int64) (*Store, error) {
	f, err := os.CreateTemp(dir, "discreet-blocks-*")
	if err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	os.Remove(f.Name()) // else Close does
	return &Store{s: s.Clone(), text: text, file: f, most: most, blocks: map[int]*stored{}, unsettled: s.Person != nil}, nil
}

// Close releases the file's space.
func (st *Store) Close() error {
	err := st.file.Close()
	if gone := os.Remove(st.file.Name()); gone != nil && !errors.Is(gone, os.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// Put stores block k. It is safe for concurrent use.
func (st *Store) Put(k int, t *dataset.Table) error {
	spare, _ := bodies.Get().(*[]byte)
	if spare == nil {
		spare = new([]byte)
	}
	defer bodies.Put(spare)
	head, body, err := encodeParts(t, st.text, *spare)
	if err != nil {
		return err
	}
	*spare = body
	size := int64(len(head) + len(body))
	p, err := parseHeader(head, size, st.s, schemaID(st.text))
	if err != nil {
		return err
	}
	st.mu.Lock()
	at, twice := st.end, st.blocks[k] != nil
	st.end += size
	st.blocks[k] = &stored{parsed: p, at: at}
	st.counts.Add(t.Persons)
	st.mu.Unlock()
	if twice {
		return fmt.Errorf("blocks: there are two blocks %d", k)
	}
	_, err = st.file.WriteAt(head, at)
	if err == nil {
		_, err = st.file.WriteAt(body, at+int64(len(head)))
	}
	if err != nil {
		return fmt.Errorf("blocks: %w", err)
	}
	return nil
}

// bodies are buffers for writing blocks: reused memory costs less than new memory, which the system
// clears page by page.
var bodies sync.Pool // of *[]byte

// Rows returns the number of rows in all blocks.
func (st *Store) Rows() (rows int) {
	for _, b := range st.blocks {
		if b.drawn != nil {
			rows += len(b.drawn)
		} else {
			rows += b.Rows
		}
	}
	return rows
}

// Table returns a table that answers from all blocks.
func (st *Store) Table() *question.Table {
	t := question.NewTable(st.s, st.Rows(), st)
	if !st.unsettled {
		return t
	}
	return t.WithPersons(&persons{st.counts, st})
}

// Ask implements question.Asker. It processes as many blocks at once as there are processors.
func (st *Store) Ask(ctx context.Context, q *question.Question) (*question.Sums, error) {
	switch {
	case st.failed != nil:
		return nil, st.failed
	case st.unsettled:
		return nil, fmt.Errorf("blocks: %s cannot be asked before it is settled what a person's rows count for", q.Kind)
	}
	var all []*stored
	for _, b := range st.blocks {
		all = append(all, b)
	}
	keep := st.keepsScores(q)
	var sum question.Adder
	var failed error
	var mu sync.Mutex
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(all)) {
		workers.Go(func() {
			r := takeRoom()
			defer rooms.Put(r)
			for k := int(next.Add(1) - 1); k < len(all); k = int(next.Add(1) - 1) {
				answer, err := st.askBlock(ctx, all[k], q, keep, r)
				mu.Lock()
				if err == nil {
					err = sum.Add(answer)
				}
				if failed == nil {
					failed = err
				}
				stop := failed != nil
				mu.Unlock()
				if stop {
					return
				}
			}
		})
	}
	workers.Wait()
	if failed != nil {
		return nil, failed
	}
	return sum.Sum()
}

// rooms are buffers for reading blocks, as bodies are for writing.
var rooms sync.Pool // of *room

func takeRoom() *room {
	if r, _ := rooms.Get().(*room); r != nil {
		return r
	}
	return new(room)
}

// AskBlock is Ask for block k only.
func (st *Store) AskBlock(ctx context.Context, k int, q *question.Question) (*question.Sums, error) {
	r := takeRoom()
	defer rooms.Put(r)
	return st.askBlock(ctx, st.blocks[k], q, st.keepsScores(q), r)
}

// ID returns the ID of the rows of block k.
func (st *Store) ID(k int) ID { return st.blocks[k].id }

// RowsOf returns the number of rows in block k.
func (st *Store) RowsOf(k int) int { return st.blocks[k].Rows }

// keepsScores reports whether the scores of rows may be kept until the next question about them.
func (st *Store) keepsScores(q *question.Question) bool {
	score := q.Score()
	if score == nil {
		return false
	}
	row := 1 + 4*int64(score.Width()) // bytes of it
	if st.weights != nil {
		row += 4
	}
	rows := st.Rows()
	if st.whole != nil { // whose other parts keep scores, too
		rows = max(rows, st.whole.Rows())
	}
	return row*int64(rows) <= st.most
}

func (st *Store) askBlock(
	ctx context.Context, b *stored, q *question.Question, keep bool, r *room,
) (*question.Sums, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	rows, tab := b.rows, b.tab
	if rows == nil {
		rows = &dataset.Table{Schema: st.s, Rows: b.Rows, Cols: make([]column.Column, len(b.Columns))}
	}
	scored := 0
	if score := q.Score(); tab != nil && score != nil {
		scored = tab.KnownTerms(q.Against, score)
	}
	err := b.load(rows, q.ColumnsRead(scored), st.readAt(b), r)
	if err != nil {
		return nil, fmt.Errorf("blocks: %w", err)
	}
	if tab == nil {
		if tab, err = st.tableOf(b, rows); err != nil {
			return nil, err
		}
	}
	answer, err := question.AnswerFrom(ctx, tab, q)
	b.rows, b.tab = nil, nil
	if keep && err == nil && b.drawn == nil { // drawn rows are copies
		clear(rows.Cols)
		b.rows, b.tab = rows, tab
	}
	return answer, err
}

// readAt reads sections of a block.
func (st *Store) readAt(b *stored) reading {
	return func(s section, into []byte) ([]byte, error) {
		out := sized(into, int(s.Len))
		_, err := st.file.ReadAt(out, b.at+b.body+s.At)
		return out, err
	}
}

// tableOf returns a table that answers from the rows in use of a block.
func (st *Store) tableOf(b *stored, rows *dataset.Table) (*memory.Table, error) {
	switch {
	case st.weights != nil:
		var err error
		if rows.Persons, err = b.loadPersons(st.readAt(b)); err != nil {
			return nil, fmt.Errorf("blocks: %w", err)
		}
		tab := memory.NewWeighed(rows, st.weights)
		rows.Persons = nil
		return tab, nil
	case b.drawn != nil:
		rows = rows.Subset(b.drawn)
	}
	return memory.New(rows)
}
