// SPDX-License-Identifier: Apache-2.0

package spark

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-dp/discreet/internal/table/engine"
	"github.com/discreet-dp/discreet/internal/table/engine/memory"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
)

// cutBlock is some of a table's rows, and what is known of their persons.
type cutBlock struct {
	first  int
	of     []uint32 // by row: places in the block's list
	list   []byte
	counts []byte // the replies about its persons
	lens   []int  // persons by bucket
}

func keyOf(person uint32) (key [16]byte) {
	// Two keys of three agree in their first or their last 8 bytes.
	binary.BigEndian.PutUint64(key[:], uint64(person/3)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(key[8:], uint64(person%3)<<60)
	return key
}

func cutRows(of []uint32, count int) (cut []*cutBlock) {
	for k := range count {
		b := &cutBlock{first: k * len(of) / count}
		numbers := map[uint32]uint32{}
		keys, rows := [][16]byte{{}}, memory.PersonCounts{}
		for _, person := range of[b.first : (k+1)*len(of)/count] {
			number, known := numbers[person]
			if !known && person != dataset.Nobody {
				number = uint32(len(keys))
				numbers[person] = number
				keys = append(keys, keyOf(person))
			}
			b.of = append(b.of, number)
		}
		rows.Add(b.of)
		var places []uint32
		b.list, places = listPersons(keys, rows)
		for i, number := range b.of {
			b.of[i] = places[number]
		}
		cut = append(cut, b)
	}
	return cut
}

// bucketOf is the bucket of a key, by the rule of the session's list_sender.
func bucketOf(key []byte, buckets int) int {
	for b := buckets - 1; b > 0; b-- {
		least := (^uint64(0)/uint64(buckets) + 1) * uint64(b)
		if binary.BigEndian.Uint64(key) >= least {
			return b
		}
	}
	return 0
}

// exchange answers the parts of all blocks bucket by bucket, in any order of blocks.
func exchange(t *testing.T, parts [][][]byte, answer func(list []byte, blocks []int) ([]byte, []int)) (out [][]byte) {
	t.Helper()
	out = make([][]byte, len(parts))
	for bucket := range parts[0] {
		var blocks []int
		var list []byte
		for _, k := range rand.Perm(len(parts)) {
			if len(parts[k][bucket]) > 0 {
				blocks, list = append(blocks, k), append(list, parts[k][bucket]...)
			}
		}
		data, lens := answer(list, blocks)
		for i, k := range blocks {
			out[k], data = append(out[k], data[:lens[i]]...), data[lens[i]:]
		}
		if len(data) > 0 {
			t.Fatalf("%d bytes belong to nobody", len(data))
		}
	}
	return out
}

// Whatever blocks rows lie in, each block is told how many rows its persons have in all, everyone
// is counted once, and the rows that are drawn are those of memory.
func TestShuffledPersonsAreThoseOfMemory(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct{ rows, persons, blocks, buckets int }{
		{3000, 400, 7, 4}, {3000, 1, 5, 3}, {50, 2000, 60, 1}, {2000, 2000, 1, 9}, {0, 1, 2, 2},
	} {
		of := make([]uint32, c.rows)
		for i := range of {
			of[i] = uint32(random.IntN(c.persons + 1))
		}
		var want memory.PersonCounts
		want.Add(of)
		cut := cutRows(of, c.blocks)
		var lists [][][]byte
		for _, b := range cut {
			parts := make([][]byte, c.buckets)
			b.lens = make([]int, c.buckets)
			for at := 0; at < len(b.list); at += recordBytes {
				bucket := bucketOf(b.list[at:], c.buckets)
				parts[bucket] = append(parts[bucket], b.list[at:at+recordBytes]...)
				b.lens[bucket]++
			}
			if !bytes.Equal(slices.Concat(parts...), b.list) {
				t.Fatal("buckets are not parts of a list")
			}
			lists = append(lists, parts)
		}
		replies := exchange(t, lists, func(list []byte, blocks []int) (data []byte, lens []int) {
			data, err := countRows(list)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range blocks {
				lens = append(lens, len(lists[k][bucketOf(list, c.buckets)])/recordBytes*replyBytes)
				list = list[len(lists[k][bucketOf(list, c.buckets)]):]
			}
			return data, lens
		})
		counted := map[uint32]int{}
		for k, b := range cut {
			b.counts = replies[k]
			totals, persons, err := settleCounts(replies[k])
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range persons {
				counted[p.Rows] += p.Persons
			}
			all, err := readCounts(totals)
			if err != nil {
				t.Fatal(err)
			}
			for i, place := range b.of {
				person := of[b.first+i]
				if (place == 0) != (person == dataset.Nobody) || place > 0 && all[place] != want[person] {
					t.Fatalf("block %d, row %d: %d rows in all, want %d", k, i, all[place], want[person])
				}
			}
		}
		p := &persons{counts: counted}
		if p.Count() != want.Count() {
			t.Errorf("%+v: %d persons, want %d", c, p.Count(), want.Count())
		}
		for _, v := range []view{{Most: 1}, {Most: 1, Fill: true}, {Most: 5, Fill: true}, {Most: 3}} {
			lots := memory.NewLots(random.Uint64N)
			d := memory.NewDrawing(v.Most, v.Fill)
			d.Add(&lots, 0, of)
			var offers [][][]byte
			for _, b := range cut {
				d := memory.NewDrawing(v.Most, false)
				d.Add(&lots, b.first, b.of)
				data, lens, err := offerRows(d, len(b.counts)/replyBytes, b.counts, b.lens)
				if err != nil {
					t.Fatal(err)
				}
				var parts [][]byte
				for _, n := range lens {
					parts, data = append(parts, data[:n]), data[n:]
				}
				offers = append(offers, parts)
			}
			drawn := exchange(t, offers, func(list []byte, blocks []int) ([]byte, []int) {
				var firsts []int
				for _, k := range blocks {
					firsts = append(firsts, cut[k].first)
				}
				data, lens, err := drawRows(&v, list, firsts)
				if err != nil {
					t.Fatal(err)
				}
				return data, lens
			})
			var got []int
			for k, b := range cut {
				rows, err := readDrawn(drawn[k], len(b.of))
				if err != nil {
					t.Fatal(err)
				}
				for _, row := range rows {
					got = append(got, b.first+row)
				}
			}
			if !slices.Equal(got, d.Rows()) {
				t.Errorf("%+v, %+v: other rows are drawn than in memory", c, v)
			}
		}
	}
}

// However lists were damaged on their way, anyone who reads them refuses them or says something about
// each, and nothing of another length.
func FuzzLists(f *testing.F) {
	f.Add([]byte{1, 2}, 1, 0)
	f.Add(cutRows([]uint32{1, 2, 2, 0, 5}, 1)[0].list, 3, 7)
	f.Add(make([]byte, 2*offerBytes), 2, 1)
	f.Fuzz(func(t *testing.T, b []byte, most, first int) {
		if replies, err := countRows(b); err == nil && len(replies)*recordBytes != len(b)*replyBytes {
			t.Errorf("%d bytes about %d of lists", len(replies), len(b))
		}
		if totals, _, err := settleCounts(b); err == nil {
			if counts, err := readCounts(totals); err != nil || len(counts) != 1+len(b)/replyBytes {
				t.Errorf("%d counts of %d persons, %v", len(counts), len(b)/replyBytes, err)
			}
		}
		if counts, err := readCounts(b); err == nil {
			for _, w := range counts.Weights(1) {
				if w > engine.WeightOne {
					t.Errorf("a row weighs %d units", w)
				}
			}
		}
		if rows, err := readDrawn(b, first); err == nil && len(rows) > 0 && slices.Max(rows) >= first {
			t.Errorf("row %d of %d is drawn", slices.Max(rows), first)
		}
		if most > 64 {
			return
		}
		data, lens, err := drawRows(&view{Most: most, Fill: first&1 > 0}, b, []int{first})
		if err == nil && (len(lens) != 1 || len(data) != lens[0]) {
			t.Errorf("%d bytes are drawn, and said to be %v", len(data), lens)
		}
		d := memory.NewDrawing(1, false)
		d.Offer(1, memory.Drawn{Row: 1})
		if offers, lens, err := offerRows(d, 1, b, []int{0, 1}); err == nil && (len(lens) != 2 || len(offers) != lens[1]) {
			t.Errorf("%d bytes are offered, and said to be %v", len(offers), lens)
		}
	})
}
