// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/discreet-dp/discreet/internal/ground/openfile"
	"github.com/discreet-dp/discreet/internal/table/engine/blocks"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/engine/question"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// programID is the SHA-256 of this process's executable file.
func programID() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("spark: %w", err)
	}
	f, err := openfile.Regular(path)
	if err != nil {
		return "", fmt.Errorf("spark: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", fmt.Errorf("spark: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// mostScores is the number of bytes about rows that a worker keeps in memory between questions:
// executors' containers have little memory besides Java's.
const mostScores = 256 << 20

// ServeWorker answers messages until in ends: it codes rows in Parquet into blocks, answers questions
// about blocks, or scores rows. It stores the blocks of files that it opens itself in a file without a
// name. It stores and writes nothing else, and knows no price.
func ServeWorker(ctx context.Context, in io.Reader, out io.Writer, open OpenScorer) error {
	program, err := programID()
	if err != nil {
		return err
	}
	w := &worker{program: program, open: open}
	defer w.close()
	r, buffered := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<16)
	for ctx.Err() == nil {
		h, parts, err := receive(r)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		answer, data, err := w.answer(ctx, h, parts, func(h header, data [][]byte) error {
			return send(buffered, h, data...)
		})
		if err != nil {
			answer, data = header{Op: "failed", Error: err.Error()}, nil
		}
		if err := errors.Join(send(buffered, answer, data...), buffered.Flush()); err != nil {
			return err
		}
	}
	return ctx.Err()
}

type worker struct {
	program string
	s       *schema.Schema
	text    []byte
	rows    int // approximate number per block
	keeps   *dataset.Selection

	open  OpenScorer
	score Scorer // nil if blocks are made

	secret *[32]byte // key for hashing identifiers; nil if the schema declares no persons

	folder string // for the blocks of pieces
	store  *blocks.Store
	stored int
	pieces map[string]*heldPiece
}

// heldPiece is a piece whose blocks are in the store.
type heldPiece struct {
	blocks []int
	rows   int
	id     string

	places []uint32 // indices of persons in the piece's list, by their numbers in the blocks
	list   []byte   // until it is requested
	view   string   // name of the current view
	viewed *blocks.Store
}

func (w *worker) close() {
	if w.store != nil {
		w.store.Close()
	}
}

// answer answers a message. Answers before the last one are passed to first.
func (w *worker) answer(ctx context.Context, h header, parts [][]byte, first func(header, [][]byte) error) (
	answer header, data [][]byte, err error) {
	wants := map[string]int{"begin": 1, "code": 1, "file": 1, "ask": 2, "piece": 0, "ask piece": 1,
		"begin scoring": 1, "score": 1, "count": 1, "settle": 1, "offer": 2, "offer piece": 1, "draw": 1}
	begins := h.Op == "begin" || h.Op == "begin scoring"
	n, ok := wants[h.Op]
	if h.View != nil && (h.Op == "ask" || h.Op == "ask piece") {
		n++
	}
	switch {
	case !ok || n != len(parts) || (h.Piece != nil) != (h.Op == "piece" || strings.HasSuffix(h.Op, " piece")):
		return answer, nil, errMessage
	case !begins && (h.Op == "score") != (w.score != nil), !begins && w.s == nil && w.score == nil:
		return answer, nil, errors.New("spark: the worker must be told the schema first")
	}
	if begins && h.Program != w.program {
		return answer, nil, errors.New("spark: the worker is not the program that asks: send the same file to executors")
	}
	switch h.Op {
	case "begin scoring":
		if w.open == nil {
			return answer, nil, errMessage
		}
		w.score, err = w.open(parts[0])
		return header{Op: "begun"}, nil, err
	case "score":
		added, err := w.score(ctx, "partition "+h.Name+".parquet", parts[0])
		return header{Op: "scored"}, [][]byte{added}, err
	case "begin":
		w.rows, w.folder, w.keeps = h.Rows, h.Folder, h.Keep
		if w.text = parts[0]; len(w.text) > 0 { // Examine has no schema
			if w.s, err = schema.Parse(w.text); err == nil && w.s.Person != nil {
				w.secret, err = readKey(h.Secret)
			}
		}
		return header{Op: "begun"}, nil, err
	case "code":
		opts := w.options()
		t, err := dataset.ReadParquet(ctx, w.s, opts, "partition "+h.Name+".parquet", parts[0])
		if err != nil {
			return answer, nil, err
		}
		return w.code(t, opts.Persons)
	case "file":
		opts := w.options()
		err := dataset.ReadParquetBlocks(ctx, w.s, opts, h.Name, parts[0], w.rows, func(_ int, t *dataset.Table) error {
			answer, data, err := w.code(t, opts.Persons)
			if err == nil {
				err = first(answer, data)
			}
			return err
		})
		return header{Op: "end"}, nil, err
	case "piece":
		p, err := w.hold(ctx, h.Piece, true)
		if err != nil {
			return answer, nil, err
		}
		answer = header{Op: "coded", Rows: p.rows, ID: p.id}
		if w.secret != nil {
			data, p.list = [][]byte{p.list}, nil
		}
		return answer, data, nil
	case "count":
		replies, err := countRows(parts[0])
		return header{Op: "counted"}, [][]byte{replies}, err
	case "settle":
		totals, counts, err := settleCounts(parts[0])
		return header{Op: "settled", Persons: counts}, [][]byte{totals}, err
	case "draw":
		if h.View == nil {
			return answer, nil, errMessage
		}
		drawn, lens, err := drawRows(h.View, parts[0], h.Places)
		return header{Op: "drawn", Lens: lens}, [][]byte{drawn}, err
	case "offer", "offer piece":
		return w.offer(ctx, &h, parts)
	}
	q, err := question.Decode(w.s, parts[0])
	if err != nil {
		return answer, nil, err
	}
	if h.Op == "ask piece" {
		return w.askPiece(ctx, &h, q, parts[1:])
	}
	block, err := blocks.Decode(parts[1], w.s, w.text)
	if err != nil {
		return answer, nil, err
	}
	rows, err := block.Table(q.ColumnsRead(0))
	if err != nil {
		return answer, nil, err
	}
	m, err := w.viewRows(h.View, block, rows, parts[2:])
	if err != nil {
		return answer, nil, err
	}
	sums, err := question.AnswerFrom(ctx, m, q)
	if err != nil {
		return answer, nil, err
	}
	return header{Op: "answer", ID: idText(block)}, [][]byte{sums.Encode()}, nil
}

// hold codes a piece, unless this worker has done so already: executors may take over each other's
// pieces, and each of an executor's processes has its own worker. A list of persons is returned once,
// and again if the rows are read again.
func (w *worker) hold(ctx context.Context, p *piece, list bool) (*heldPiece, error) {
	if held := w.pieces[p.Name]; held != nil && (!list || w.secret == nil || held.list != nil) {
		return held, nil
	}
	if w.store == nil {
		var err error
		if w.store, err = blocks.NewStore(w.s, w.text, w.folder, mostScores); err != nil {
			return nil, err
		}
		w.pieces = map[string]*heldPiece{}
	}
	held, ids, opts := &heldPiece{}, sha256.New(), w.options()
	var rowsOf memory.PersonCounts
	keep := func(_ int, t *dataset.Table) error {
		k := w.stored
		w.stored++
		t = w.keeps.Of(t)
		if err := w.store.Put(k, t); err != nil {
			return err
		}
		rowsOf.Add(t.Persons)
		held.blocks, held.rows = append(held.blocks, k), held.rows+t.Rows
		id := w.store.ID(k)
		ids.Write(id[:])
		return nil
	}
	for _, part := range p.Parts {
		if err := dataset.ReadParquetPart(ctx, w.s, opts, part, w.rows, keep); err != nil {
			return nil, err
		}
	}
	if w.secret != nil {
		held.list, held.places = listPersons(opts.Persons.ByNumber(), rowsOf)
		if !list {
			held.list = nil
		}
	}
	held.id = hex.EncodeToString(ids.Sum(nil))
	w.pieces[p.Name] = held
	return held, nil
}

func (w *worker) askPiece(ctx context.Context, h *header, q *question.Question, told [][]byte) (
	answer header, data [][]byte, err error) {
	held, err := w.hold(ctx, h.Piece, false)
	if err != nil {
		return answer, nil, err
	}
	if h.View != nil {
		if err := w.viewPiece(held, h, told[0]); err != nil {
			return answer, nil, err
		}
		sums, err := held.viewed.Ask(ctx, q)
		if err != nil {
			return answer, nil, err
		}
		return header{Op: "answer", ID: held.id}, [][]byte{sums.Encode()}, nil
	}
	var sum question.Adder
	for _, k := range held.blocks {
		part, err := w.store.AskBlock(ctx, k, q)
		if err == nil {
			err = sum.Add(part)
		}
		if err != nil {
			return answer, nil, err
		}
	}
	sums, err := sum.Sum()
	if err != nil {
		return answer, nil, err
	}
	return header{Op: "answer", ID: held.id}, [][]byte{sums.Encode()}, nil
}

// code makes a block, and the list of its persons, who are numbered by their indices there.
func (w *worker) code(t *dataset.Table, keys *dataset.PersonKeys) (answer header, data [][]byte, err error) {
	t = w.keeps.Of(t)
	if w.secret != nil {
		if t.Persons == nil {
			return answer, nil, fmt.Errorf("spark: the table lacks column %q, which identifies persons", w.s.Person.Column)
		}
		rows, _ := t.CountPersons()
		list, places := listPersons(keys.ByNumber(), rows)
		for i, number := range t.Persons {
			t.Persons[i] = places[number]
		}
		data = [][]byte{list}
	}
	b, err := blocks.Encode(t, w.text)
	if err != nil {
		return answer, nil, err
	}
	block, err := blocks.Decode(b, w.s, w.text)
	if err != nil {
		return answer, nil, err
	}
	return header{Op: "coded", Rows: t.Rows, ID: idText(block)}, append([][]byte{b}, data...), nil
}

func idText(b *blocks.Block) string {
	id := b.ID()
	return hex.EncodeToString(id[:])
}
