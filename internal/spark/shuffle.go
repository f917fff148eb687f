// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// A person's number of rows depends on all blocks. Each block lists its persons in the order of their
// keys, which are hashes of identifiers with the session's secret. The lists are divided into buckets
// of neighbouring keys. The task for a bucket receives this bucket of every list, and replies to each
// with its persons' total numbers of rows. Numbers in lists are little-endian.
const (
	recordBytes = 16 + 4    // for a person in a block: the key, and the number of rows there
	replyBytes  = 4 + 4     // the total number of rows, and the person's index in the bucket
	offerBytes  = 4 + 8 + 8 // for a row that may be drawn: the person's index, the lot, the row's position
	drawnBytes  = 4         // for a drawn row: its position in the block
)

// countedHere marks the index in one of the replies about a person, so that every person is counted in
// exactly one block.
const countedHere = 1 << 31

// keyed is an item with a person's key.
type keyed struct {
	high, low uint64
	at        int
}

func newKeyed(key []byte, at int) keyed {
	return keyed{binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:]), at}
}

func sortKeyed(list []keyed) {
	slices.SortFunc(list, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(a.high, b.high), cmp.Compare(a.low, b.low), cmp.Compare(a.at, b.at))
	})
}

// listPersons lists the persons who have rows, given the number of rows by the person's number, and
// returns the index in the list, from 1, of each person.
func listPersons(keys [][16]byte, rows []uint32) (list []byte, places []uint32) {
	var order []keyed
	for number, n := range rows {
		if number != dataset.Nobody && n > 0 {
			order = append(order, newKeyed(keys[number][:], number))
		}
	}
	sortKeyed(order)
	list, places = make([]byte, 0, recordBytes*len(order)), make([]uint32, max(1, len(rows)))
	for i, k := range order {
		places[k.at] = uint32(i + 1)
		list = append(list, keys[k.at][:]...)
		list = binary.LittleEndian.AppendUint32(list, rows[k.at])
	}
	return list, places
}

// countRows answers the parts of all lists in a bucket, one after another.
func countRows(lists []byte) ([]byte, error) {
	if len(lists)%recordBytes != 0 || len(lists)/recordBytes >= countedHere {
		return nil, errMessage
	}
	order := make([]keyed, len(lists)/recordBytes)
	for i := range order {
		order[i] = newKeyed(lists[recordBytes*i:], i)
	}
	sortKeyed(order)
	replies, place := make([]byte, replyBytes*len(order)), uint32(0)
	for from := 0; from < len(order); place++ {
		to, total := from, uint64(0)
		for ; to < len(order) && order[to].high == order[from].high && order[to].low == order[from].low; to++ {
			total += uint64(binary.LittleEndian.Uint32(lists[recordBytes*order[to].at+16:]))
		}
		if total > math.MaxUint32 {
			return nil, errMessage
		}
		for i := from; i < to; i++ {
			reply, mark := replies[replyBytes*order[i].at:], uint32(0)
			if i == from {
				mark = countedHere
			}
			binary.LittleEndian.PutUint32(reply, uint32(total))
			binary.LittleEndian.PutUint32(reply[4:], place|mark)
		}
		from = to
	}
	return replies, nil
}

// personCount is the number of persons with a given number of rows.
type personCount struct {
	Rows    uint32 `json:"rows"`
	Persons int    `json:"persons"`
}

// settleCounts returns what a block stores of the replies about its persons: each person's total
// number of rows, in a compact form. It also counts, by number of rows, the persons who are counted in
// this block.
func settleCounts(replies []byte) (totals []byte, counts []personCount, err error) {
	if len(replies)%replyBytes != 0 {
		return nil, nil, errMessage
	}
	most, persons := uint32(0), map[uint32]int{}
	for at := 0; at < len(replies); at += replyBytes {
		rows := binary.LittleEndian.Uint32(replies[at:])
		most = max(most, rows)
		if binary.LittleEndian.Uint32(replies[at+4:])&countedHere != 0 {
			persons[rows]++
		}
	}
	width := byte(4)
	switch {
	case most <= math.MaxUint8:
		width = 1
	case most <= math.MaxUint16:
		width = 2
	}
	totals = append(make([]byte, 0, 1+len(replies)/replyBytes*int(width)), width)
	for at := 0; at < len(replies); at += replyBytes {
		totals = append(totals, replies[at:at+int(width)]...)
	}
	for rows, n := range persons {
		counts = append(counts, personCount{rows, n})
	}
	slices.SortFunc(counts, func(a, b personCount) int { return cmp.Compare(a.Rows, b.Rows) })
	return totals, counts, nil
}

