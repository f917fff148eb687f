// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"math"
	"slices"
	"testing"
)

// A part of a message arrives whole on either side of the size from which room is made as it
// arrives; one that is cut short, or longer than may be, is refused.
func TestPartsReachTheirBounds(t *testing.T) {
	for _, n := range []int{0, 1, 255, 256, 65_535, 65_536, mostAtOnce - 1, mostAtOnce, mostAtOnce + 1, 3*mostAtOnce + 1} {
		part := make([]byte, n)
		for i := range part {
			part[i] = byte(i * 31)
		}
		sent := append(binary.BigEndian.AppendUint64(nil, uint64(n)), part...)
		if got, err := receivePart(bytes.NewReader(append(sent, 7))); err != nil || !bytes.Equal(got, part) {
			t.Errorf("a part of %d bytes: another, %v", n, err)
		}
		if n == 0 {
			continue
		}
		if _, err := receivePart(bytes.NewReader(sent[:len(sent)-1])); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err,
			io.EOF) {
			t.Errorf("a part of %d bytes, cut short: %v", n, err)
		}
	}
	for n, want := range map[uint64]bool{maxPart - 1: true, maxPart: true, maxPart + 1: false, math.MaxUint64: false} {
		_, err := receivePart(bytes.NewReader(binary.BigEndian.AppendUint64(nil, n)))
		if looked := errors.Is(err, io.ErrUnexpectedEOF); looked != want || errors.Is(err, errMessage) == want {
			t.Errorf("a part of %d bytes: %v", n, err)
		}
	}
	for n := range 2 * keyBytes {
		if key, err := readKey(hex.EncodeToString(bytes.Repeat([]byte{9}, n))); (err == nil) != (n == keyBytes) ||
			err == nil && key[keyBytes-1] != 9 {
			t.Errorf("a key of %d bytes: %v", n, err)
		}
	}
}

// A table is cut into as many pieces as tasks run at once, while a piece has enough rows, and into a
// few times as many where it would have too many.
func TestPiecesReachTheirBounds(t *testing.T) {
	const least, tasks = 1000, 8
	for rows, want := range map[int]int{1: 1, least: 1, 2*least - 1: 1, 2 * least: 2, tasks*least - 1: tasks - 1,
		tasks * least: tasks, 9 * tasks * least: tasks, tasks*mostPieceRows - 1: tasks, tasks * mostPieceRows: tasks,
		tasks*mostPieceRows + tasks: 2 * tasks, 2 * tasks * mostPieceRows: 2 * tasks,
		2*tasks*mostPieceRows + tasks: 3 * tasks} {
		if got := countPieces(rows, tasks, least); got != want {
			t.Errorf("%d rows are cut into %d pieces, want %d", rows, got, want)
		}
	}
	for _, rows := range []int{mostPieceRows, mostPieceRows + 1, 3*mostPieceRows + 1, 1 << 40} {
		if n := countPieces(rows, 1, least); (rows+n-1)/n > mostPieceRows {
			t.Errorf("a piece of %d rows, one of %d, has too many", rows, n)
		}
	}
}

// Every person of so many lists is counted once, with all its rows, up to as many rows as a reply can
// hold; more are refused.
func TestRepliesOfEveryNumberOfPersons(t *testing.T) {
	record := func(person, rows uint32) []byte {
		key := keyOf(person)
		return binary.LittleEndian.AppendUint32(key[:], rows)
	}
	for _, n := range []int{0, 1, 2, 11, 12, 13, 255, 256, 257, 4999, 5000, 5001, 65_535, 65_536, 65_537} {
		var lists []byte
		for i := range n { // half of them twice
			lists = append(lists, record(uint32(i*2/3), uint32(1+i%5))...)
		}
		replies, err := countRows(lists)
		if err != nil || len(replies) != replyBytes*n {
			t.Fatalf("%d records: %d bytes, %v", n, len(replies), err)
		}
		want, counted := map[uint32]uint32{}, map[uint32]int{}
		for i := range n {
			want[uint32(i*2/3)] += uint32(1 + i%5)
		}
		for i := range n {
			r := replies[replyBytes*i:]
			if got := binary.LittleEndian.Uint32(r); got != want[uint32(i*2/3)] {
				t.Fatalf("%d records: person %d has %d rows, want %d", n, i*2/3, got, want[uint32(i*2/3)])
			}
			if place := binary.LittleEndian.Uint32(r[4:]); place&countedHere != 0 {
				counted[place&^countedHere]++
			}
		}
		for place, times := range counted {
			if times != 1 {
				t.Errorf("%d records: place %d is counted %d times", n, place, times)
			}
		}
		if len(counted) != len(want) {
			t.Errorf("%d records: %d persons are counted, want %d", n, len(counted), len(want))
		}
	}
	for rows, want := range map[[2]uint32]bool{{math.MaxUint32, 0}: true, {math.MaxUint32 - 1, 1}: true,
		{math.MaxUint32, 1}: false, {1 << 31, 1 << 31}: false} {
		if _, err := countRows(append(record(1, rows[0]), record(1, rows[1])...)); (err == nil) != want {
			t.Errorf("a person of %d rows: %v", rows, err)
		}
	}
	// Totals take as few bytes as the largest, and come back.
	for _, most := range []uint32{0, 1, 254, 255, 256, 65_534, 65_535, 65_536, 1<<24 - 1, 1 << 24, math.MaxUint32} {
		var replies []byte
		for _, rows := range []uint32{min(3, most), most, 0, min(255, most), most} {
			replies = binary.LittleEndian.AppendUint32(replies, rows)
			replies = binary.LittleEndian.AppendUint32(replies, countedHere)
		}
		totals, counts, err := settleCounts(replies)
		if err != nil {
			t.Fatal(err)
		}
		back, err := readCounts(totals)
		if err != nil || !slices.Equal(back[1:], []uint32{min(3, most), most, 0, min(255, most), most}) {
			t.Errorf("totals up to %d come back as %d, %v", most, back, err)
		}
		persons := 0
		for _, c := range counts {
			persons += c.Persons
		}
		if persons != 5 {
			t.Errorf("totals up to %d are those of %d persons", most, persons)
		}
	}
}
