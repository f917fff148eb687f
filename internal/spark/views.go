// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"context"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine/blocks"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

const keyBytes = 32

// readKey parses a key in hexadecimal.
func readKey(text string) (*[keyBytes]byte, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != keyBytes {
		return nil, errMessage
	}
	return (*[keyBytes]byte)(b), nil
}

// options returns the options for reading rows with the session's persons.
func (w *worker) options() (opts dataset.Options) {
	if w.secret != nil {
		opts.Persons = dataset.NewPersonKeys(*w.secret)
	}
	return opts
}

// weightsOf returns the weights of the rows of a block's persons, by the index in its list, from 1.
func (v *view) weightsOf(totals []byte) ([]uint32, error) {
	counts, err := readCounts(totals)
	if err != nil || v.Most < 1 {
		return nil, errMessage
	}
	return counts.Weights(v.Most), nil
}

// viewRows returns the table of a block's rows as weighted in a view; told is what the block stores
// for it.
func (w *worker) viewRows(v *view, b *blocks.Block, rows *dataset.Table, told [][]byte) (*memory.Table, error) {
	switch {
	case v == nil:
		return memory.New(rows) // which refuses rows of persons
	case w.secret == nil:
		return nil, errMessage
	case v.Kind == "weigh":
		weights, err := v.weightsOf(told[0])
		if err != nil {
			return nil, err
		}
		if rows.Persons, err = personsOf(b, len(weights)); err != nil {
			return nil, err
		}
		return memory.NewWeighed(rows, weights), nil
	case v.Kind != "draw" && v.Kind != "ignore":
		return nil, errMessage
	}
	s := *rows.Schema
	s.Person = nil
	rows.Schema = &s
	if v.Kind == "draw" {
		drawn, err := readDrawn(told[0], rows.Rows)
		if err != nil {
			return nil, err
		}
		rows = rows.Subset(drawn)
	}
	return memory.New(rows)
}

// personsOf returns the persons of a block's rows, which must be below limit.
func personsOf(b *blocks.Block, limit int) ([]uint32, error) {
	of, err := b.Persons()
	if err == nil && len(of) > 0 && int(slices.Max(of)) >= limit {
		err = errMessage
	}
	return of, err
}

// viewPiece makes the view of a question the current one of a piece.
func (w *worker) viewPiece(held *heldPiece, h *header, told []byte) error {
	v := h.View
	if w.secret == nil {
		return errMessage
	}
	if h.Told {
		if held.view != v.Name {
			return errors.New("spark: the worker does not know what a person's rows count for")
		}
		return nil
	}
	held.view, held.viewed = "", nil
	switch v.Kind {
	case "weigh":
		weights, err := v.weightsOf(told)
		if err != nil {
			return err
		}
		byNumber := make([]uint32, len(held.places))
		for number, place := range held.places {
			if int(place) >= len(weights) {
				return errMessage
			}
			byNumber[number] = weights[place]
		}
		held.viewed = w.store.Weighed(held.blocks, byNumber)
	case "draw":
		rows, err := readDrawn(told, held.rows)
		if err != nil {
			return err
		}
		var drawn [][]int
		before := 0
		for _, k := range held.blocks {
			n, _ := slices.BinarySearch(rows, before+w.store.RowsOf(k))
			part := slices.Clone(rows[:n])
			for i := range part {
				part[i] -= before
			}
			drawn, rows, before = append(drawn, part), rows[n:], before+w.store.RowsOf(k)
		}
		held.viewed = w.store.Counted(held.blocks, drawn)
	case "ignore":
		held.viewed = w.store.Counted(held.blocks, nil)
	default:
		return errMessage
	}
	held.view = v.Name
	return nil
}

// offer draws among the rows of a block or a piece.
func (w *worker) offer(ctx context.Context, h *header, parts [][]byte) (answer header, data [][]byte, err error) {
	key, err := readKey(h.Lots)
	if err != nil || h.View == nil || h.View.Most < 1 || h.First < 0 || w.secret == nil {
		return answer, nil, errMessage
	}
	lots, d := memory.Lots(*key), memory.NewDrawing(h.View.Most, false)
	replies := parts[len(parts)-1]
	persons := len(replies) / replyBytes
	if h.Piece == nil {
		block, err := blocks.Decode(parts[0], w.s, w.text)
		if err != nil {
			return answer, nil, err
		}
		of, err := personsOf(block, persons+1)
		if err != nil {
			return answer, nil, err
		}
		d.Add(&lots, h.First, of)
	} else {
		held, err := w.hold(ctx, h.Piece, false)
		if err != nil {
			return answer, nil, err
		}
		first := h.First
		for _, k := range held.blocks {
			of, err := w.store.PersonsOf(k)
			if err != nil {
				return answer, nil, err
			}
			for i, number := range of {
				if of[i] = held.places[number]; int(of[i]) > persons {
					return answer, nil, errMessage
				}
			}
			d.Add(&lots, first, of)
			first += len(of)
		}
	}
	offers, lens, err := offerRows(d, persons, replies, h.Lens)
	return header{Op: "offered", Lens: lens}, [][]byte{offers}, err
}
