// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
)

// view determines the weights of persons' rows in a question.
type view struct {
	Name string `json:"name"` // unique in the session
	Kind string `json:"kind"` // weigh, draw or ignore
	Most int    `json:"most,omitempty"`
	Fill bool   `json:"fill,omitempty"`
}

// persons are the persons of a session's rows. This process knows how many persons have how many rows,
// but not which ones.
type persons struct {
	sn     *Session
	counts map[uint32]int // number of persons, by number of rows
}

// bucketBlocks is the maximum size of a bucket of persons: the persons of this many blocks' rows if
// each row had another person. A bucket is a Spark task twice, and new executors start slowly.
const bucketBlocks = 16

// countPersons counts the persons over all blocks. One shuffle determines how many rows each person
// has.
func (sn *Session) countPersons(blockRows int) error {
	if sn.rows > math.MaxUint32 {
		return sn.refused("a table whose schema declares persons must have at most 2^32-1 rows")
	}
	sn.buckets = sn.rows/(bucketBlocks*blockRows) + 1
	if err := send(sn.link, header{Op: "count", Buckets: sn.buckets}); err != nil {
		return sn.lost(context.Background())
	}
	p := &persons{sn, map[uint32]int{}}
	counted := map[string]bool{}
	for {
		h, _, err := sn.next(context.Background(), "counting each person's rows, one shuffle")
		if err != nil {
			return err
		}
		switch {
		case h.Op == "done":
			if len(counted) != len(sn.blocks) {
				return sn.refused(fmt.Sprintf("the persons of %d of %d blocks were counted", len(counted), len(sn.blocks)))
			}
			sn.persons = p
			return nil
		case h.Op != "counted" || counted[h.Block]:
			return sn.refused("the session counted persons wrongly")
		}
		if err := sn.checkBlock(&h); err != nil {
			return err
		}
		counted[h.Block] = true
		for _, c := range h.Persons {
			p.counts[c.Rows] += c.Persons
		}
	}
}

// checkBlock refuses a message about an unknown block, or one whose rows have changed.
func (sn *Session) checkBlock(h *header) error {
	switch id := sn.blocks[h.Block]; {
	case id == "":
		return sn.refused("there was an answer that nobody was asked for")
	case id != h.ID:
		return sn.refused("a block was made again and holds other rows: what is read must not change meanwhile, " +
			"and a query must give the same rows in the same order every time")
	}
	return nil
}

// Count implements engine.Persons.
func (p *persons) Count() (all int) {
	for rows, n := range p.counts {
		if rows > 0 {
			all += n
		}
	}
	return all
}

// newView returns a new view of a kind.
func (p *persons) newView(kind string) view {
	p.sn.views++
	return view{Name: strconv.Itoa(p.sn.views), Kind: kind}
}

// Weigh implements engine.Persons.
func (p *persons) Weigh(most int) engine.Table {
	v := p.newView("weigh")
	v.Most = most
	return question.NewTable(p.sn.s, p.sn.rows, &viewed{p.sn, v, nil}).WithPersons(p)
}

// Ignore implements engine.Persons.
func (p *persons) Ignore() engine.Table { return p.rowsOf(p.newView("ignore"), p.sn.rows, nil) }

// Draw implements engine.Persons, with one more shuffle of the rows that blocks offer.
func (p *persons) Draw(most int, fill bool, below func(n uint64) uint64) engine.Table {
	v, lots := p.newView("draw"), memory.NewLots(below)
	v.Most, v.Fill = most, fill
	rows, err := p.sn.draw(&v, &lots)
	return p.rowsOf(v, rows, err)
}

// rowsOf returns a view of rows with weight one.
func (p *persons) rowsOf(v view, rows int, err error) engine.Table {
	s := *p.sn.s
	s.Person = nil
	return question.NewTable(&s, rows, &viewed{p.sn, v, err})
}

// viewed answers questions about a session's rows as weighted in a view.
type viewed struct {
	sn     *Session
	view   view
	failed error // the answer to every question
}

// Ask implements question.Asker.
func (v *viewed) Ask(ctx context.Context, q *question.Question) (*question.Sums, error) {
	if v.failed != nil {
		return nil, v.failed
	}
	return v.sn.ask(ctx, q, &v.view)
}

// draw makes the cluster draw rows, and returns their number.
func (sn *Session) draw(v *view, lots *memory.Lots) (rows int, err error) {
	ask := header{Op: "draw", View: v, Lots: hex.EncodeToString(lots[:]), Buckets: sn.buckets, Firsts: map[string]int{}}
	first := 0
	for _, name := range slices.SortedFunc(maps.Keys(sn.rowsOf), compareBlocks) {
		ask.Firsts[name] = first
		first += sn.rowsOf[name]
	}
	if err := send(sn.link, ask); err != nil {
		return 0, sn.lost(context.Background())
	}
	drawn := map[string]bool{}
	for {
		h, _, err := sn.next(context.Background(), "drawing rows of each person, one shuffle")
		if err != nil {
			return 0, err
		}
		switch {
		case h.Op == "done":
			if len(drawn) != len(sn.blocks) {
				return 0, sn.refused(fmt.Sprintf("rows were drawn in %d of %d blocks", len(drawn), len(sn.blocks)))
			}
			return rows, nil
		case h.Op != "drawn" || drawn[h.Block] || h.Rows < 0:
			return 0, sn.refused("the session drew rows wrongly")
		}
		if err := sn.checkBlock(&h); err != nil {
			return 0, err
		}
		drawn[h.Block] = true
		rows += h.Rows
	}
}

// compareBlocks compares the names of blocks in the order of their rows.
func compareBlocks(a, b string) int {
	x, y := strings.Split(a, "-"), strings.Split(b, "-")
	return slices.CompareFunc(x, y, func(a, b string) int { return cmp.Or(len(a)-len(b), cmp.Compare(a, b)) })
}
