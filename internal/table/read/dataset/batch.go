// SPDX-License-Identifier: Apache-2.0

package dataset

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// rowBatch holds the cells of some rows of CSV text, and what was wrong between them.
type rowBatch struct {
	cells  []span // width of each row
	width  int
	lines  []int  // on which the rows begin
	buf    []byte // holds the cells that are their own text; nil while it receives rows
	text   []byte // holds the other cells
	faults []rowFault
	end    error  // why it is the last batch; nil if it is not
	spare  []byte // a buffer to go on with; may be nil
}

// span is the place of a cell of a batch: bytes from..to-1 of buf and of text behind it.
type span struct{ from, to int }

// rowFault is a fault behind so many rows.
type rowFault struct {
	rows  int
	fault *FaultError
}

// clear removes everything but memory for other rows.
func (b *rowBatch) clear() {
	spare, text := b.spare, b.text[:0]
	if b.buf != nil {
		spare = b.buf
	}
	if cap(text) > 2*maxText {
		text = nil
	}
	*b = rowBatch{cells: b.cells[:0], lines: b.lines[:0], text: text, spare: spare}
}

// findCell returns the cell at a place.
func findCell(buf, text []byte, at span) []byte {
	if at.from >= len(buf) {
		return text[at.from-len(buf) : at.to-len(buf)]
	}
	return buf[at.from:at.to]
}

// splitPlain splits the next record as splitRecord does, and copies no cell without need. It reports
// false and does nothing if the buffer does not hold the whole record, or a cell is longer than what is stored
// of it, or text stands behind a closing quote.
func (rs *records) splitPlain() bool {
	b := rs.batch
	if b.buf != nil {
		return false
	}
	cells, text := len(b.cells), len(b.text)
	if !rs.takePlain() {
		b.cells, b.text = b.cells[:cells], b.text[:text]
		return false
	}
	return true
}

func (rs *records) takePlain() bool {
	b, text := rs.batch, rs.buf[:len(rs.buf)+slack]
	most, room := rs.most()
	delimiter, quote := byte(rs.d.Delimiter), byte(rs.d.Quote)
	at, block, stops := rs.r, rs.r-64, uint64(0)
	if rs.scanned == rs.r {
		block, stops = rs.block, rs.stops
	}
	for count := 1; ; count++ {
		// 1.1
		for rs.d.Trim && at < rs.w && (text[at] == ' ' || text[at] == '\t') && text[at] != delimiter {
			at++
		}
		if at >= rs.w {
			return false
		}
		cell, bare := span{at, 0}, quote == 0 || text[at] != quote
		if bare {
			for stops == 0 {
				if block += 64; block >= rs.w {
					return false
				}
				stops = findStops(text[block:], delimiter)
			}
			at = block + bits.TrailingZeros64(stops)
			stops &= stops - 1
			cell.to = at
		} else {
			if cell, at = rs.takePlainQuoted(at + 1); at < 0 {
				return false
			}
			block, stops = at-63, 0
		}
		if at >= rs.w {
			return false
		}
		more := text[at] != '\n'
		if !more && bare && cell.to > cell.from && text[cell.to-1] == '\r' {
			cell.to--
		}
		if cell.to-cell.from > room {
			return false
		}
		if most == 0 || count <= most {
			b.cells = append(b.cells, cell)
		}
		if at++; !more {
			rs.r, rs.count, rs.broken = at, count, false
			rs.scanned, rs.block, rs.stops = at, block, stops
			rs.next++
			return true
		}
	}
}

// takePlainQuoted takes a cell whose text begins at from, behind its quote. It returns where the delimiter or the line
// feed after it is; -1 if the cell is not whole or not plain.
func (rs *records) takePlainQuoted(from int) (cell span, stop int) {
	b, text, quote := rs.batch, rs.buf[:rs.w], byte(rs.d.Quote)
	cell.from = from
	for copied := -1; ; {
		i := bytes.IndexByte(text[from:], quote)
		if i < 0 || from+i+1 >= len(text) {
			return cell, -1
		}
		cell.to, stop = from+i, from+i+1
		if text[stop] == quote {
			if copied < 0 {
				copied = len(b.text)
			}
			b.text = append(b.text, text[from:stop]...)
			from = stop + 1
			continue
		}
		if copied >= 0 {
			b.text = append(b.text, text[from:cell.to]...)
			cell = span{len(rs.buf) + copied, len(rs.buf) + len(b.text)}
		}
		if text[stop] == '\r' && stop+1 < len(text) && text[stop+1] == '\n' {
			return cell, stop + 1
		}
		if text[stop] != '\n' && text[stop] != byte(rs.d.Delimiter) {
			return cell, -1
		}
		return cell, stop
	}
}

// findStops returns which of the first 64 bytes of a text are the delimiter or a line feed, as bits.
func findStops(text []byte, delimiter byte) (stops uint64) {
	const ones, low = 0x0101010101010101, 0x7f7f7f7f7f7f7f7f
	text = text[:64]
	for i := 0; i < 64; i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		a, b := word^ones*uint64(delimiter), word^ones*'\n'
		found := ^((a&low+low|a)&(b&low+low|b) | low) // the highest bit of each byte
		stops |= found >> 7 * 0x0102040810204080 >> 56 << i
	}
	return stops
}
