// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/rows"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// maxFrame bounds the size of a request, so that a length of four bytes cannot demand any amount of
// memory.
const maxFrame = 64 << 20

// greeting is the first frame that Answer writes.
type greeting struct {
	Columns  []string `json:"columns"` // of a row, in order
	Classes  []string `json:"classes"`
	Positive int      `json:"positive"` // the class that scores refer to, if there are two
	Width    int      `json:"width"`    // scores per row
}

// Answer answers requests of a long-lived parent process until r ends. A frame consists of the length
// of its text in four bytes, little-endian, and JSON. The first frame out is the greeting. Each
// request {"rows": [[cell, ...], ...]} has cells in the order of the greeting's columns: texts,
// numbers, booleans or null. It is answered by {"scores": [...]}, width numbers per row, or by
// {"error": "..."}, which never repeats a cell. A request {"labels": [cell, ...]} is answered by
// {"classes": [...]}: of each cell the index of the class that a training would take it for.
func Answer(m *model.Model, r io.Reader, w io.Writer) error {
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		return err
	}
	scorer, err := m.RowPredictor()
	if err != nil {
		return err
	}
	hello := greeting{Columns: coder.Names(), Classes: schema.Values(m.Schema.Label.Levels),
		Positive: m.Schema.Label.Positive, Width: scorer.Width()}
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	label, err := coding.NewLabel(&m.Schema.Label, &m.Schema.Dialect)
	if err != nil {
		return err
	}
	a := &answerer{coder, scorer, make([]column.Cell, len(m.Schema.Columns)), len(hello.Columns), label}
	if err := writeFrame(out, hello); err != nil {
		return err
	}
	for {
		request, err := readFrame(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		reply, err := a.answerRequest(request)
		if err != nil {
			reply = map[string]string{"error": err.Error()}
		}
		if err := writeFrame(out, reply); err != nil {
			return err
		}
	}
}

// readFrame reads one frame; it returns io.EOF at the end.
func readFrame(r *bufio.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("predict-rows: a frame must have four bytes of length")
		}
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxFrame {
		return nil, fmt.Errorf("predict-rows: a frame must have at most %d bytes (got %d)", maxFrame, n)
	}
	frame, err := io.ReadAll(io.LimitReader(r, int64(n))) // memory only for what is there
	if err == nil && len(frame) < int(n) {
		err = errors.New("predict-rows: a frame must have the length that it states")
	}
	return frame, err
}

func writeFrame(w *bufio.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(text)))
	w.Write(head[:]) // a bufio.Writer keeps its first error for Flush
	w.Write(text)
	return w.Flush()
}

// answerer scores rows one by one.
type answerer struct {
	coder  *coding.RowCoder
	scorer *model.RowPredictor
	cells  []column.Cell
	width  int // cells per row
	label  *coding.Coder
}

func (a *answerer) answerRequest(text []byte) (any, error) {
	var request struct {
		Rows   [][]any `json:"rows"`
		Labels []any   `json:"labels"`
	}
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	err := in.Decode(&request)
	if _, end := in.Token(); err != nil || end != io.EOF || (request.Rows == nil) == (request.Labels == nil) {
		return nil, errors.New(`predict-rows: a request must be {"rows": [[cell, ...], ...]} or {"labels": [cell, ...]}`) // err may quote it
	}
	if request.Labels != nil {
		classes, err := a.readLabels(request.Labels)
		return map[string][]int{"classes": classes}, err
	}
	scores, err := a.scoreRows(request.Rows)
	return map[string][]float64{"scores": scores}, err
}

// readLabels returns the classes of labels, by the rules of a training.
func (a *answerer) readLabels(labels []any) ([]int, error) {
	classes := make([]int, len(labels))
	for i, v := range labels {
		cell, err := cellOf(v)
		if err != nil {
			return nil, fmt.Errorf("row %d: %w", i, err)
		}
		class, fate := a.label.ReadCell(cell)
		if fate.Refused() {
			return nil, fmt.Errorf("row %d: label %q %s", i, a.label.Name, a.label.Want)
		}
		classes[i] = int(class.Code)
	}
	return classes, nil
}

func (a *answerer) scoreRows(rows [][]any) ([]float64, error) {
	k := a.scorer.Width()
	scores := make([]float64, len(rows)*k)
	for i, row := range rows {
		if len(row) != a.width {
			return nil, fmt.Errorf("predict-rows: row %d must have %d cells (got %d)", i, a.width, len(row))
		}
		for j, cell := range row {
			c, err := cellOf(cell)
			if err == nil {
				_, err = a.coder.Code(j, c, a.cells)
			}
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
		}
		a.coder.Derive(a.cells)
		if err := a.scorer.Scores(a.cells, scores[i*k:][:k]); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

func cellOf(v any) (coding.Cell, error) {
	cell, ok := rows.CellOf(v)
	if !ok {
		return cell, errors.New("predict-rows: a cell must be a text, a number, a truth value or null")
	}
	return cell, nil
}
