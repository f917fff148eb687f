// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/discreet-dp/discreet/internal/table/read/coding"
)

// Cells in place of a path reads rows that another program writes to standard input. No cell needs
// quotes, and none can end a row. The stream begins with the number of columns and their names, each a
// length in bytes followed by the bytes. Each row is a + and one cell per column. A full stop ends the
// rows. The number of columns and lengths are four bytes, little-endian. A cell is one byte, followed
// by what the byte announces:
//
//   - missing
//     t  a text: its length, and bytes of any value, of which the first MiB count
//     n  a number: eight bytes, an IEEE 754 double, the lowest first
//     0  false
//     1  true
const Cells = "cells:-"

func isStdin(path string) bool { return path == "-" || path == Cells }

// readCells appends the rows of a stream of cells. It does not depend on the content of cells: a
// stream that violates the format is refused for any content.
func (r *reader) readCells() error {
	in, err := r.openCells()
	if err != nil {
		return err
	}
	for {
		if more, err := in.nextRow(); err != nil || !more {
			return err
		}
		if r.rows >= r.opts.MaxRows {
			return &FaultError{File: memoryFile, Fault: fmt.Sprintf("must not go beyond %d rows", r.opts.MaxRows)}
		}
		r.rows++
		for _, c := range in.plan.coders {
			cell, err := readCell(in.in)
			if err != nil {
				return orBroken(err, errBrokenCells)
			}
			if c == nil {
				continue
			}
			code, fate := c.code(c.ReadCell(cell))
			if fate.Refused() {
				fault := &FaultError{File: memoryFile, Line: r.rows, Column: c.Name, Fault: c.Want}
				if err := r.faults.addFault(fault); err != nil {
					return err
				}
			}
			c.keepCode(code, fate)
		}
		if err := r.endFullBlock(); err != nil {
			return err
		}
	}
}

func readCellNames(in *bufio.Reader) (names []string, err error) {
	n, err := readLength(in)
	for range n { // names are made for what is there
		if err != nil {
			break
		}
		var name string
		name, err = readCellText(in)
		names = append(names, name)
	}
	return names, err
}

var errNoCell = errors.New("dataset: no cell")

// orBroken returns broken if the stream ends too early or violates the format, and otherwise the error
// of the source.
func orBroken(err error, broken *FaultError) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF || err == errNoCell {
		return broken
	}
	return err
}

func readCell(in *bufio.Reader) (cell coding.Cell, err error) {
	kind, err := in.ReadByte()
	if err != nil {
		return cell, err
	}
	switch kind {
	case '-':
	case '0', '1':
		cell = coding.TruthCell(kind == '1')
	case 'n':
		var b [8]byte
		_, err = io.ReadFull(in, b[:])
		cell = coding.NumberCell(math.Float64frombits(binary.LittleEndian.Uint64(b[:])))
	case 't':
		var text string
		text, err = readCellText(in)
		cell = coding.TextCell(text)
	default:
		err = errNoCell
	}
	return cell, err
}

// cellRows are the rows of a stream of cells.
type cellRows struct {
	in    *bufio.Reader
	names []string
	plan  *layout
}

var errBrokenCells = &FaultError{File: memoryFile, Fault: "must be cells as the format has them, to their end"}

// openCells begins to read standard input as a stream of cells.
func (r *reader) openCells() (c *cellRows, err error) {
	c = &cellRows{in: bufio.NewReaderSize(&watchingReader{r.ctx, r.opts.Stdin}, 256<<10)}
	if c.names, err = readCellNames(c.in); err != nil {
		return nil, orBroken(err, errBrokenCells)
	}
	c.plan, err = r.layoutByName(memoryFile, 0, c.names)
	return c, err
}

// nextRow reads whether another row follows.
func (c *cellRows) nextRow() (more bool, err error) {
	switch sign, err := c.in.ReadByte(); {
	case err != nil:
		return false, orBroken(err, errBrokenCells)
	case sign != '.' && sign != '+':
		return false, errBrokenCells
	default:
		return sign == '+', nil
	}
}

// readCellText reads a length and a text, and keeps the first maxField bytes. It allocates memory only
// for bytes that exist.
func readCellText(in *bufio.Reader) (string, error) {
	n, err := readLength(in)
	if err != nil {
		return "", err
	}
	if n <= in.Size() {
		text, err := in.Peek(n)
		out := string(text)
		in.Discard(len(text))
		return out, err
	}
	text, err := io.ReadAll(io.LimitReader(in, int64(min(n, maxField))))
	if err == nil {
		_, err = io.CopyN(io.Discard, in, int64(n-len(text)))
	}
	return string(text), err
}

func readLength(in *bufio.Reader) (int, error) {
	var b [4]byte
	_, err := io.ReadFull(in, b[:])
	return int(binary.LittleEndian.Uint32(b[:])), err
}
