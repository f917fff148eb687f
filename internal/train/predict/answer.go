// SPDX-License-Identifier: Apache-2.0

package predict

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/discreet-dp/discreet/internal/model"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/coding"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// greeting is the first frame that Answer writes.
type greeting struct {
	Columns  []string `json:"columns"` // of a row
	Classes  []string `json:"classes"`
	Positive int      `json:"positive"` // the class that scores refer to, if there are two
	Width    int      `json:"width"`    // scores per row
	// Threshold is the score from which on the positive class is predicted, if there are two.
	Threshold float64 `json:"threshold"`
}

// Answer answers requests of a long-lived parent process until r ends. The greeting comes first: a length
// and JSON. A request is r, the length in eight bytes of a stream of columns, which dataset.Cells
// describes, and the stream, whose columns are the greeting's in any order. It is answered by + and the scores of its rows,
// width numbers each, and what is to be said of its cells: the number of numbers, the length of the text, the
// numbers of eight bytes, and the text, a list of coding.Undeclared in JSON, or nothing if there are none. A
// request l has the label alone, and is answered likewise by the index of the class that a training would
// take each label for. What cannot be answered gets - and a text that never repeats a cell: its length, and
// its bytes. Lengths and numbers of things take four bytes, the lowest first.
func Answer(m *model.Model, r io.Reader, w io.Writer) error {
	coder, err := coding.NewRowCoder(m.Schema)
	if err != nil {
		return err
	}
	a := &answerer{cells: make([]column.Cell, len(m.Schema.Columns))}
	if a.scorer, err = m.Bind(m.Schema); err != nil {
		return err
	}
	if a.few, err = m.RowPredictor(); err != nil {
		return err
	}
	if a.rows, err = dataset.NewCellReader(context.Background(), m.Schema, false); err != nil {
		return err
	}
	if a.labels, err = dataset.NewCellReader(context.Background(), m.Schema, true); err != nil {
		return err
	}
	hello, err := json.Marshal(greeting{Columns: coder.Names(), Classes: schema.Values(m.Schema.Label.Levels),
		Positive: m.Schema.Label.Positive, Width: m.Width(), Threshold: m.Threshold()})
	if err != nil {
		return err
	}
	in, out := bufio.NewReader(r), bufio.NewWriter(w)
	writeText(out, hello)
	for {
		if err := out.Flush(); err != nil { // it keeps the first one
			return err
		}
		var head [9]byte
		switch _, err := io.ReadFull(in, head[:]); err {
		case nil:
		case io.EOF:
			return nil
		case io.ErrUnexpectedEOF:
			return errors.New("predict-rows: a request must have a letter and eight bytes of length")
		default:
			return err
		}
		request := &io.LimitedReader{R: in, N: max(0, int64(binary.LittleEndian.Uint64(head[1:])))}
		numbers, counts, err := a.answer(head[0], request)
		if _, broken := io.Copy(io.Discard, request); broken != nil {
			return broken
		} else if request.N > 0 {
			return errors.New("predict-rows: a request must have the length that it states")
		}
		if err != nil {
			out.WriteByte('-')
			writeText(out, []byte(err.Error()))
			continue
		}
		out.WriteByte('+')
		out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), uint32(len(numbers))))
		out.Write(binary.LittleEndian.AppendUint32(out.AvailableBuffer(), uint32(len(counts))))
		for _, x := range numbers {
			out.Write(binary.LittleEndian.AppendUint64(out.AvailableBuffer(), math.Float64bits(x)))
		}
		out.Write(counts)
	}
}

func writeText(w *bufio.Writer, text []byte) {
	w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(text))))
	w.Write(text)
}

// answerer scores rows of a model.
type answerer struct {
	scorer       *model.Predictor
	few          *model.RowPredictor // faster for few rows
	cells        []column.Cell
	rows, labels *dataset.CellReader
}

// fewRows is the largest number of rows that are scored one by one.
const fewRows = 16

func (a *answerer) scoreRows(t *dataset.Table) ([]float64, error) {
	scores := make([]float64, t.Rows*a.few.Width())
	for i := range t.Rows {
		for j := range t.Cols {
			a.cells[j] = t.Cols[j].Cell(i)
		}
		if err := a.few.Scores(a.cells, scores[i*a.few.Width():][:a.few.Width()]); err != nil {
			return nil, err
		}
	}
	return scores, nil
}

func (a *answerer) answer(what byte, request io.Reader) (numbers []float64, counts []byte, err error) {
	switch what {
	case 'r':
		t, err := a.rows.Read(request)
		if err != nil {
			return nil, nil, err
		}
		if all := coding.FindUndeclared(t.Schema, t.Counts); len(all) > 0 {
			if counts, err = json.Marshal(all); err != nil {
				return nil, nil, err
			}
		}
		if t.Rows <= fewRows {
			numbers, err = a.scoreRows(t)
		} else {
			numbers, err = a.scorer.Scores(t.Cols, t.Rows)
		}
		return numbers, counts, err
	case 'l':
		t, err := a.labels.Read(request)
		if err != nil {
			return nil, nil, err
		}
		classes := make([]float64, t.Rows)
		for i, class := range t.Labels {
			classes[i] = float64(class)
		}
		return classes, nil, nil
	}
	return nil, nil, errors.New("predict-rows: a request must be r, of rows, or l, of labels")
}
