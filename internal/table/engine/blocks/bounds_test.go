// SPDX-License-Identifier: Apache-2.0

package blocks

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/discreet-dp/discreet/internal/check/testkit/censustest"
	"github.com/discreet-dp/discreet/internal/table/column"
	"github.com/discreet-dp/discreet/internal/table/read/dataset"
	"github.com/discreet-dp/discreet/internal/table/schema"
)

// tableOf is a table of so many rows and a number with so many values.
func tableOf(rows, values int) *dataset.Table {
	base := censustest.Table(3, min(rows, 997))
	at := make([]int, rows)
	for i := range at {
		at[i] = i % base.Rows
	}
	tab := base.Subset(at)
	age := &tab.Cols[0]
	codes := make([]uint32, rows)
	for i := range codes {
		codes[i] = uint32((i * 7919) % values)
	}
	age.Codes, age.Values = column.Narrow(codes, values), make([]float64, values)
	for k := range age.Values {
		age.Values[k] = float64(k) / 7
	}
	tab.Forget()
	return tab
}

// On either side of every width of a code and of many numbers of rows a table comes back as it was,
// persons and marks included, by itself and out of a store of many blocks.
func TestBlocksOfEverySize(t *testing.T) {
	text := []byte("schema")
	for _, size := range [][2]int{{1, 1}, {2, 255}, {255, 255}, {256, 256}, {257, 257}, {4095, 256}, {4096, 257}, {4097, 65_535},
		{65_535, 65_536}, {65_536, 65_537}, {65_537, 65_535}, {200_001, 65_537}} {
		tab := tableOf(size[0], size[1])
		b, err := Encode(tab, text)
		if err != nil {
			t.Fatal(err)
		}
		block, err := Decode(b, tab.Schema, text)
		if err != nil {
			t.Fatal(err)
		}
		back, err := block.Table(readColumns(tab.Schema))
		if err != nil || !reflect.DeepEqual(back, tab) {
			t.Errorf("%d rows, %d values: another table, %v", size[0], size[1], err)
		}
	}
	for _, rows := range []int{8, 255, 256, 257, 65_535, 65_536, 65_537} {
		tab := personCensus(rows, max(1, rows/3))
		persons := map[uint32]bool{}
		for _, p := range tab.Persons {
			persons[p] = true
		}
		delete(persons, dataset.Nobody)
		for _, count := range []int{1, 2, 7} {
			if got := storePersons(t, tab, count, 0).Table().Persons().Count(); got != len(persons) {
				t.Errorf("%d rows in %d blocks: %d persons, want %d", rows, count, got, len(persons))
			}
		}
	}
}

// The header of a block is read up to the longest and refused beyond.
func TestHeadersReachTheirBound(t *testing.T) {
	s := &schema.Schema{}
	text, err := json.Marshal(header{Schema: "id"})
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{len(text) - 1: false, len(text): true, len(text) + 1: true, maxHeader - 1: true,
		maxHeader: true, maxHeader + 1: false} {
		head := append(binary.LittleEndian.AppendUint32([]byte(magic), uint32(n)), bytes.Repeat([]byte(" "), n)...)
		copy(head[len(magic)+4:], text)
		p, err := parseHeader(head, int64(len(head)), s, "id")
		if (err == nil) != want {
			t.Errorf("a header of %d bytes: %v", n, err)
		}
		if sum := sha256.Sum256(head[len(magic)+4:]); err == nil && (p.id != ID(sum[:16]) || p.body != int64(len(head))) {
			t.Errorf("a header of %d bytes has another end or name", n)
		}
	}
	for n := range len(magic) + 4 {
		if _, err := parseHeader(append([]byte(magic), 0, 0, 0, 0)[:n], 100, s, "id"); err == nil {
			t.Errorf("%d bytes are a header", n)
		}
	}
}