// readCounts returns the total number of rows of each person of a block, by the index in its list,
// from 1.
func readCounts(totals []byte) (memory.PersonCounts, error) {
	if len(totals) == 0 || totals[0] != 1 && totals[0] != 2 && totals[0] != 4 || (len(totals)-1)%int(totals[0]) != 0 {
		return nil, errMessage
	}
	width := int(totals[0])
	out := make(memory.PersonCounts, 1+(len(totals)-1)/width)
	for i := range out[1:] {
		var wide [4]byte
		copy(wide[:], totals[1+width*i:][:width])
		out[i+1] = binary.LittleEndian.Uint32(wide[:])
	}
	return out, nil
}

// offerRows lists the rows drawn in a block, so that the best ones over all blocks can be found.
// replies are those about its persons, bucket after bucket; d drew by the indices of persons in the
// block's list. It returns the number of bytes per bucket.
func offerRows(d *memory.Drawing, persons int, replies []byte, buckets []int) (offers []byte, lens []int, err error) {
	if len(replies) != replyBytes*persons {
		return nil, nil, errMessage
	}
	var rows []memory.Drawn
	place := 0
	for _, n := range buckets {
		if n < 0 || n > persons-place {
			return nil, nil, errMessage
		}
		before := len(offers)
		for ; n > 0; n-- {
			whose := binary.LittleEndian.Uint32(replies[replyBytes*place+4:]) &^ countedHere
			place++
			rows = d.Of(uint32(place), rows[:0])
			for _, row := range rows {
				offers = binary.LittleEndian.AppendUint32(offers, whose)
				offers = binary.LittleEndian.AppendUint64(offers, row.Lot)
				offers = binary.LittleEndian.AppendUint64(offers, uint64(row.Row))
			}
		}
		lens = append(lens, len(offers)-before)
	}
	if place != persons {
		return nil, nil, errMessage
	}
	return offers, lens, nil
}

// drawRows draws among the rows that blocks offer for the persons of a bucket. firsts are the
// positions of the blocks' first rows. It answers each block with the positions of its drawn rows, and
// returns the length of each answer.
func drawRows(v *view, offers []byte, firsts []int) (drawn []byte, lens []int, err error) {
	if len(offers)%offerBytes != 0 || v.Most < 1 {
		return nil, nil, errMessage
	}
	d := memory.NewDrawing(v.Most, v.Fill)
	for at := 0; at < len(offers); at += offerBytes {
		whose := binary.LittleEndian.Uint32(offers[at:])
		row := binary.LittleEndian.Uint64(offers[at+12:])
		if int(whose) >= len(offers)/offerBytes || row > math.MaxInt64 { // everyone offers a row
			return nil, nil, errMessage
		}
		d.Offer(whose, memory.Drawn{Lot: binary.LittleEndian.Uint64(offers[at+4:]), Row: int(row)})
	}
	rows := d.Rows()
	order := make([]int, len(firsts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(firsts[a], firsts[b]) })
	of := make([][]int, len(firsts)) // ascending blocks take what lies before the next one
	for k, at := range order {
		n := len(rows)
		if k+1 < len(order) {
			n, _ = slices.BinarySearch(rows, firsts[order[k+1]])
		}
		of[at], rows = rows[:n], rows[n:]
	}
	for i, rows := range of {
		for _, row := range rows {
			if row < firsts[i] || row-firsts[i] > math.MaxUint32 {
				return nil, nil, errMessage
			}
			drawn = binary.LittleEndian.AppendUint32(drawn, uint32(row-firsts[i]))
		}
		lens = append(lens, drawnBytes*len(rows))
	}
	if len(rows) > 0 && len(firsts) == 0 {
		return nil, nil, errMessage
	}
	return drawn, lens, nil
}

// readDrawn returns the drawn rows of a block, ascending.
func readDrawn(drawn []byte, rows int) ([]int, error) {
	if len(drawn)%drawnBytes != 0 {
		return nil, errMessage
	}
	out := make([]int, len(drawn)/drawnBytes)
	for i := range out {
		out[i] = int(binary.LittleEndian.Uint32(drawn[drawnBytes*i:]))
	}
	slices.Sort(out)
	if len(out) > 0 && out[len(out)-1] >= rows {
		return nil, errMessage
	}
	return out, nil
}
